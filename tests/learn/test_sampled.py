"""Scores of some pieces: who is sure to be scored, how often the others count, and that the sum is right on average."""

import pytest
import torch

from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.learn.loss import sequence_loss
from regard.learn.sampled import draw_pieces
from regard.tasks.goals.write import Write
from small import TARGET, batch, model, overrides

SIZE, ALWAYS = 997, 31


def test_who_is_drawn():
    torch.manual_seed(0)
    wanted = torch.tensor([5, 900, 31, 900])
    pieces, weights, places = draw_pieces(SIZE, ALWAYS, wanted)
    assert torch.equal(pieces[places], wanted), "what is wanted is there"
    assert torch.equal(pieces[:ALWAYS], torch.arange(ALWAYS)), "and what is common"
    assert torch.equal(pieces, pieces.unique())
    sure = torch.isin(pieces, wanted) | (pieces < ALWAYS)
    assert (weights[sure] == 0).all()
    assert torch.allclose(weights[~sure], ((pieces[~sure] + 1) / ALWAYS).log()), "number r counts r / K times"


def test_the_sum_is_right_on_average():
    torch.manual_seed(1)
    powers, wanted = torch.rand(SIZE, dtype=torch.float64), torch.tensor([7, 801])
    sums, counts = [], []
    for _ in range(2000):
        pieces, weights, _ = draw_pieces(SIZE, ALWAYS, wanted)
        sums.append((powers[pieces] * weights.exp()).sum())
        counts.append(len(pieces))
    found = torch.stack(sums)
    assert abs(found.mean() - powers.sum()) < 5 * found.std() / 2000**0.5
    assert sum(counts) / 2000 < 6 * ALWAYS, "few are scored"


def test_all_pieces_are_the_plain_loss_and_some_are_near_it():
    torch.manual_seed(2)
    learner, taught = model(overrides("predict", "plain")).eval(), batch()
    plain = sequence_loss(learner, taught).total
    assert torch.equal(sequence_loss(learner, taught, sampled=TARGET).total, plain)
    some = torch.stack([sequence_loss(learner, taught, sampled=11).total for _ in range(200)])
    assert some.std() > 0 and abs(some.mean() - plain) < 0.02
    some[0].backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in learner.predict.readout.parameters())


def test_only_training_samples():
    goal = Write(Nothing("source"), Text("target"), sampled=11)
    learner, taught = model(overrides("predict", "plain")).eval(), batch()
    assert float(goal.nll(learner, taught).nll) == float(sequence_loss(learner, taught).nll)
    (objective,) = goal.objectives(learner)
    assert float(objective.loss(learner, taught, 1).nll) != float(sequence_loss(learner, taught).nll)


def test_smoothing_needs_all_pieces():
    with pytest.raises(UsageError, match="smoothing spreads over the whole vocabulary"):
        Write(Nothing("source"), Text("target"), sampled=11, smoothing=0.1)
