"""Evidence: matrices whose figures are known without a computer."""

from math import exp, log

import pytest
import torch

from regard.evidence import Evidence


def values(matrix):
    found = Evidence.of(matrix)
    return found.coverage.value, found.focus_out.value, found.focus_in.value


def test_one_to_one_is_the_best_there_is():
    found = Evidence.of(torch.eye(5))
    assert values(torch.eye(5)) == (0, 0, 0)
    assert [each.share for each in found.named().values()] == [1, 1, 1, 1]


def test_uniform_covers_all_and_focuses_on_nothing():
    """Seven positions a side, each 1/7: every source word gets 1 in all, every entropy is log 7."""
    coverage, out, inwards = values(torch.full((7, 7), 1 / 7))
    assert coverage == pytest.approx(0, abs=1e-9)
    assert (out, inwards) == pytest.approx((-log(7), -log(7)))


def test_one_column():
    """Five rows look at the first of three source positions: two words, one looked at five times, one never."""
    matrix = torch.zeros(5, 3)
    matrix[:, 0] = 1
    coverage, out, inwards = values(matrix)
    assert coverage == pytest.approx(-(log(1 + 4**6) + log(2)) / 2)
    assert out == 0
    assert inwards == pytest.approx(-log(5) / 2)


def test_confidence_is_the_sum_and_the_shares_fall_with_the_square():
    matrix = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
    found = Evidence.of(matrix)
    entropy = 0.5 * log(2) + 0.5 * log(4)
    column = -(2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3))
    assert found.coverage.value == pytest.approx(-log(1 + 0.25**6))
    assert found.focus_out.value == pytest.approx(-entropy)
    assert found.focus_in.value == pytest.approx(-column)
    total = found.coverage.value + found.focus_out.value + found.focus_in.value
    assert found.confidence.value == pytest.approx(total)
    assert found.coverage.share == pytest.approx(exp(-(found.coverage.value**2)))
    assert found.focus_out.share == pytest.approx(exp(-0.05 * entropy**2))
    assert found.confidence.share == pytest.approx(exp(-0.05 * total**2))


def test_the_end_is_no_word():
    """All that the words do not look at may go to the end: no duty is missed there, and none done."""
    looks_away = torch.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    coverage, out, inwards = values(looks_away)
    assert coverage == pytest.approx(-log(2))
    assert (out, inwards) == (0, 0)


def test_order_does_not_matter():
    matrix = torch.rand(5, 7).softmax(-1)
    shuffled = matrix[[2, 0, 3, 1, 4]][:, [5, 3, 1, 0, 2, 4, 6]]
    assert values(shuffled) == pytest.approx(values(matrix))


def test_nothing_said_about_nothing():
    assert values(torch.ones(1, 1)) == (0, 0, 0)


def test_as_people_read_it():
    assert str(Evidence.of(torch.eye(3))).startswith("confidence 100 % (0.00), coverage 100 % (0.00)")
