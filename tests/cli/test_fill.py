"""`regard fill`, and `regard show` of a model that fills: one text, lines, JSON, and what it refuses."""

import json

import pytest
from typer.testing import CliRunner

from regard.cli import app
from regard.errors import UsageError
from regard.tasks.job import TrainJob

SETTINGS = (
    *("embed.width=16", "encode.layers=2", "encode.feed=23", "encode.attend.heads=2", "task.examples.length=29"),
    *("train.tokens=512", "train.precision=fp32", "train.tensorboard=false", "train.schedule=constant"),
)
TEXT = "she looked for a [MASK] pear ."

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("fill") / "run"
    TrainJob("bert", "stories", out, steps=3, size=200, settings=(*SETTINGS, "train.validate_steps=3")).train()
    return out


def asked(*words, given=None):
    done = CliRunner().invoke(app, [*map(str, words)], input=given, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_one_text_from_the_command_line(run):
    (line,) = asked("fill", run, TEXT, "--top", 3).splitlines()
    filled, hole = line.split("\t")
    pieces = [each.rpartition(":") for each in hole.split(" ")]
    assert len(pieces) == 3
    assert filled == TEXT.replace("[MASK]", pieces[0][0])
    assert 1 >= float(pieces[0][2]) >= float(pieces[1][2]) > 0


def test_lines_as_a_filter(run, tmp_path):
    lines = [TEXT, "[MASK] paid two [MASK] .", "she ate the pear ."]
    found = asked("fill", run, given="".join(f"{line}\n" for line in lines)).splitlines()
    assert [line.count("\t") for line in found] == [1, 2, 0]
    assert found[2] == lines[2]
    path = tmp_path / "in.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert asked("fill", run, path).splitlines() == found


def test_json_has_everything(run):
    (line,) = asked("fill", run, "[MASK] paid two [MASK] .", "--format", "jsonl").splitlines()
    found = json.loads(line)
    assert found["words"] == ["[CLS]", "[MASK]", "paid", "two", "[MASK]", ".", "[SEP]"]
    assert [hole["word"] for hole in found["holes"]] == [1, 4]
    for hole in found["holes"]:
        assert len(hole["pieces"]) == 5 and len(hole["weights"]) == 7
        assert sum(hole["weights"]) == pytest.approx(1, abs=1e-4)
    assert len(found["looked_at"]) == len(found["attention"][0][0]) == len(found["attention"][0][0][0])


def test_show_draws_every_hole(run, tmp_path):
    told = asked("show", run, "[MASK] paid two [MASK] .")
    assert "Hole 1 of 2" in told and "Hole 2 of 2" in told
    asked("show", run, TEXT, "--right", "ripe", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "ripe" in page and "Every layer and head" in page and '"row":5' in page
    assert "layer 1, head 1" in asked("show", run, TEXT, "--layer", "1", "--head", "1")
    assert "how sharply each head looks" in asked("show", run, TEXT, "--view", "heads")
    for name, view in (("a.png", "text"), ("b.svg", "heads"), ("c.csv", "matrix")):
        asked("show", run, TEXT, "--view", view, "--out", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    with pytest.raises(UsageError, match=r"--layer: .* asked for 9"):
        asked("show", run, TEXT, "--layer", "9")
    with pytest.raises(UsageError, match=r"expected \[MASK\]"):
        asked("show", run, "no hole .")


def test_another_verb_is_told_which_is_right(run):
    with pytest.raises(UsageError, match="made to fill") as error:
        asked("classify", run, given="a\n")
    assert "regard fill" in error.value.hint
    with pytest.raises(UsageError, match="for each of 1 holes; found 2"):
        asked("show", run, TEXT, "--right", "a b")
