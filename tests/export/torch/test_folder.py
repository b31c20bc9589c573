"""Folders for our own engine: checked before they are there, small, and used like a model folder."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from exports import LINES, OTHERS
from onnx_exports import KINDS, saved
from regard.cli import app
from regard.engine import MANIFEST, engine_of
from regard.engine.pytorch import Manifest, Torch, eight_bits
from regard.engine.pytorch.folder import SHORTLIST, WEIGHTS, read_shortlist, write_shortlist
from regard.errors import ModelError, UnknownName, UsageError
from regard.export.agreement import Agreement
from regard.export.request import Wish
from regard.export.torch import export
from regard.search import Options
from regard.search.shortlist import Shortlist
from regard.show.watch import watch
from regard.translate.translator import Translator

pytestmark = pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines, reason="this PyTorch has no products in eight bits"
)
WISH = Wish("int8", LINES)


@pytest.fixture(autouse=True)
def all_worth_it(monkeypatch):
    """Small matrices too are multiplied in eight bits."""
    monkeypatch.setattr(eight_bits, "WORTH", 1)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A recurrent model and its export in eight bits."""
    home = tmp_path_factory.mktemp("served")
    saved(home / "model", "bahdanau")
    export(home / "model", home / "out", WISH)
    return home


def copied(home, tmp_path):
    """A copy of the export, to be spoilt."""
    for path in (home / "out").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.parametrize("decoder", KINDS)
def test_every_model_that_writes_can_go(decoder, tmp_path):
    saved(tmp_path / "model", decoder)
    said = []
    found = export(tmp_path / "model", tmp_path / "out", WISH, said.append)
    assert found.converted.outputs == 1.0
    assert found.converted.exact
    assert found.converted.furthest == found.converted.weights == 0.0  # the very same numbers
    assert [line.split(":")[0] for line in said[:2]] == ["float32", "int8"]
    told = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert (told["engine"], told["quantization"], told["shortlist"]) == ("torch", "int8", 0)
    assert Agreement(**told["agreement"]) == found.quantized
    assert found.quantized.furthest > 0
    assert found.size < 0.5 * found.before


def test_the_weights_are_whole_numbers_with_scales(home):
    before, after = load_file(home / "model" / WEIGHTS), load_file(home / "out" / WEIGHTS)
    matrices = [name for name, tensor in before.items() if tensor.dim() == 2 and len(tensor) >= 8]
    assert matrices
    for name in matrices:
        assert after[name].dtype == torch.int8
        scale = after[f"{name}.scale"]
        assert (after[name] * scale.unsqueeze(1) - before[name]).abs().amax(1).le(0.51 * scale + 1e-9).all()
    assert after.keys() - before.keys() == {f"{name}.scale" for name in matrices}


@pytest.mark.parametrize(("quantization", "share"), [("float32", 1.0), ("bfloat16", 0.55)])
def test_in_floating_point(home, tmp_path, quantization, share):
    found = export(home / "model", tmp_path / "out", Wish(quantization, LINES))
    assert found.size <= share * found.before
    assert found.quantized.exact == (quantization == "float32")
    ours, theirs = Translator.load(home / "model"), Translator.load(tmp_path / "out")
    tolerance = 0.0 if quantization == "float32" else 0.5
    assert theirs.score(LINES, OTHERS) == pytest.approx(ours.score(LINES, OTHERS), abs=tolerance)


@pytest.mark.parametrize(("gain", "kind"), [(2.0, torch.bfloat16), (1.0, torch.float32), (0.0, torch.float32)])
def test_half_precision_is_used_where_the_machine_gains_by_it(home, tmp_path, monkeypatch, gain, kind):
    """The record is in full numbers either way, and weights of a row sum to one as far as eight bits can tell."""
    monkeypatch.setattr("regard.engine.pytorch.folder.bf16_gain", lambda: gain)
    export(home / "model", tmp_path / "out", Wish("bfloat16", LINES))
    theirs = Translator.load(tmp_path / "out")
    assert {each.dtype for each in theirs.model.parameters()} == {kind}
    assert (theirs.engine.full is not None) == (kind is torch.bfloat16), "this one is narrow: few rows are left to it"
    monkeypatch.setattr("regard.engine.pytorch.search.WORTH", 1)
    wide = Translator.load(tmp_path / "out")
    assert wide.engine.full is None
    found = wide.translate(LINES[0])
    assert found.attention[0].dtype == torch.float32
    assert found.attention[0].sum(-1).sub(1).abs().max() < 0.01


