"""The loss and the loop: what is minimised, and that every shipped system can learn."""

import pytest
import torch
from torch.nn import functional as F

from regard.learn import launch
from regard.learn.loop import fit
from regard.learn.loss import sequence_loss
from regard.recipe import NAMED, resolve
from regard.types import Batch
from small import SOURCE, TARGET, batch, model, overrides, words

TRANSLATORS = [
    name for name in NAMED if resolve(name).task.settings["verb"] == "translate" and not name.endswith("-paper")
]
SMALL = {
    "embed.width": 24, "embed.dropout": 0.0, "encode.hidden": 32, "encode.dropout": 0.0, "encode.feed": 48,
    "encode.attend.heads": 2, "attend.heads": 2, "predict.hidden": 32, "predict.dropout": 0.0,
    "predict.feed": 48, "predict.self_attend.heads": 2,
    "predict.embed.width": 24, "predict.embed.dropout": 0.0, "attend.score.hidden": 16, "predict.readout.hidden": 16,
    "attend.choice.expected": 0.0,
}  # fmt: skip


def shrunk(name):
    """A shipped recipe at a size for tests: every setting of SMALL that the recipe has."""
    known = set(_keys(resolve(name).model))
    return resolve(name, [f"{key}={value}" for key, value in SMALL.items() if key in known])


def _keys(maker, at=""):
    for name, value in maker.settings.items():
        yield f"{at}{name}"
        if hasattr(value, "settings"):
            yield from _keys(value, f"{at}{name}.")


@pytest.mark.parametrize("name", TRANSLATORS)
def test_every_system_learns_a_batch_by_heart(name):
    torch.manual_seed(7)
    recipe = shrunk(name)
    built = recipe.build(TARGET if recipe.model.settings.get("share") else SOURCE, TARGET)
    pairs = Batch(words(SOURCE, (7, 5, 6, 4, 7, 3, 5, 6)), words(TARGET, (6, 3, 5, 4, 6, 5, 4, 5)))
    # A hard choice is drawn anew at every step, so it keeps being surprised a little.
    goal, told = 0.5 if "hard" in name else 0.05, []
    fit(built, (pairs for _ in range(300) if not told or told[-1].nll >= goal), rate=1e-2, tell=told.append)
    assert told[-1].nll < goal, f"it began at {told[0].nll:.2f}"


def test_the_loss_is_the_mean_over_real_pieces():
    built, pairs = model(), batch()
    loss = sequence_loss(built, pairs)
    logits = built.teach(pairs).logits
    total, count = 0.0, 0
    for row, length in enumerate((6, 3, 5)):
        for step in range(length - 1):
            total += F.cross_entropy(logits[row, step], pairs.target.data[row, step + 1]).item()
            count += 1
    assert loss.count == count
    assert loss.nll.item() == pytest.approx(total / count, rel=1e-5)
    assert loss.total.item() == pytest.approx(total / count, rel=1e-5)


def test_padding_does_not_change_the_loss():
    built, pairs = model(), batch()
    longer = Batch(pairs.source, type(pairs.target)(F.pad(pairs.target.data, (0, 3)), F.pad(pairs.target.mask, (0, 3))))
    assert sequence_loss(built, longer).total.item() == pytest.approx(
        sequence_loss(built, pairs).total.item(), rel=1e-5
    )


def test_hard_choices_add_their_terms():
    built = model([*overrides("choice", "hard"), "attend.choice.entropy=10.0"]).train()
    loss = sequence_loss(built, batch())
    assert abs(loss.total.item() - loss.nll.item()) > 0.1
    loss.total.backward()
    assert built.predict.attend.score.vector.grad.any()


@pytest.mark.parametrize(("budget", "steps"), [({"steps": 3}, 3), ({"seconds": 0.0}, 1), ({}, 5)])
def test_the_loop_stops_when_it_is_told(budget, steps):
    built = model()
    assert fit(built, [batch()] * 5, **budget) == steps
    assert not built.training


def test_the_time_that_is_left_ends_at_none():
    told = []
    fit(model(), [batch()] * 5, seconds=1e-9, tell=told.append)
    assert [(step.number, step.left) for step in told] == [(1, 0.0)]
    fit(model(), [batch()], seconds=1e9, tell=told.append)
    assert 1e9 - 600 < told[1].left < 1e9
    fit(model(), [batch()], tell=told.append)
    assert told[2].left is None


@pytest.mark.parametrize(("counted", "cores"), [(7, 7), (None, 1)])
def test_cores_where_a_process_cannot_ask_which_are_its_own(counted, cores, monkeypatch):
    monkeypatch.setattr(launch.sys, "platform", "darwin")
    monkeypatch.setattr(launch.os, "cpu_count", lambda: counted)
    assert launch._cores() == cores
