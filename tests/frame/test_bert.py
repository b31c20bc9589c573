"""A BERT in the frame: examples made of many rows, pieces hidden before anything is counted, no target column."""

import os
import signal
from itertools import islice

import pytest
import torch

from frame.bert import HIDDEN, SEEN, register, setup
from learn.group import ended, start, together, train_setup
from learn.test_processes import assert_close, assert_same
from regard import registry
from regard.data.tokenizer import END
from regard.learn.events import Step
from regard.learn.folder import RunFolder
from regard.learn.learner import Learner
from regard.learn.run import Budget
from regard.learn.train import run

STEPS = 9


@pytest.fixture(autouse=True)
def _own_parts(monkeypatch):
    registry.load()
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})
    register()


def same(one, two):
    return (
        one.rows == two.rows
        and one.weights == two.weights
        and all(torch.equal(getattr(one, side).data, getattr(two, side).data) for side in ("source", "target"))
        and torch.equal(one.source.segments, two.source.segments)
        and torch.equal(one.extra["next"], two.extra["next"])
    )


def by_row(batches):
    """What is asked of each row."""
    return {
        row: [piece for piece in batch.target.data[place].tolist() if piece != SEEN]
        for batch in batches
        for place, row in enumerate(batch.rows)
    }


def test_what_is_hidden_is_asked_for_and_counted():
    made = setup()
    assert made.model.specs[1] == made.parts.source.spec(), "it predicts what the source is made of"
    for batch in made.batches:
        hidden = batch.source.data == HIDDEN
        assert torch.equal(hidden, batch.target.data != SEEN)
        assert batch.weights == tuple(hidden.sum(1).tolist())
        assert batch.count == hidden.sum()
        assert min(batch.weights) > 0
        assert (batch.source.data == END).sum(1).eq(2).all()
        assert batch.source.mask.sum(1).tolist() == [
            len(row[row >= 0]) for row in batch.source.segments.where(batch.source.mask, -1)
        ]
    total = sum(batch.source.mask.sum() - 2 * len(batch) for batch in setup(["task.goal.hide=0.5"]).batches)
    share = sum(batch.count for batch in setup(["task.goal.hide=0.5"]).batches) / total
    assert 0.5 < share < 0.6


def test_masks_are_drawn_by_epoch_and_row():
    first, again = setup().batches, setup().batches
    one, two = by_row(first), by_row(first)
    assert len(one) == 96 and one.keys() == two.keys()
    assert one != two, "the next epoch has others"
    assert by_row(again) == one
    assert by_row(setup(seed=6).batches) != one


def test_a_validation_asks_the_same_every_time():
    made = setup()
    validator = made.validator
    one, two = validator(made.model.eval()), validator(made.model)
    assert one.values == two.values
    assert set(one.values) == {"nll"}


def test_in_the_middle_of_an_epoch_it_goes_on_with_the_same_masks():
    whole, stopped, resumed = setup(["train.tokens=97"]), setup(["train.tokens=97"]), setup(["train.tokens=97"])
    wanted = list(islice(whole.batches.forever(), 41))
    assert whole.batches.epoch > 0
    list(islice(stopped.batches.forever(), 17))
    resumed.batches.restore(stopped.batches.state())
    found = list(islice(resumed.batches.forever(), 41 - 17))
    assert all(same(*pair) for pair in zip(wanted[17:], found, strict=True))


@pytest.mark.parametrize("count", [2, 3])
def test_shares_are_what_their_examples_make(count):
    made = setup()
    batch = next(iter(made.batches))
    examples = made.batches._open()[made.batches._place - 1]
    for place in range(count):
        assert same(batch.share(place, count), made.parts.goal.collate(examples[place::count]))


@pytest.mark.usefixtures("unchecked")
def test_it_learns(tmp_path):
    made = setup(["train.save_steps=0"])
    began = made.validator(made.model.eval()).values["nll"]
    outcome = run(
        made.model, made.batches, made.settings, RunFolder(tmp_path / "run"), budget=Budget(steps=120), aims=made.aims
    )
    assert outcome.metric == "nll"
    assert outcome.best < 0.8 * began


def test_the_loss_counts_hidden_pieces():
    made = setup()
    learner = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    wanted = next(setup().batches.forever()).count
    assert learner.update().count == wanted


def whole(folder, resume=False, kill=None):
    """A run, in a process of its own."""

    def tell(event):
        if isinstance(event, Step) and event.number == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    register()
    train_setup(folder, setup(), steps=STEPS, resume=resume, tell=tell)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert") / "run"
    assert together(1, whole, str(folder)) == [0]
    return folder


def test_killed_and_resumed_it_is_the_same(alone, tmp_path):
    assert ended(start(1, whole, str(tmp_path / "run"), kill=6)) == [-signal.SIGKILL]
    assert together(1, whole, str(tmp_path / "run"), resume=True) == [0]
    assert_same(tmp_path / "run", alone)


def test_two_processes_make_the_weights_of_one(alone, tmp_path):
    assert together(2, whole, str(tmp_path / "run")) == [0, 0]
    assert_close(tmp_path / "run", alone, tolerance=1e-5)