def test_it_is_used_like_a_model_folder(home):
    theirs = Translator.load(home / "out")
    assert engine_of(home / "out") == "torch"
    assert isinstance(theirs.engine, Torch)
    options = Options(beam=3, nbest=2, no_repeat=3, beta=0.1, prefix=[[280], [], [281, 282], []])
    found = theirs.search(LINES, options)
    assert [len(outputs) for outputs in found] == [2] * len(LINES)
    assert found[2][0].record.target.ids[:2] == (281, 282)
    alignment = theirs.align(LINES[0], OTHERS[0])
    assert alignment.matrix.sum(-1).tolist() == pytest.approx([1.0] * len(alignment.matrix), abs=1e-5)
    assert theirs.look(LINES[0], OTHERS[0]).kinds["cross"] == 1


def test_opened_twice_it_is_the_same(home):
    one, two = (Translator.load(home / "out").search(LINES) for _ in range(2))
    assert [each[0].likelihood for each in one] == [each[0].likelihood for each in two]


# --- the shortlist -----------------------------------------------------------------------------------------


def test_a_shortlist_round_trip(tmp_path):
    shortlist = Shortlist.of([2, 5], {3: [7, 11], 0: [13], 4: []}, 5)
    write_shortlist(shortlist, tmp_path)
    found = read_shortlist(tmp_path)
    assert torch.equal(found.everywhere, shortlist.everywhere)
    assert torch.equal(found.lines, shortlist.lines)


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


def corpus(folder):
    folder.mkdir()
    for split in ("train", "val"):
        for side, lines in (("de", LINES), ("en", OTHERS)):
            (folder / f"{split}.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_in_eight_bits_with_a_shortlist_from_the_command_line(tmp_path):
    saved(tmp_path / "model", "bahdanau")
    done = call(
        *("export", tmp_path / "model", "--to", "torch", "--out", tmp_path / "out", "--shortlist", 3),
        *("--data", corpus(tmp_path / "data"), "--from", "de", "--to", "en"),
    )
    assert done.exit_code == 0, done.output
    assert "shortlist of 3: " in done.stderr
    manifest = Manifest.read(tmp_path / "out")
    assert (manifest.quantization, manifest.shortlist) == ("int8", 3)
    assert manifest.effect["sentences"] == manifest.agreement["sentences"] == len(LINES)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"recipe.toml", WEIGHTS, SHORTLIST, MANIFEST, "source.tokenizer.json", "target.tokenizer.json"}
    theirs = Translator.load(tmp_path / "out")
    shortlist = theirs.engine.shortlist
    for line, found in zip(LINES, theirs.translate(LINES), strict=True):
        ids = [*theirs.source.encode(line).ids, 2]
        allowed = {*shortlist.everywhere.tolist(), *shortlist.lines[ids].flatten().tolist()}
        assert set(found.record.target.ids) <= allowed
    done = call("translate", tmp_path / "out", "--nbest", 2, "--alignments", "hard", text=LINES[0] + "\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1\t")


def test_given_outputs_are_scored_by_the_whole_vocabulary(home, tmp_path):
    folder = copied(home, tmp_path)
    write_shortlist(Shortlist.of([2], {}, 293), folder)
    told = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(told.replace('"shortlist": 0', '"shortlist": 1'))
    theirs = Translator.load(folder)
    assert [each.text for each in theirs.translate(LINES)] == [""] * len(LINES)
    assert theirs.score(LINES, OTHERS) == Translator.load(home / "out").score(LINES, OTHERS)


