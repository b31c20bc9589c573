"""Evidence: matrices whose figures are known without a computer, good outputs and bad ones."""

from math import exp, log

import pytest
import torch

from regard.align.evidence import Evidence


def values(matrix):
    found = Evidence.of(matrix)
    return found.coverage.value, found.focus_out.value, found.focus_in.value


def test_one_to_one_is_the_best_there_is():
    found = Evidence.of(torch.eye(5))
    assert values(torch.eye(5)) == (1, 0, 0)
    assert [each.share for each in found.named().values()] == [1, 1, 1, 1]


def test_uniform_looks_focus_on_nothing():
    """Seven positions a side, each 1/7: a source word is missed by all six target words with (6/7)^6."""
    coverage, out, inwards = values(torch.full((7, 7), 1 / 7))
    assert coverage == pytest.approx(1 - (6 / 7) ** 6)
    assert (out, inwards) == pytest.approx((-log(7), -log(7)))


def test_one_column():
    """Five rows look at the first of three source positions: two words, one looked at by four words, one never."""
    matrix = torch.zeros(5, 3)
    matrix[:, 0] = 1
    coverage, out, inwards = values(matrix)
    assert coverage == 1 / 2
    assert out == 0
    assert inwards == pytest.approx(-log(5) / 2)


def test_confidence_is_the_product_and_the_shares_of_focus_fall_with_the_square():
    matrix = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
    found = Evidence.of(matrix)
    entropy = 0.5 * log(2) + 0.5 * log(4)
    column = -(2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3))
    assert found.coverage.value == found.coverage.share == pytest.approx(1 - 0.5 * 0.75)
    assert found.focus_out.value == pytest.approx(-entropy)
    assert found.focus_in.value == pytest.approx(-column)
    assert found.focus_out.share == pytest.approx(exp(-0.05 * entropy**2))
    shares = found.coverage.share * found.focus_out.share * found.focus_in.share
    assert found.confidence.share == found.confidence.value == pytest.approx(shares)


def test_the_end_is_no_word():
    """What looks at the end covers nothing, and what the end looks at is not covered by it."""
    looks_away = torch.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    coverage, out, inwards = values(looks_away)
    assert coverage == 0
    assert (out, inwards) == (0, 0)


def look(*rows, width):
    """Target words that look at one source word each, and an end that looks at the end."""
    matrix = torch.zeros(len(rows) + 1, width + 1)
    for row, column in enumerate((*rows, width)):
        matrix[row, column] = 1
    return matrix


WORDS = 17
OMITTING = {
    "one full stop, from the full stop": look(WORDS - 1, width=WORDS),
    "one full stop, from everywhere": torch.full((2, WORDS + 1), 1 / (WORDS + 1)),
    "nothing at all": look(width=WORDS),
    "one word again and again": look(*[3] * WORDS, width=WORDS),
    "two words in turn": look(*[3, 5] * 11, width=WORDS),
    "cut off after three words": look(0, 1, 2, width=WORDS),
}
BLURRED = {
    "a model that learned nothing": (0.01 * torch.randn(WORDS + 1, WORDS + 1)).softmax(-1),
    "one that learned nothing, and does not stop": (0.01 * torch.randn(101, WORDS + 1)).softmax(-1),
}


@pytest.mark.parametrize("name", OMITTING)
def test_outputs_that_leave_words_out_cover_few(name):
    found = Evidence.of(OMITTING[name])
    assert found.confidence.share <= found.coverage.share <= 3 / WORDS + 1e-9


@pytest.mark.parametrize("name", BLURRED)
def test_looks_at_everything_are_not_believed(name):
    assert Evidence.of(BLURRED[name]).confidence.share < 0.35


def test_outputs_known_to_be_good():
    """In order, in another order, and with looks as sharp as trained models have."""
    sharp = 0.9 * torch.eye(WORDS + 1) + 0.1 / (WORDS + 1)
    for matrix in (torch.eye(WORDS + 1), look(*reversed(range(WORDS)), width=WORDS), sharp):
        found = Evidence.of(matrix)
        assert found.coverage.share > 0.9
        assert found.confidence.share > 0.8


@pytest.mark.parametrize("kept", range(0, WORDS, 4))
def test_coverage_falls_with_every_word_left_out(kept):
    assert Evidence.of(look(*range(kept), width=WORDS)).coverage.share == pytest.approx(kept / WORDS)


def test_few_words_cover_few():
    """Whatever the weights, I target words cover at most I of J source words."""
    for rows in (1, 2, 3, 5):
        weights = (3 * torch.randn(rows + 1, WORDS + 1)).softmax(-1)
        assert 0 < Evidence.of(weights).coverage.share <= rows / WORDS


def test_weights_that_are_no_shares():
    """Gates need not sum to one, nor stay below it by more than rounding."""
    gates = torch.tensor([[1.0 + 1e-6, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    assert Evidence.of(gates).coverage.share == 1


def test_order_does_not_matter():
    matrix = torch.rand(5, 7).softmax(-1)
    shuffled = matrix[[2, 0, 3, 1, 4]][:, [5, 3, 1, 0, 2, 4, 6]]
    assert values(shuffled) == pytest.approx(values(matrix))


def test_nothing_said_about_nothing():
    assert values(torch.ones(1, 1)) == (1, 0, 0)


def test_as_people_read_it():
    told = str(Evidence.of(torch.eye(3)))
    assert told == "confidence 100 %, coverage 100 %, focus out 100 % (0.00), focus in 100 % (0.00)"
