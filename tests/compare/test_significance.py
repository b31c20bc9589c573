"""Means over seeds and their differences, on counts that are made up."""

import numpy as np
import pytest

from regard.compare.significance import Sample, difference, draw_means, estimate
from regard.evaluate import compare, count_exact, exact_match
from regard.evaluate.bootstrap import DRAWS, interval

REFERENCES = [f"line {number}" for number in range(101)]


def answers(wrong, seed):
    """The references, some of them answered wrongly."""
    chosen = np.random.default_rng(seed).choice(len(REFERENCES), wrong, replace=False)
    return [f"{line} not" if row in chosen else line for row, line in enumerate(REFERENCES)]


def sample(outputs, names=None):
    """The exact matches of several seeds."""
    counted = [count_exact(each, REFERENCES) for each in outputs]
    names = names or [f"seed {number}" for number in range(len(outputs))]
    return Sample(
        tuple(names), tuple(each.value() for each in counted), np.stack([each.drawn() for each in counted], 1)
    )


def test_mean_and_deviation_by_hand():
    found = estimate(Sample(("a", "b", "c"), (11.0, 13.0, 18.0)))
    assert found.value == 14.0
    assert found.deviation == pytest.approx(13**0.5)  # squares 9 + 1 + 16, divided by two
    assert found.seeds == {"a": 11.0, "b": 13.0, "c": 18.0}
    assert found.low < 11.0 and found.high > 18.0, "three seeds know little: Student's t"


@pytest.mark.parametrize(("count", "quantile"), [(5, 2.776), (7, 2.447)])
def test_the_interval_of_seeds_alone_is_students(count, quantile):
    """Mean ± t s / sqrt(R), t of R - 1 degrees of freedom, nearly: seeds are drawn, and not a normal distribution."""
    values = tuple(np.random.default_rng(count).normal(31, 3, count).tolist())
    found = estimate(Sample(tuple(map(str, range(count))), values))
    half = quantile * found.deviation / count**0.5
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.04)


def test_one_seed_is_what_evaluate_and_its_paired_test_say():
    ours, theirs = answers(17, 3), answers(29, 5)
    found, expected = estimate(sample([ours])), exact_match(ours, REFERENCES)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert found.deviation is None
    apart, known = difference(sample([ours]), sample([theirs])), compare(ours, theirs, REFERENCES, "exact_match")
    assert apart.value == pytest.approx(known.value)
    assert (apart.low, apart.high, apart.p) == (known.low, known.high, known.p)
    assert apart.agree is None, "one seed agrees with nobody"


def test_equal_arms_do_not_differ():
    outputs = [answers(wrong, wrong) for wrong in (11, 13, 19)]
    found = difference(sample(outputs), sample(outputs))
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert found.agree is False, "nothing is neither more nor less"


def test_a_constant_difference_is_found():
    """Each seed has 23 more right answers, those of the other among them."""
    worse = [answers(37, seed) for seed in (3, 5, 7)]
    better = [[line.removesuffix(" not") if row < 53 else line for row, line in enumerate(each)] for each in worse]
    found = difference(sample(better), sample(worse))
    assert found.low > 0 and found.p < 0.05
    assert found.agree is True
    turned = difference(sample(worse), sample(better))
    assert (turned.value, turned.agree) == (-found.value, True)
    assert turned.p == found.p


def test_seeds_that_disagree_are_told_and_widen_the_interval():
    values = (
        Sample(("seed 0", "seed 1", "seed 2"), (31.0, 29.0, 31.5)),
        Sample(("seed 0", "seed 1", "seed 2"), (30.0,) * 3),
    )
    found = difference(*values)
    assert found.seeds == {"seed 0": 1.0, "seed 1": -1.0, "seed 2": 1.5}
    assert found.agree is False
    assert found.low < 0 < found.high and found.p > 0.3


def test_only_seeds_of_both_arms_are_paired():
    ours = Sample(("seed 3", "seed 5", "seed 7"), (11.0, 17.0, 23.0))
    theirs = Sample(("seed 7", "seed 3"), (20.0, 10.0))
    found = difference(ours, theirs)
    assert found.paired
    assert found.seeds == {"seed 3": 1.0, "seed 7": 3.0}
    assert found.value == 2.0


def test_pairing_takes_out_what_is_hard_for_both():
    """Seeds lie far apart, but in each the first arm has one more: paired that is sure, unpaired it is not."""
    theirs = Sample(("a", "b", "c", "d", "e"), (10.0, 20.0, 30.0, 40.0, 50.0))
    values = (11.0, 21.1, 30.9, 41.0, 51.0)
    paired = difference(Sample(theirs.names, values), theirs)
    apart = difference(Sample(("v", "w", "x", "y", "z"), values), theirs)
    assert paired.low > 0 and paired.agree is True
    assert not apart.paired and apart.agree is False
    assert apart.low < 0 < apart.high
    assert len(apart.seeds) == 25 and apart.value == pytest.approx(paired.value)


def test_where_nothing_can_be_drawn_there_is_no_interval():
    found = difference(Sample(("seed 0",), (3.0,)), Sample(("seed 0",), (2.0,)))
    assert (found.value, found.low, found.high, found.p) == (1.0, None, None, None)
    assert estimate(Sample(("seed 0",), (3.0,))).low is None


def test_sentences_are_not_drawn_where_one_arm_has_no_counts():
    ours = sample([answers(11, 3), answers(13, 5)])
    found = difference(ours, Sample(ours.names, ours.values))
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("seeds", "between", "within"), [(3, 1.0, 0.0), (3, 1.0, 3.0), (5, 1.0, 1.0), (2, 1.0, 1.0)])
def test_the_interval_covers_the_truth_as_often_as_it_says(seeds, between, within):
    """Seeds and sentences are drawn around nothing; of the intervals about 95 in a hundred must hold it, not fewer.

    Plain draws of three seeds, without what is made of few, hold it about 80 times.
    """
    generator, sentences, times = np.random.default_rng(7), 41, 300
    chosen = generator.multinomial(sentences, np.full(sentences, 1 / sentences), size=DRAWS) / sentences
    names = tuple(map(str, range(seeds)))
    held = plainly = 0
    for _ in range(times):
        seed, line = generator.normal(0, between, (seeds, 1)), generator.normal(0, within, (1, sentences))
        scores = seed + line + generator.normal(0, within, (seeds, sentences))
        made = Sample(names, tuple(scores.mean(1).tolist()), chosen @ scores.T)
        found = estimate(made)
        held += found.low <= 0 <= found.high
        drawn = np.take_along_axis(made.drawn, generator.integers(seeds, size=(DRAWS, seeds)), 1).mean(1)
        low, high = interval(drawn)
        plainly += low <= 0 <= high
    assert held / times > 0.92
    if within <= between and seeds < 5:
        assert plainly / times < 0.85, "else the correction would not be needed"


def test_draws_of_equal_seeds_are_those_of_their_sentences():
    drawn = np.random.default_rng(3).normal(size=(DRAWS, 1)).repeat(3, axis=1)
    assert draw_means(Sample(("a", "b", "c"), (5.0, 5.0, 5.0), drawn), 7) == pytest.approx(drawn[:, 0])
