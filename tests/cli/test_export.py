"""export, then translate, align and evaluate with what was exported, as a person would type them."""

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")

from exports import LINES, OTHERS, saved
from regard.align.record import Aligner
from regard.cli import app
from regard.errors import ModelError, UsageError


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


def rows(done):
    """The lines of an output; a random model writes characters that are line ends too, but for splitlines alone."""
    return done.stdout.removesuffix("\n").split("\n")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A run folder, its export in full precision, and some sentences."""
    home = tmp_path_factory.mktemp("home")
    saved(home / "run" / "best", ["predict.embed.position=sinusoid"], Aligner("cross", 1, (3,)))
    (home / "source.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (home / "target.txt").write_text("\n".join(OTHERS) + "\n", encoding="utf-8")
    done = call(
        *("export", home / "run", "--to", "ctranslate2", "--out", home / "out"),
        *("--quantization", "float32", "--sample", home / "source.txt"),
    )
    assert done.exit_code == 0, done.output
    assert "100.0% of 4 outputs and 100.0% of links as the model's" in done.stdout
    assert "float32: 100.0% of 4 greedy outputs equal" in done.stderr
    return home


@pytest.mark.parametrize(
    "options",
    [
        ("--alignments", "hard"),
        ("--format", "jsonl", "--alignments", "soft"),
        ("--max-length", 3, "--alpha", 0, "--format", "jsonl"),
    ],
)
def test_the_same_output_with_either_engine(home, options):
    text = "\n".join((LINES[0], "", LINES[2], "日本")) + "\n"
    asked = ("--beam", 1, *options)
    ours = call("translate", home / "run", "--engine", "torch", *asked, text=text)
    theirs = call("translate", home / "out", "--threads", 2, *asked, text=text)
    assert theirs.exit_code == 0, theirs.output
    assert len(rows(theirs)) == 4
    for one, two in zip(rows(ours), rows(theirs), strict=True):
        if "jsonl" not in options:
            assert one == two
            continue
        one, two = json.loads(one), json.loads(two)
        assert {key: one[key] for key in one if key in ("text", "source", "target", "links", "note")} == {
            key: two[key] for key in two if key in ("text", "source", "target", "links", "note")
        }
        for mine, other in zip(one.get("matrix", []), two.get("matrix", []), strict=True):
            assert mine == pytest.approx(other, abs=2e-4)


def test_several_outputs(home):
    done = call("translate", home / "out", "--engine", "ctranslate2", "--nbest", 3, "--format", "jsonl", text=LINES[0])
    found = [json.loads(line) for line in rows(done)]
    assert [each["line"] for each in found] == [1] * len(found)
    assert [each["score"] for each in found] == sorted((each["score"] for each in found), reverse=True)


def test_given_pairs_are_aligned_alike(home):
    ours, theirs = (
        call("align", home / name, home / "source.txt", home / "target.txt", "--threshold", 0.2)
        for name in ("run", "out")
    )
    assert theirs.exit_code == 0, theirs.output
    assert ours.stdout == theirs.stdout
    assert "read from layer 2, head 4 of 2 x 4" in theirs.stderr


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("translate", "run", "--engine", "ctranslate2"), UsageError, "Export it first"),
        (("translate", "out", "--engine", "torch"), UsageError, "Give the model folder"),
        (("export", "run", "--to", "ctranslate2", "--out", "run"), UsageError, "holds the model"),
        (("export", "none", "--to", "ctranslate2", "--out", "x"), ModelError, "is no model folder"),
        (("export", "run", "--to", "ctranslate2", "--out", "x", "--shortlist", 3), UsageError, "Add --data"),
        (("export", "run", "--to", "ctranslate", "--out", "x"), UsageError, "Did you mean 'ctranslate2'?"),
        (
            ("export", "run", "--to", "onnx", "--to", "torch", "--out", "x"),
            UsageError,
            "expected one engine after --to",
        ),
        (
            ("export", "run", "--to", "onnx", "--to", "de", "--to", "en", "--out", "x"),
            UsageError,
            "at most one language",
        ),
        (("export", "run", "--to", "torch", "--to", "en", "--out", "x"), UsageError, "'en' is a language of --data"),
        (("export", "run", "--to", "torch", "--from", "de", "--out", "x"), UsageError, "'de' is a language of --data"),
        (("show", "out", "ja", "--kind", "encoder-self"), UsageError, "encoder-self"),
    ],
)
def test_what_cannot_be_is_said(home, words, error, message):
    done = call(*(home / word if word in ("run", "out", "none", "x") else word for word in words), text="ja\n")
    assert isinstance(done.exception, error)
    assert message in str(done.exception)
    assert not (home / "x").exists()


def test_a_shortlist_is_learnt_and_its_effect_told(home, tmp_path):
    for split in ("train", "val", "test"):
        for language, lines in (("de", LINES), ("en", OTHERS)):
            (tmp_path / f"{split}.{language}").write_text("\n".join(lines * 2) + "\n", encoding="utf-8")
    done = call(
        *("export", home / "run", "--to", "ctranslate2", "--out", tmp_path / "short", "--shortlist", 2),
        *("--data", tmp_path, "--source", "de", "--target", "en"),
    )
    assert done.exit_code == 0, done.output
    assert "shortlist of 2: " in done.stderr
    always, *others = (tmp_path / "short" / "vmap.txt").read_text(encoding="utf-8").splitlines()
    assert always.startswith("\t</s> ")
    assert all(1 <= len(line.split("\t")[1].split(" ")) <= 2 for line in others)
    assert len(rows(call("translate", tmp_path / "short", text=LINES[0]))) == 1
