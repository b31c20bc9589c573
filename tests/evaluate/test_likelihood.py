"""Perplexity by word and by piece, bits by byte: of counts that add up."""

import math

import pytest

from regard.evaluate import Likelihood, count_bits, count_perplexity, count_piece_perplexity
from regard.evaluate.metrics import GENERATED, METRICS, likely

TEXTS = [Likelihood(6.0, 5, 3, 8), Likelihood(2.5, 2, 2, 11)]


def test_by_hand():
    assert count_perplexity(TEXTS).value() == pytest.approx(math.exp(8.5 / 5))
    assert count_piece_perplexity(TEXTS).value() == pytest.approx(math.exp(8.5 / 7))
    assert count_bits(TEXTS).value() == pytest.approx(8.5 / 19 / math.log(2))


def test_a_text_of_even_chances():
    """Of 16 pieces, each as likely as the others: perplexity 16, four bits a byte of one piece."""
    even = [Likelihood(7 * math.log(16), 7, 7, 7)]
    assert count_perplexity(even).value() == pytest.approx(16)
    assert count_bits(even).value() == pytest.approx(4)


def test_intervals_hold_the_value_and_signatures_name_the_unit():
    texts = [Likelihood(1.0 + number % 3, 2, 1, 5) for number in range(37)]
    for name, counted in likely(GENERATED, texts).items():
        score = counted.score()
        assert score.low <= score.value <= score.high
        assert score.name == METRICS[name].label
        assert (
            f"unit:{ {'perplexity': 'word', 'piece_perplexity': 'piece', 'bits_per_byte': 'byte'}[name] }"
            in score.signature
        )


def test_limits():
    assert count_perplexity([Likelihood(1e6, 1, 1, 1)]).value() == pytest.approx(math.exp(700))
    assert count_perplexity([Likelihood(0.0, 0, 0, 0)]).value() == 1.0
    assert likely(["bleu", "nll"], TEXTS) == {}


def test_only_metrics_of_likelihoods_count_them():
    assert {name for name, each in METRICS.items() if each.count_likely} == set(GENERATED)
    assert all(METRICS[name].needs == "nll" and not METRICS[name].higher for name in GENERATED)
