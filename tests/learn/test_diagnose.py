"""Numbers that are not finite: the error names the part that made them, or sent them back."""

import math

import pytest
import torch

from regard import masks
from regard.attend.score import Dot
from regard.errors import TrainingError
from regard.learn.diagnose import origin
from regard.learn.learner import Learner
from regard.learn.loss import sequence_loss
from regard.learn.settings import TrainSettings
from small import batch, model, overrides

TRANSFORMER = overrides("encode", "transformer", predict="transformer")


def failure(settings, **lessons):
    """What the first update says of a model that cannot be trained."""
    learner = Learner(model(settings), TrainSettings(**lessons), iter([batch()] * 2))
    with pytest.raises(TrainingError) as error:
        learner.update()
    return error.value


def drawn(place):
    """Gates that are wide open or shut, as in use: relaxed ones are never quite shut."""
    return [f"{place}.choice.straight_through=true"]


def divided(weights):
    """What `masks.normalise` must not be: its gradient is infinite for a row of zeros, and that times 0 is a NaN."""
    return weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        (
            [*TRANSFORMER, "predict.self_attend.attend.choice=gated", *drawn("predict.self_attend.attend")],
            "predict.layers.1.self_attend.attend.choice",
        ),
        (["attend.scope=causal", "attend.choice=gated", *drawn("attend")], "predict.attend.choice"),
    ],
)
def test_what_is_sent_back_is_traced_to_its_part(settings, place, monkeypatch):
    monkeypatch.setattr(masks, "normalise", divided)
    error = failure(settings)
    assert f"update 1: the gradient (nan) is not a finite number. The first such number was sent back by {place} " in (
        error.message
    )
    assert "(the choice 'gated')" in error.message
    assert "another part" in error.hint


def test_what_is_made_is_traced_to_its_part(monkeypatch):
    monkeypatch.setattr(Dot, "forward", lambda self, query, keys: (query @ keys.mT).sub(9).log())
    assert "was made by predict.attend.score (the score 'dot')." in failure(["attend.score=dot"]).message


def test_a_layer_inside_of_a_part_is_named_with_the_part():
    built = model(["attend.score=dot"])
    built.predict.join.forward = lambda rows: (rows[:, :8] - rows[:, :8]).sqrt()  # of 0, which is infinitely steep
    found = origin(built, lambda: sequence_loss(built, batch()).total)
    assert found == "The first such number was sent back by predict.join (in the predict 'luong')."


def test_infinities_that_are_asked_for_are_no_fault(monkeypatch):
    """A mask of minus infinity is put in on purpose, and a softmax makes zeros of it: the fault comes later."""

    def masked(self, query, keys):
        scores = query @ keys.mT
        return torch.softmax(scores.masked_fill(scores > scores.mean(), -math.inf), -1)

    monkeypatch.setattr(Dot, "forward", masked)
    built = model(["attend.score=dot"])
    built.predict.join.forward = lambda rows: rows[:, :8].sub(9).log()
    found = origin(built, lambda: sequence_loss(built, batch()).total)
    assert found == "The first such number was made by predict.join (in the predict 'luong')."


class Steep(torch.autograd.Function):
    """A function whose gradient is no number."""

    @staticmethod
    def forward(context, query, keys):
        context.shapes = query.shape, keys.shape
        return query @ keys.mT

    @staticmethod
    def backward(context, upstream):
        return tuple(torch.full(shape, math.nan) for shape in context.shapes)


def test_what_a_function_of_ones_own_sends_back_is_not_laid_on_who_gets_it(monkeypatch):
    monkeypatch.setattr(Dot, "forward", lambda self, query, keys: Steep.apply(query, keys))
    assert "sent back by predict.attend (the attend 'attention')." in failure(["attend.score=dot"]).message


class Log(torch.nn.Module):
    def forward(self, rows):
        return rows.log()


def test_of_two_parts_that_fail_the_first_is_named():
    both = torch.nn.ModuleDict({"one": Log(), "other": Log()})
    rows = -torch.ones(3, requires_grad=True)
    assert origin(both, lambda: (both["one"](rows) + both["other"](rows)).sum()).endswith("made by one.")


def test_weights_that_are_not_finite_are_told_as_such():
    built = model()
    built.predict.join.weight.data[3, 2] = math.nan
    with pytest.raises(TrainingError, match="The weights predict.join.weight are not finite"):
        Learner(built, TrainSettings(), iter([batch()])).update()


def test_a_loss_that_is_not_finite_is_told_though_its_gradient_is(monkeypatch):
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: torch.tensor(1.0))
    monkeypatch.setattr(Dot, "forward", lambda self, query, keys: (query @ keys.mT).sub(9).log())
    assert "update 1: the loss is not a finite number" in failure(["attend.score=dot"]).message


def test_nothing_is_found_where_all_is_well():
    built = model()
    assert origin(built, lambda: sequence_loss(built, batch()).total) is None


def test_the_same_draws_are_made_again(monkeypatch):
    """A gate that closes by chance closes again: the update that failed is the one that is looked at."""
    monkeypatch.setattr(masks, "normalise", divided)
    for seed in range(7):
        torch.manual_seed(seed)
        built = model(["attend.choice=gated", *drawn("attend")])
        learner = Learner(built, TrainSettings(), iter([batch((3, 2, 1), (4, 2, 3))] * 20))
        with pytest.raises(TrainingError, match="sent back by predict.attend.choice"):
            while learner.update():
                pass
