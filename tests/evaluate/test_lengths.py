"""Scores by source length: every sentence once, edges that make sense, and the scores of the right sentences."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import UsageError
from regard.evaluate import bleu, by_length, exact_match
from regard.evaluate.lengths import MOST, SMALL, count_words, even_edges


def sources(lengths):
    return [" ".join(["w"] * length) for length in lengths]


def count_each(lengths, edges):
    """How many lengths fall between edges, said the slow way."""
    bounds = [-1, *edges, max(lengths)]
    return [sum(low < length <= high for length in lengths) for low, high in pairwise(bounds)]


many = st.lists(st.integers(0, 40), min_size=1, max_size=29)


@given(many, st.none() | st.lists(st.integers(0, 45), max_size=5, unique=True).map(sorted))
@settings(deadline=None, max_examples=25)
def test_every_sentence_is_in_one_bucket(lengths, edges):
    """The outputs tell the buckets apart: bucket by bucket, as many are right as the lengths say."""
    right = [length % 3 == 0 for length in lengths]
    outputs = ["x" if each else "y" for each in right]
    buckets = by_length(sources(lengths), outputs, ["x"] * len(lengths), edges=edges, metric="exact_match")
    assert sum(bucket.count for bucket in buckets) == len(lengths)
    for earlier, later in pairwise(buckets):
        assert earlier.high < later.low
    for bucket in buckets:
        inside = [good for length, good in zip(lengths, right, strict=True) if bucket.low <= length <= bucket.high]
        assert bucket.count == len(inside) > 0
        assert bucket.score.value == pytest.approx(100 * sum(inside) / len(inside))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=50), st.integers(1, 67))
@settings(deadline=None)
def test_even_edges_make_few_buckets_none_too_small(lengths, times):
    lengths = lengths * times
    edges = even_edges(lengths)
    counts = count_each(lengths, edges)
    assert edges == sorted(set(edges))
    assert sum(counts) == len(lengths)
    assert len(counts) <= MOST
    assert min(counts) >= min(SMALL, len(lengths))


def test_even_edges_part_evenly_where_they_can():
    dice = random.Random(5)
    lengths = [dice.randint(1, 120) for _ in range(6007)]
    counts = count_each(lengths, even_edges(lengths))
    assert len(counts) == MOST
    assert max(counts) - min(counts) < 130  # about 50 sentences have one length


def test_even_edges_by_hand():
    assert even_edges([3] * 150 + [5] * 100 + [8] * 150 + [9] * 1) == [3, 5]  # not 8: one sentence would be left
    assert even_edges([7] * 1000) == []
    assert even_edges([1, 2, 3]) == []


def test_given_edges_by_hand():
    outputs = references = ["a b c d"] * 7
    found = by_length(sources([2, 5, 10, 10, 11, 31, 33]), outputs, references, edges=(10, 20, 30))
    assert [(each.low, each.high, each.count, each.label) for each in found] == [
        (2, 10, 4, "2-10"),
        (11, 20, 1, "11-20"),
        (31, 33, 2, "31-33"),  # nothing has 21 to 30 words
    ]
    assert all(each.small and each.score.value == pytest.approx(100) for each in found)


def test_a_bucket_is_scored_like_a_corpus_of_its_own():
    outputs = ["a b c d e", "b c d e f g", "a b d e", "b c d d a"] * 60
    references = ["a b c d f", "b c d e f", "a b c e", "a c d d a"] * 60
    short, long = by_length(sources([3, 3, 7, 7] * 60), outputs, references, edges=[3], seed=7)
    rows = [row for row in range(240) if row % 4 < 2]
    assert short.score == bleu([outputs[row] for row in rows], [references[row] for row in rows], seed=7)
    assert not short.small
    assert (long.low, long.high, long.label) == (4, 7, "4-7")


def test_one_bucket_is_the_whole():
    texts = ["x y", "z"]
    (only,) = by_length(["a b", "c d"], texts, ["x y", "q"], metric="exact_match")
    assert only.score == exact_match(texts, ["x y", "q"])
    assert (only.low, only.high, only.label) == (2, 2, "2")


@pytest.mark.parametrize(
    ("line", "words"), [("", 0), ("Ein Mann liest.", 3), ("  two   words ", 2), ("我喜欢书", 4), ("GPT 很好", 3)]
)
def test_words_are_counted(line, words):
    assert count_words(line) == words


def test_mistakes_are_told():
    with pytest.raises(UsageError, match="found 1 sources, 2 outputs, 2 references"):
        by_length(["a"], ["a", "b"], ["a", "b"])
    with pytest.raises(UsageError, match="at least one sentence"):
        by_length([], [], [])
    for edges in ([20, 10], [5, 5], [-3]):
        with pytest.raises(UsageError, match="expected growing numbers of words"):
            by_length(["a"], ["a"], ["a"], edges=edges)
