"""`regard show`, and links of two directions, as a person would type them, on a Transformer that hardly learned."""

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from regard.align.record import Aligner
from regard.cli import app

SMALL = ["embed.width=16", "predict.embed.width=16", "encode.feed=13", "predict.feed=13", "encode.layers=3",
         "predict.layers=2", "attend.heads=4", "encode.attend.heads=2", "predict.self_attend.heads=2",
         "train.tokens=512", "train.tensorboard=false", "train.validate_steps=0"]  # fmt: skip
CHOSEN = Aligner("cross", 0, (2,), "AER", 0.25, 17, "gold links of the validation split")
NOTE = "layer 1, head 3 of 2 x 4 (AER 25.0 % on 17 pairs, against gold links of the validation split)"


def call(*words, text=None, **environment):
    return CliRunner().invoke(app, [str(word) for word in words], input=text, env=environment)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs: one whose heads were chosen, one without."""
    home = tmp_path_factory.mktemp("runs")
    settings = [word for setting in SMALL for word in ("-s", setting)]
    for name, seed in (("one", 0), ("two", 1)):
        done = call("train", "transformer", "--data", "copy", "--size", 200, "--out", home / name, "--steps", 3,
                    "--seed", seed, *settings)  # fmt: skip
        assert done.exit_code == 0, done.output
        (home / name / "best" / "alignment.json").unlink(missing_ok=True)
    (home / "one" / "best" / "alignment.json").write_text(json.dumps(CHOSEN.to_json()))
    return home


def flat(text):
    """Without the breaks that a narrow window makes."""
    return re.sub(r"\s+", " ", text)


def test_in_the_terminal(runs):
    done = call("show", runs / "one", "a b c", "--target", "a b c")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("a b c  ->  a b c\n\n     a b c </s>\na    ")
    assert f"read from {NOTE}" in flat(done.stdout)
    assert re.search(r"confidence \d+ % .*coverage \d+ % .*focus out \d+ % .*focus in \d+ %", flat(done.stdout))
    assert done.stdout.endswith("Attention shows where the model looked, not why.\n")
    assert "\x1b" not in done.stdout, "no colours into a pipe"
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_its_own_translation(runs):
    done = call("show", runs / "one", "a b c")
    assert done.exit_code == 0, done.output
    text = call("translate", runs / "one", text="a b c\n").stdout.strip()
    assert flat(done.stdout).startswith(flat(f"a b c -> {text} "))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--layer", 2, "--head", 1), "read from layer 2, head 1 of 2 x 4 (not measured)"),
        (("--layer", 2), "read from layer 2, mean of all heads of 2 x 4 (not measured)"),
        (("--head", 4), "read from layer 1, head 4 of 2 x 4 (not measured)"),
        (("--kind", "encoder-self"), "read from encoder-self attention, layer 3, mean of all heads of 3 x 2"),
        (("--kind", "decoder-self", "--head", 2), "read from decoder-self attention, layer 2, head 2 of 2 x 2"),
        (("--view", "lines"), "a <- "),
        (("--view", "text"), "[word] from 0.15"),
        (("--view", "heads"), "layer 2 1: 0."),
        (("--pieces",), f"read from {NOTE}"),
    ],
)
def test_what_is_asked(runs, words, told):
    done = call("show", runs / "one", "a b c", "--target", "a b c", *words)
    assert done.exit_code == 0, done.output
    assert told in flat(done.stdout)


@pytest.mark.parametrize("name", ["a.html", "a.png", "a.svg", "a.pdf", "a.json", "a.csv", "a.txt"])
def test_files(runs, tmp_path, name):
    done = call("show", runs / "one", "a b c", "--target", "a b", "--out", tmp_path / name)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert f"written: {tmp_path / name}" in done.stderr
    assert (tmp_path / name).stat().st_size > 0


def test_many_lines_of_standard_input(runs, tmp_path):
    done = call("show", runs / "one", "-", text="a b\n\nc d e\n")
    assert done.stdout.count("Attention shows where") == 2
    assert call("show", runs / "one", "-", "--out", tmp_path / "a.html", text="a b\nc\n").exit_code == 0
    assert (tmp_path / "a.html").read_text().count('"format":"regard-figure-1"') == 2


def test_two_models(runs, tmp_path):
    words = ("show", runs / "one", "a b", "--target", "a b", "--compare", runs / "two")
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert re.findall(r"^(one|two)$", done.stdout, re.M) == ["one", "two"]
    assert NOTE in flat(done.stdout)
    assert "layer 2, mean of all heads of 2 x 4 (not measured)" in flat(done.stdout)
    for name in ("a.html", "a.svg"):
        assert call(*words, "--out", tmp_path / name).exit_code == 0
    assert call(*words, "--out", tmp_path / "a.json").exit_code == 0
    assert list(json.loads((tmp_path / "a.json").read_text())) == ["one", "two"]


def outside(words, text="", **environment):
    command = [sys.executable, "-m", "regard", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, input=text, check=False,
                          env=os.environ | environment, encoding="utf-8")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "text", "told"),
    [
        (("a", "--out", "a.doc"), "", "ends in .html, .png, .svg, .pdf, .json, .csv, .txt"),
        (("a", "--layer", "3"), "", "--layer: one has 2 of cross, counted from 1; asked for 3"),
        (("a", "--head", "5"), "", "--head: one has 4 a layer, counted from 1; asked for 5"),
        (("-",), "\n\n", "expected a sentence; found none"),
        (("-", "--target", "x"), "a\nb\n", "--target goes with one sentence; found 2"),
        (("a", "--samples"), "", "--samples is for language models"),
        (
            ("-", "--out", "x.png"),
            "a\nb\n",
            "a .png file holds one sentence; found 2. Write --out x.html, a page of all",
        ),
        (("a", "--out", "/dev/null/x.png"), "", "/dev/null/x.png cannot be written: Not a directory."),
    ],
)
def test_asked_wrongly(runs, tmp_path, words, text, told):
    done = outside(("show", runs / "one", *words), text)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert told in flat(done.stderr)
    assert "Traceback" not in done.stderr


def on_a_terminal(words, **environment):
    """What a command writes when its standard output is a terminal of 80 columns."""
    pty = pytest.importorskip("pty", reason="a terminal is asked for, which this system has not")
    master, slave = pty.openpty()
    given = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
    command = [sys.executable, "-m", "regard", *map(str, words)]
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.DEVNULL, env=given) as process:
        os.close(slave)
        found = b""
        try:
            while more := os.read(master, 4096):
                found += more
        except OSError:  # the other end is gone: how Linux says that all was read
            pass
    os.close(master)
    return process.returncode, found.decode("utf-8")


def test_colours_on_a_terminal_unless_refused(runs):
    words = ("show", runs / "one", "a b", "--target", "a b", "--layer", 1)
    code, told = on_a_terminal(words)
    assert code == 0
    assert "\x1b[1;34m" in told
    assert "\x1b" not in on_a_terminal(words, NO_COLOR="1")[1]


# --- the chosen heads reach the other commands -----------------------------------------------------------------


def test_translate_says_where_its_links_were_read(runs):
    done = call("translate", runs / "one", "--format", "jsonl", "--alignments", "hard", text="a b\n")
    assert json.loads(done.stdout)["note"] == NOTE


def test_align_reads_the_chosen_heads_and_both_directions(runs, tmp_path):
    (tmp_path / "a").write_text("a b c\nd e\n")
    words = ("align", runs / "one", tmp_path / "a", tmp_path / "a")
    forward = call(*words)
    assert forward.exit_code == 0, forward.output
    assert f"one: read from {NOTE}" in forward.stderr
    back = call("align", runs / "two", tmp_path / "a", tmp_path / "a").stdout
    links = [[{tuple(map(int, link.split("-"))) for link in line.split()} for line in text.splitlines()]
             for text in (forward.stdout, back)]  # fmt: skip
    expected = [ours | {link[::-1] for link in theirs} for ours, theirs in zip(*links, strict=True)]
    union = call(*words, "--reverse", runs / "two", "--method", "union")
    assert [
        {tuple(map(int, link.split("-"))) for link in line.split()} for line in union.stdout.splitlines()
    ] == expected
    assert "two: read from layer 2, mean of all heads" in union.stderr
    assert outside((*words, "--reverse", runs / "two", "--method", "unoin")).returncode == 2
