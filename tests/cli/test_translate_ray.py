"""`regard translate --engine ray`, as a person would type it: the same output as without it."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from itertools import chain

import pytest
from typer.testing import CliRunner

from exports import KINDS, LINES, saved
from regard.cli import app
from regard.errors import RegardError, UsageError

TIME = 180  # seconds; a hang fails


def call(*words, text=None):
    """The command within this process, which need not load everything again."""
    return CliRunner().invoke(app, ["translate", *map(str, words)], input=text)


@pytest.fixture(autouse=True)
def _one_thread(one_thread):
    """Also where a command asks for all."""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """One with positions: without, a word that stands twice has two equal weights, and rounding chooses the link."""
    return saved(tmp_path_factory.mktemp("models") / "small", KINDS["sinusoids, scaled"], seed=6)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """200 lines, some empty, one of white space, one too long."""
    draw, words = random.Random(11), " ".join(LINES).split()
    lines = ["" if place % 17 == 0 else " ".join(draw.choices(words, k=draw.randrange(1, 13))) for place in range(200)]
    lines[5], lines[7] = "  ", " ".join(["kind"] * 1009)
    path = tmp_path_factory.mktemp("texts") / "in.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_text_is_that_of_the_plain_command(model, text, ray_address):
    options = ("--beam", 2, "--max-length", 23, "--alignments", "hard")
    ray = ("--engine", "ray", "--workers", 2, "--address", ray_address)
    plain, spread = call(model, text, *options), call(model, text, *options, *ray)
    assert (plain.exit_code, spread.exit_code) == (0, 0), spread.output
    assert len(plain.stdout.splitlines()) == 200
    assert spread.stdout == plain.stdout
    said = [line for line in spread.stderr.splitlines() if "Still waiting" not in line]  # as a busy machine lets it
    assert said == plain.stderr.splitlines() == ["line 8 has 1,009 pieces; only the first 1,000 are translated."]


def test_json_of_several_outputs_from_standard_input(model, text, ray_address):
    options = ("--nbest", 2, "--max-length", 23, "--format", "jsonl", "--alignments", "soft")
    given = "".join(text.read_text(encoding="utf-8").splitlines(keepends=True)[10:41])
    ray = ("--engine", "ray", "--workers", 1, "--address", ray_address)
    plain, spread = (call(model, *options, *more, text=given) for more in ((), ray))
    assert spread.exit_code == 0, spread.output
    ours, theirs = ([json.loads(line) for line in done.stdout.splitlines()] for done in (spread, plain))
    assert len(ours) == len(theirs) > 31
    for mine, other in zip(ours, theirs, strict=True):
        for key in ("score", "likelihood"):
            assert mine.pop(key) == pytest.approx(other.pop(key), abs=1e-3)
        matrices = [list(chain(*each.pop("matrix", []))) for each in (mine, other)]
        assert matrices[0] == pytest.approx(matrices[1], abs=1e-3)
        assert mine == other


def test_an_interrupt_ends_it(model, text, tmp_path):
    """Also a Ray that the command has started itself."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'regard[ray]'")
    (tmp_path / "long.txt").write_bytes(text.read_bytes() * 41)
    command = [sys.executable, "-m", "regard", "translate", model, tmp_path / "long.txt", "--engine", "ray"]
    run = subprocess.Popen(
        [*map(str, command), "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A shell lets what it starts in the background ignore the signal, and this test may be there.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with run:
        assert run.stdout.readline()  # it is at work
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        _, said = run.communicate(timeout=TIME)
    assert run.returncode == 130, said
    assert b"Traceback" not in said


def test_what_cannot_be_is_said(model, tmp_path, ray_address):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
        for words, message in [
            ((model, "--engine", "ray", "--address", nobody), f"no Ray cluster answers at '{nobody}'"),
            ((tmp_path / "none", "--engine", "ray", "--address", ray_address), "is no model folder"),
            ((model, tmp_path / "none.txt", "--engine", "ray", "--address", ray_address), "is not a file"),
        ]:
            done = call(*words, text="kind\n")
            assert (done.exit_code, done.stdout) == (1, ""), done.output
            assert isinstance(done.exception, RegardError) and message in str(done.exception)


def test_options_of_a_cluster_without_one(model):
    for words in (("--workers", 2), ("--address", "auto"), ("--engine", "torch", "--workers", 2)):
        error = call(model, *words, text="kind\n").exception
        assert isinstance(error, UsageError) and "Add --engine ray" in str(error)


def test_parts_of_your_own_go_along(model, tmp_path, ray_address):
    """A model that is made of them is built in the workers too. In a process of its own, which alone knows them."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from regard.attend.score import Dot\nfrom regard.registry import part\n\n\n"
        '@part("score", "mine")\nclass Mine(Dot):\n    """Another name for the product."""\n',
        encoding="utf-8",
    )
    recipe = (model / "recipe.toml").read_text(encoding="utf-8")
    own = shutil.copytree(model, tmp_path / "own")
    (own / "recipe.toml").write_text(recipe.replace('"scaled_dot"', '"mine"'), encoding="utf-8")
    command = [sys.executable, "-m", "regard", "--parts", str(mine), "translate", str(own), "--engine", "ray"]
    command += ["--workers", "1", "--address", ray_address]
    done = subprocess.run(command, input=b"kind\n", capture_output=True, timeout=TIME, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 1
    assert call(own, text="kind\n").exit_code != 0
