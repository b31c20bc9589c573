"""A training that was told how much to hold out, and what tests its model later: the same pairs are held out."""

import json
import re

import pytest
from typer.testing import CliRunner

from regard.cli import app
from regard.cli.compare import _recorded
from regard.compare.arms import read_arms
from regard.data.corpus import Corpus
from regard.data.held_out import FILE, HeldOut

SMALL = ["-s", "train.tokens=1999", "-s", "train.validate_steps=0", "-s", "train.tensorboard=false",
         "-s", "train.precision=fp32", "-s", "encode.hidden=14", "-s", "predict.hidden=11", "-s", "embed.width=5",
         "-s", "predict.embed.width=5"]  # fmt: skip


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("held")
    (folder / "pairs.csv").write_text("source,target\n" + "".join(f"{n} a b,b a {n}\n" for n in range(401)))
    return folder


@pytest.fixture(scope="module")
def trained(home):
    return call(
        *("train", "rnnsearch-characters", "--data", home / "pairs.csv", "--out", home / "run", "--steps", 20),
        *("--validation", "5%", "--test", 31, *SMALL),
    )


def test_it_is_said_and_kept(home, trained):
    assert trained.exit_code == 0, trained.output
    assert "(0.05 of all for val, about 31 pairs for test)" in trained.stderr
    assert "pairs.csv: 2 columns parted by commas, without quoting, named by the first line" in trained.stderr
    assert json.loads((home / "run" / "best" / FILE).read_text()) == {"validation": 0.05, "test": 31}


def test_the_end_counts_all_epochs(trained):
    told = re.search(
        r"stopped by steps after 20 updates; 20 batches, ([\d,]+) pairs, .* \((\d\.\d) epochs\)", trained.stderr
    )
    pairs = int(told[1].replace(",", ""))
    train = int(re.search(r"source -> target: train (\d+)", trained.stderr)[1])
    assert pairs > train
    assert float(told[2]) == pytest.approx(pairs / train, abs=0.06)


def test_the_model_is_tested_on_what_its_training_held_out(home, trained):
    words = ("evaluate", home / "run", "--data", home / "pairs.csv", "--beam", 1)
    held = len(Corpus.open(home / "pairs.csv", held_out=HeldOut(0.05, 31)).split("test"))
    usual = len(Corpus.open(home / "pairs.csv").split("test"))
    assert held != usual
    assert f"{held} pairs" in call(*words).stdout
    other = len(Corpus.open(home / "pairs.csv", held_out=HeldOut(test=0.01)).split("test"))
    assert f"{other} pairs" in call(*words, "--test", 0.01).stdout
    assert "1,000 pairs" in call("evaluate", home / "run", "--data", "copy", "--beam", 1).stdout  # it has its own


def test_a_comparison_tests_all_on_what_a_finished_model_never_saw(home, trained):
    (arm,) = read_arms([str(home / "run")])
    held_out = _recorded([arm])
    assert (held_out.validation, held_out.test) == (0.05, 31)
    assert held_out.fitting(Corpus.open(home / "pairs.csv", held_out=held_out).cut) == (0.05, 31)
    assert held_out.fitting(Corpus.open("copy", held_out=held_out).cut) == (None, None)
    assert HeldOut(0, 7).fitting({"test": 7}) == (0, 7)
    assert not _recorded(read_arms(["rnnsearch"]))


def test_data_check_shows_it_before(home):
    done = call("data", "check", home / "pairs.csv", "--validation", "5%", "--test", 31, "--json")
    held = len(Corpus.open(home / "pairs.csv", held_out=HeldOut(0.05, 31)).split("test"))
    assert json.loads(done.stdout)["pairs"]["test"] == held


def test_an_export_keeps_it(home, trained):
    done = call("export", home / "run", "--to", "torch", "--out", home / "out", "--data", home / "pairs.csv")
    assert done.exit_code == 0, done.output
    assert (home / "out" / FILE).is_file()


def test_asked_wrongly(home):
    done = call("data", "check", home / "pairs.csv", "--validation", "some")
    assert "expected a number of pairs, or a share of them; found 'some'" in str(done.exception)
