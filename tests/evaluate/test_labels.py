"""Metrics of labels and tags: by hand, against slow implementations of our own, in buckets and in draws."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import UsageError
from regard.evaluate import by_length, compare, count_accuracy, count_ece, count_exact, count_macro_f1, count_tags
from regard.evaluate.bootstrap import DRAWS, Sparse, add_up, draws, interval

ANSWERS = ["cat", "cat", "dog", "cow", "dog", "cat", "dog"]
RIGHT = ["cat", "dog", "dog", "cow", "cat", "cat", "cow"]
SURE = [0.9, 0.8, 0.7, 0.95, 0.5, 1.0, 0.3]


def slow_macro_f1(answers, references):
    """F1 of each class that is in either list, by precision and recall, then their mean."""
    found = []
    for label in set(answers) | set(references):
        right = sum(one == other == label for one, other in zip(answers, references, strict=True))
        precision = right / answers.count(label) if label in answers else 0
        recall = right / references.count(label) if label in references else 0
        found.append(2 * precision * recall / (precision + recall) if right else 0)
    return 100 * sum(found) / len(found)


def slow_ece(answers, references, sure, bins=15):
    """The sum over bins of the share of answers times the gap between how sure and how often right."""
    total = 0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [row for row, p in enumerate(sure) if low < p <= high or (p == 0 == number)]
        if inside:
            right = sum(answers[row] == references[row] for row in inside) / len(inside)
            total += len(inside) / len(answers) * abs(right - sum(sure[row] for row in inside) / len(inside))
    return 100 * total


def test_accuracy_by_hand():
    counted = count_accuracy(ANSWERS, RIGHT)
    assert counted.rows.tolist() == [[1, 1], [0, 1], [1, 1], [1, 1], [0, 1], [1, 1], [0, 1]]
    score = counted.score()
    assert score.value == pytest.approx(400 / 7)
    assert score.low < score.value < score.high
    same = count_exact(ANSWERS, RIGHT).score()
    assert (score.value, score.low, score.high) == (same.value, same.low, same.high)
    assert score.signature.startswith(f"bs:{DRAWS}|seed:12345|version:regard-")


def test_macro_f1_by_hand():
    """Cat: 2 right of 3 and 3. Dog: 1 right of 3 answered, 2 there. Cow: 1 right of 1 answered, 2 there."""
    assert count_macro_f1(ANSWERS, RIGHT).value() == pytest.approx(100 * (4 / 6 + 2 / 5 + 2 / 3) / 3)


def test_a_class_that_neither_occurs_nor_is_answered_does_not_count():
    """A bucket without cows has no F1 of cows, though the whole has; one that is only answered is 0."""
    counted = count_macro_f1(ANSWERS, RIGHT)
    some = [0, 1, 2, 5]
    assert counted.take(np.array(some)).value() == pytest.approx(
        slow_macro_f1([ANSWERS[row] for row in some], [RIGHT[row] for row in some])
    )
    assert count_macro_f1(["a", "b"], ["a", "a"]).value() == pytest.approx(100 * (2 / 3) / 2)


labels = st.sampled_from("abcde")


@given(st.lists(st.tuples(labels, labels, st.floats(0, 1)), min_size=1, max_size=31))
@settings(deadline=None, max_examples=50)
def test_as_the_slow_ones(rows):
    answers, references, sure = (list(column) for column in zip(*rows, strict=True))
    assert count_macro_f1(answers, references).value() == pytest.approx(slow_macro_f1(answers, references))
    assert count_ece(answers, references, sure).value() == pytest.approx(slow_ece(answers, references, sure), abs=1e-5)
    assert count_ece(answers, references, sure, bins=7).value() == pytest.approx(
        slow_ece(answers, references, sure, 7), abs=1e-5
    )


def test_a_draw_is_scored_like_a_corpus():
    dice = random.Random(3)
    answers, references = ([dice.choice("abcdefg") for _ in range(53)] for _ in range(2))
    sure = [dice.random() for _ in range(53)]
    generator = np.random.default_rng(11)
    f1, error = count_macro_f1(answers, references).drawn(11), count_ece(answers, references, sure).drawn(11)
    for number in range(5):
        rows = generator.integers(53, size=53)
        drawn = [answers[row] for row in rows], [references[row] for row in rows]
        assert f1[number] == pytest.approx(slow_macro_f1(*drawn))
        assert error[number] == pytest.approx(slow_ece(*drawn, [sure[row] for row in rows]), abs=1e-5)
    low, high = interval(f1)
    score = count_macro_f1(answers, references).score(11)
    assert (score.low, score.high) == (low, high)


def test_ece_by_hand():
    """Two bins: up to a half, of which one of two is right at a mean of 0.4; above, three of five at 0.87."""
    gap = 2 / 7 * abs(0 / 2 - 0.4) + 5 / 7 * abs(4 / 5 - 4.35 / 5)
    assert count_ece(ANSWERS, RIGHT, SURE, bins=2).value() == pytest.approx(100 * gap, abs=1e-6)
    assert count_ece(["a"], ["a"], [1.0]).value() == 0
    assert count_ece(["a"], ["b"], [1.0]).value() == 100
    assert count_ece(["a"], ["b"], [0.0]).value() == 0
    assert "bins:15|bs:1000" in count_ece(["a"], ["b"], [0.0]).score().signature


def test_tags_by_hand():
    counted = count_tags(["D N V", "N", ""], ["D N N", "N", ""])
    assert counted.rows.tolist() == [[2, 3], [1, 1], [0, 0]]
    assert counted.value() == pytest.approx(75)
    assert count_tags([" "], [""]).value() == 0, "nothing is 0, and no division by it"
    with pytest.raises(UsageError, match="line 2: expected 2 tags, one for each word; the answer has 3"):
        count_tags(["D", "D N V"], ["D", "D N"])


def test_a_thousand_classes_take_little_room():
    """Rows are three numbers each, not a million."""
    dice = random.Random(7)
    names = [f"class {number}" for number in range(1009)]
    right = [dice.choice(names) for _ in range(2003)]
    answers = [each if dice.random() < 0.5 else dice.choice(names) for each in right]
    counted = count_macro_f1(answers, right)
    assert isinstance(counted.rows, Sparse)
    assert counted.rows.columns.nbytes + counted.rows.values.nbytes < 200_000
    assert counted.value() == pytest.approx(slow_macro_f1(answers, right))


def test_sparse_rows_are_rows():
    dense = np.array([[0, 2, 0, 0], [3, 0, 0, 5], [0, 0, 7, 0]])
    sparse = Sparse(np.array([[1, 1], [0, 3], [2, 0]]), np.array([[2, 0], [3, 5], [7, 0]]), 4)
    assert add_up(sparse).tolist() == add_up(dense).tolist()
    assert add_up(sparse[np.array([0, 0, 2])]).tolist() == [0, 4, 7, 0]
    for one, other, _ in zip(draws(sparse, 5), draws(dense, 5), range(13), strict=False):
        assert one.tolist() == other.tolist()


def test_white_space_around_labels_is_nothing_and_case_is_something():
    assert count_accuracy([" cat ", "Dog"], ["cat", "dog"]).value() == 50
    assert count_macro_f1([" cat "], ["cat"]).value() == 100


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1"])
def test_any_metric_by_length(metric):
    sources = ["a"] * 4 + ["a b c"] * 3
    short, long = by_length(sources, ANSWERS, RIGHT, edges=[2], metric=metric)
    assert (short.count, long.count) == (4, 3)
    slow = slow_macro_f1 if metric == "macro_f1" else lambda one, other: count_exact(one, other).value()
    assert short.score.value == pytest.approx(slow(ANSWERS[:4], RIGHT[:4]))
    assert long.score.value == pytest.approx(slow(ANSWERS[4:], RIGHT[4:]))


def test_ece_by_length():
    buckets = by_length(["a"] * 4 + ["a b c"] * 3, ANSWERS, RIGHT, edges=[2], metric="ece", probabilities=SURE)
    found = [bucket.score.value for bucket in buckets]
    assert found == pytest.approx([slow_ece(*(each[part] for each in (ANSWERS, RIGHT, SURE)))
                                   for part in (slice(4), slice(4, 7))], abs=1e-5)  # fmt: skip
    with pytest.raises(UsageError, match="needs the probability"):
        by_length(["a"], ["a"], ["a"], metric="ece")


def test_two_classifiers_are_compared():
    right = ["a", "b"] * 97
    good = [each if place % 7 else "c" for place, each in enumerate(right)]
    bad = [each if place % 3 else "c" for place, each in enumerate(right)]
    found = compare(good, bad, right, "accuracy")
    assert found.name == "accuracy"
    assert found.value == pytest.approx(count_accuracy(good, right).value() - count_accuracy(bad, right).value())
    assert found.p < 0.05
    assert found.low < found.value < found.high
    assert compare(good, good, right, "macro_f1").p == 1
    sure, unsure = [0.9] * len(right), [0.2] * len(right)
    error = compare(good, bad, right, "ece", probabilities=(sure, unsure))
    assert error.value == pytest.approx(slow_ece(good, right, sure) - slow_ece(bad, right, unsure), abs=1e-5)
    assert error.value < 0


def test_mistakes_are_told():
    with pytest.raises(UsageError, match="one right label for each answer; row 2 has 2"):
        count_accuracy(["a", "b"], ["a", ["b", "c"]])
    with pytest.raises(UsageError, match="found 2 answers, 1 probabilities"):
        count_ece(["a", "b"], ["a", "b"], [0.5])
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(UsageError, match="numbers from 0 to 1; row 2 has"):
            count_ece(["a", "b"], ["a", "b"], [0.5, wrong])
    with pytest.raises(UsageError, match="at least one sentence"):
        count_macro_f1([], [])
