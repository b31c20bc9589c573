"""Exported folders: checked before they are there, refused where they cannot be, and used without Regard too."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from torch import nn

pytest.importorskip("onnxruntime", reason="onnxruntime is one of the dev dependencies")
pytest.importorskip("onnxscript", reason="onnxscript is one of the dev dependencies")

import onnx
from typer.testing import CliRunner

from exports import LINES, OTHERS
from onnx_exports import KINDS, SAMPLE, exported, saved
from regard.cli import app
from regard.engine import MANIFEST
from regard.engine.onnx import Manifest
from regard.errors import ModelError, UnknownName, UsageError
from regard.export.agreement import Agreement
from regard.export.onnx import export, operators
from regard.export.request import Wish
from regard.search import Options
from regard.translate.translator import Translator

DOCS = Path(__file__).parents[3] / "docs" / "export.md"


@pytest.mark.parametrize("decoder", KINDS)
def test_it_has_checked_itself(decoder, tmp_path_factory):
    told = json.loads((exported(decoder, tmp_path_factory).folder / MANIFEST).read_text())
    assert (told["engine"], told["format"], told["quantization"]) == ("onnx", 1, "float32")
    found = Agreement(**told["agreement"])
    assert found.exact
    assert found.sentences == len(LINES)
    assert found.weights < 1e-4


# --- what is refused ---------------------------------------------------------------------------------------


def test_what_was_asked_wrongly(tmp_path, tmp_path_factory):
    made = exported("plain", tmp_path_factory)
    with pytest.raises(UnknownName, match="quantization for ONNX"):
        export(made.home, tmp_path / "out", Wish("int16"))
    with pytest.raises(UsageError, match="is itself an export"):
        export(made.folder, tmp_path / "out", SAMPLE)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(UsageError, match="no export of ours"):
        export(made.home, tmp_path / "mine", SAMPLE)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("package", ["onnxscript", "onnx"])
def test_a_package_that_is_not_there_is_named(tmp_path, monkeypatch, package):
    saved(tmp_path / "model", "plain")
    for module in ("graphs", "trace"):  # as if nothing had imported them, and what they import, before
        monkeypatch.delitem(sys.modules, f"regard.export.onnx.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelError, match=rf"needs the package {package}\.(.|\n)*pip install 'regard\[export\]'"):
        export(tmp_path / "model", tmp_path / "out", SAMPLE)


def test_a_graph_that_changed_the_model_leaves_nothing(tmp_path, monkeypatch):
    """The gates of a recurrent unit in PyTorch's order, where ONNX expects its own."""
    saved(tmp_path / "model", "plain")
    monkeypatch.setitem(operators.ORDERS, nn.LSTM, ("LSTM", (0, 1, 2, 3)))
    with pytest.raises(ModelError, match="not the same model, so nothing was written"):
        export(tmp_path / "model", tmp_path / "out", SAMPLE)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


# --- in use ------------------------------------------------------------------------------------------------


def test_the_loop_in_the_docs_runs(tmp_path_factory):
    """Without Regard and without PyTorch: the code of docs/export.md as it stands, on a folder of ours."""
    made = exported("google", tmp_path_factory)
    code = next(block for block in DOCS.read_text(encoding="utf-8").split("```python\n")[1:] if "onnxruntime" in block)
    code = code.split("```")[0]
    assert "regard" not in code.replace("exports/", "")
    assert "torch" not in code
    ours, lines = Translator.load(made.home), [*LINES, *OTHERS]
    outputs = [best[0] for best in ours.search(lines, Options(beam=1))]
    # The longest that ended by itself: which one that is depends on how the tokenizers cut, and they draw lots at ties.
    line, found = max(
        (pair for pair in zip(lines, outputs, strict=True) if len(pair[1].pieces) < 15),
        key=lambda pair: len(pair[1].pieces),
    )
    assert found.pieces
    code = code.replace('"exports/de-en"', repr(str(made.folder))).replace('"Ein Mann liest ein Buch."', repr(line))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    ids = found.record.target.ids
    text, *rows = done.stdout.decode().rstrip("\n").rsplit("\n", len(ids))  # a text may hold the end of a line
    assert text == ours.target.backend.decode(list(ids))
    assert [int(row) for row in rows] == found.attention[-1].mean(0).argmax(-1).tolist()


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


def test_in_eight_bits_from_the_command_line(tmp_path):
    saved(tmp_path / "model", "luong")
    (tmp_path / "some.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    done = call(
        *("export", tmp_path / "model", "--to", "onnx", "--out", tmp_path / "out"),
        *("--quantization", "int8", "--sample", tmp_path / "some.txt"),
    )
    assert done.exit_code == 0, done.output
    assert "float32: 100.0% of 4 greedy outputs equal" in done.stderr
    assert "int8: " in done.stderr
    assert Manifest.read(tmp_path / "out").quantization == "int8"
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".onnx", ".json", ".toml"}
    used = {node.op_type for node in onnx.load(tmp_path / "out" / "step.onnx").graph.node}
    assert "MatMulInteger" in used
    done = call("translate", tmp_path / "out", "--beam", 2, "--nbest", 2, "--alignments", "hard", text=LINES[0] + "\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1\t")
    assert done.stdout.count("\n1\t") == 1


def test_forcing_and_aligning(tmp_path_factory):
    made = exported("transformer", tmp_path_factory)
    ours, theirs = Translator.load(made.home), Translator.load(made.folder)
    assert theirs.score(LINES, OTHERS) == pytest.approx(ours.score(LINES, OTHERS), abs=1e-3)
    one, two = (each.align(LINES[0], OTHERS[0]) for each in (ours, theirs))
    assert two.links() == one.links()
    assert two.note == one.note
