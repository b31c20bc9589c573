"""Trainings of classifiers and taggers: stopped at any moment they go on as if they never were, and many are one."""

import pytest
import torch
from safetensors.torch import load_file

from learn.group import together, train_setup
from learn.test_processes import assert_close, assert_same
from regard.errors import UsageError
from regard.learn.events import Step
from regard.tasks.job import TrainJob
from tasks.labelled import KINDS, STILL, settings, setup

STEPS = 7


class KilledError(Exception):
    """Nobody expects it."""


def trained(folder, kind, *more, kill=None, steps=STEPS, resume=False):
    def tell(event):
        if isinstance(event, Step) and event.number == kill:
            raise KilledError

    chosen = settings(kind, *more)
    job = TrainJob("classify", KINDS[kind][0], folder, steps=steps, size=211, settings=chosen, resume=resume)
    return job.train(tell)


@pytest.mark.usefixtures("unchecked")  # the checks draw random numbers
@pytest.mark.parametrize("kind", KINDS)
def test_killed_after_a_save_it_goes_on_to_the_same_weights(kind, tmp_path):
    whole = trained(tmp_path / "whole", kind)
    with pytest.raises(KilledError):
        trained(tmp_path / "run", kind, kill=5)
    again = trained(tmp_path / "run", kind, resume=True)
    assert_same(tmp_path / "run", tmp_path / "whole")
    for name in ("last", "best"):
        ours, theirs = (load_file(tmp_path / run / name / "weights.safetensors") for run in ("run", "whole"))
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
        for file in ("source.tokenizer.json", "target.classes.json", "recipe.toml"):
            one, two = (tmp_path / run / name / file for run in ("run", "whole"))
            assert one.read_text() == two.read_text()
    for one, two in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, two)


def test_what_the_goal_says_must_be_the_same(tmp_path):
    trained(tmp_path / "run", "classify", steps=2)
    with pytest.raises(UsageError, match=r"task\.goal\.smoothing: was 0\.1, is 0\.2"):
        trained(tmp_path / "run", "classify", "task.goal.smoothing=0.2", resume=True)
    trained(tmp_path / "run", "classify", 'task.metrics=["macro_f1"]', steps=3, resume=True)


def whole(folder, kind):
    """In a process of its own."""
    train_setup(folder, setup(kind, *STILL), steps=5)


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_make_the_weights_of_one(kind, tmp_path):
    for count in (1, 2):
        assert together(count, whole, str(tmp_path / f"run-{count}"), kind) == [0] * count
    assert_close(tmp_path / "run-2", tmp_path / "run-1", tolerance=1e-5)
