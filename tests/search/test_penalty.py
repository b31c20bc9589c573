"""Penalties by hand, from the formulas of Wu et al."""

from math import log

import pytest
import torch

from regard.errors import UsageError
from regard.search import Options, coverage_penalty, length_penalty
from regard.search.hypothesis import penalty_of
from regard.search.penalty import looked_at, ranks
from regard.types import Attended


def test_length_penalty_by_hand():
    found = length_penalty(torch.tensor([1, 10, 7]), 0.2)
    assert found.tolist() == pytest.approx([1.0, 1.2011, 2**0.2], abs=5e-5)
    assert length_penalty(torch.tensor([1, 10]), 0).tolist() == [1.0, 1.0]
    assert length_penalty(torch.tensor([13]), 1.0).tolist() == [3.0]
    assert [penalty_of(length, 0.2) for length in (1, 10, 7)] == pytest.approx(found.tolist())


def test_coverage_penalty_by_hand():
    covered = torch.tensor([[0.5, 1.7, 0.25], [1.0, 2.0, 0.1], [1.0, 1.0, 1.0]])
    real = torch.tensor([[True, True, True], [True, True, False], [True, True, True]])
    found = coverage_penalty(covered, real, 0.2)
    assert found.tolist() == pytest.approx([0.2 * (log(0.5) + log(0.25)), 0.0, 0.0], abs=1e-7)


def test_a_position_never_looked_at_costs_much_but_not_everything():
    found = coverage_penalty(torch.tensor([[0.0, 1.0]]), torch.ones(1, 2, dtype=torch.bool), 1.0)
    assert found.tolist() == pytest.approx([log(1e-6)])


def attended(weights):
    return Attended(weights.mean(-1, keepdim=True), lambda: weights)


def test_coverage_is_the_mean_of_layers_and_heads_summed_over_steps():
    one = torch.tensor([[[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]])  # 1 sentence, 2 heads, 2 steps
    two = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]]])
    assert looked_at((attended(one), attended(two))).tolist() == [[1.5, 0.5]]
    assert looked_at((attended(one[:, 0]),)).tolist() == [[1.5, 0.5]]  # a single head has no axis of its own


def test_no_coverage_without_attention():
    with pytest.raises(UsageError, match="does not attend.*\n.*beta = 0"):
        looked_at(())


def test_scores_by_hand():
    covered, real = torch.tensor([[0.5, 1.0]]), torch.ones(1, 2, dtype=torch.bool)
    likelihood, length = torch.tensor([-6.0], dtype=torch.float64), torch.tensor([7])
    assert ranks(likelihood, length, Options(alpha=1.0), None, real).tolist() == [-3.0]
    found = ranks(likelihood, length, Options(alpha=1.0, beta=2.0), covered, real)
    assert found.tolist() == pytest.approx([-3.0 + 2 * log(0.5)])
