"""Half precision: the machine is asked once, in a child process, and may answer by dying."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from regard.data.files import cache_folder
from regard.engine import precision
from regard.errors import TrainingError
from regard.learn import cross_entropy
from regard.learn.learner import Learner
from regard.learn.settings import TrainSettings
from small import DECODERS, batch, model, overrides


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def answer(monkeypatch):
    """What the child says, and how often it was asked."""
    asked = []

    def set_answer(said):
        def ask(command, **options):
            asked.append(command)
            if said is None:
                raise subprocess.CalledProcessError(-4, command)
            return SimpleNamespace(stdout=said)

        monkeypatch.setattr(precision.subprocess, "run", ask)
        return asked

    return set_answer


@pytest.mark.parametrize(
    ("said", "auto"), [("1.8\n", True), ("1.1\n", False), ("0.6\n", False), (None, False), ("what?", False)]
)
def test_auto_takes_bf16_where_it_pays(answer, said, auto):
    asked = answer(said)
    assert precision.use_bf16("auto") is auto
    assert precision.use_bf16("auto") is auto
    assert len(asked) == 1, "the answer is kept"
    known = json.loads((cache_folder() / "bf16.json").read_text())
    assert f"torch {torch.__version__}" in next(iter(known))


def test_another_machine_is_asked_again(answer, monkeypatch):
    asked = answer("2.0")
    precision.bf16_gain()
    monkeypatch.setattr(precision, "_processor", lambda: "another processor")
    precision.bf16_gain()
    assert len(asked) == 2


def test_fp32_asks_nobody_and_bf16_must_work(answer):
    asked = answer("0.5")
    assert precision.use_bf16("fp32") is False
    assert asked == []
    assert precision.use_bf16("bf16") is True, "slower, and still what was asked for"
    (cache_folder() / "bf16.json").unlink()
    answer(None)
    with pytest.raises(TrainingError, match=r"bf16 fail on this machine.*\n  Write precision"):
        precision.use_bf16("bf16")


def test_a_child_that_dies_has_answered(monkeypatch):
    dying = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGILL)"]
    run = subprocess.run
    monkeypatch.setattr(precision.subprocess, "run", lambda command, **options: run(dying, **options))
    assert precision.bf16_gain() == 0.0


def test_the_probe_measures_something(monkeypatch, capsys):
    from regard.engine import probe

    monkeypatch.setattr(probe, "ROUNDS", 1)
    probe.main()
    assert float(capsys.readouterr().out) > 0


def test_products_are_half_and_weights_are_whole(monkeypatch):
    ours, theirs = model().recipe.build(31, 37), model().recipe.build(31, 37)
    theirs.load_state_dict(ours.state_dict())
    seen, apply, pairs = [], cross_entropy._ProductNLL.apply, batch()

    def seeing(rows, table, *rest):
        seen.append((rows.dtype, table.dtype))
        return apply(rows, table, *rest)

    monkeypatch.setattr(cross_entropy._ProductNLL, "apply", seeing)
    half, whole = (
        Learner(ours, TrainSettings(), iter([pairs]), bf16=True),
        Learner(theirs, TrainSettings(), iter([pairs])),
    )
    one, other = half.update(), whole.update()
    assert seen == [(torch.bfloat16, torch.bfloat16), (torch.float32, torch.float32)]
    assert one.nll == pytest.approx(other.nll, rel=0.02)
    assert all(each.dtype == torch.float32 for each in half.state().tensors.values())


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_learns_in_half_precision(decoder):
    built = model(overrides("predict", decoder))
    learner = Learner(built, TrainSettings(rate=0.02), iter([batch()] * 12), bf16=True)
    found = [learner.update().nll for _ in range(12)]
    assert found[-1] < found[0]