# --- what is refused ---------------------------------------------------------------------------------------


def test_what_was_asked_wrongly(home, tmp_path):
    with pytest.raises(UnknownName, match="quantization for torch"):
        export(home / "model", tmp_path / "out", Wish("int16"))
    with pytest.raises(UsageError, match="is itself an export"):
        export(home / "out", tmp_path / "out", WISH)
    assert not list(tmp_path.iterdir())


def test_a_round_trip_that_changed_the_model_leaves_nothing(home, tmp_path, monkeypatch):
    from regard.export.torch import folder

    real = folder.write_weights

    def spoilt(home, fresh, quantization):
        real(home, fresh, quantization)
        tensors = load_file(fresh / WEIGHTS)
        tensors["predict.readout.score.bias"] = tensors["predict.readout.score.bias"] + 1 + torch.arange(307.0)
        save_file(tensors, fresh / WEIGHTS, metadata={"source": "293", "target": "307"})

    monkeypatch.setattr(folder, "write_weights", spoilt)
    with pytest.raises(ModelError, match="not the same model, so nothing was written"):
        export(home / "model", tmp_path / "out", WISH)
    assert not list(tmp_path.iterdir())


def test_a_quantization_nobody_knows(home, tmp_path):
    folder = copied(home, tmp_path)
    (folder / MANIFEST).write_text('{"engine": "torch", "quantization": "int1"}')
    with pytest.raises(ModelError, match="expected a quantization of int8, bfloat16, float32; found 'int1'"):
        Translator.load(folder)


@pytest.mark.parametrize("spoil", ["lacking", "unknown", "cut", "absent"])
def test_weights_that_are_not_the_models(home, tmp_path, spoil):
    folder = copied(home, tmp_path)
    tensors = load_file(folder / WEIGHTS)
    if spoil == "lacking":
        del tensors["predict.readout.score.bias"]
    if spoil == "unknown":
        tensors["predict.horn"] = torch.zeros(3)
    save_file(tensors, folder / WEIGHTS, metadata={"source": "293", "target": "307"})
    if spoil == "cut":
        (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:101])
    if spoil == "absent":
        (folder / WEIGHTS).unlink()
    names = {"lacking": "readout.score.bias", "unknown": "predict.horn"}
    with pytest.raises(ModelError, match=f"does not hold the weights(.|\n)*{names.get(spoil, '')}"):
        Translator.load(folder)


def test_a_shortlist_that_is_not_there(home, tmp_path):
    folder = copied(home, tmp_path)
    told = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(told.replace('"shortlist": 0', '"shortlist": 3'))
    with pytest.raises(ModelError, match="is no shortlist"):
        Translator.load(folder)


@pytest.mark.parametrize("quantization", ["bfloat16", "int8"])
def test_searches_side_by_side_find_the_same(home, tmp_path, monkeypatch, one_thread, quantization):
    """A thread each, in order, and the threads of the process as they were; who watches has one search at a time."""
    monkeypatch.setattr("regard.engine.pytorch.folder.bf16_gain", lambda: 2.0)
    export(home / "model", tmp_path / "out", Wish(quantization, LINES))
    alone, beside = Translator.load(tmp_path / "out"), Translator.load(tmp_path / "out")
    assert alone.engine.workers == 1
    torch.set_num_threads(2)
    assert Translator.load(tmp_path / "out").engine.workers == (2 if quantization == "bfloat16" else 1)
    beside.engine._workers = 2
    threads, search = set(), beside.engine.search
    monkeypatch.setattr(
        beside.engine, "search", lambda *given, **more: threads.add(torch.get_num_threads()) or search(*given, **more)
    )
    one, two = (each.search(LINES * 5, tokens=40) for each in (alone, beside))
    assert threads == {1} and torch.get_num_threads() == 2
    assert [best[0].text for best in one] == [best[0].text for best in two]
    with watch(beside.model) as seen:
        beside.search(LINES[:2], tokens=1)
    assert seen.looks
