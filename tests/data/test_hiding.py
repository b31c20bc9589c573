"""What is hidden, how much of it, and what is shown in its place."""

from collections import Counter
from random import Random

import pytest

from regard.data.hiding import Hiding, Vocabulary, drawn_piece
from regard.data.tokenizer import END, UNKNOWN

MASK, SIZE = 30, 31
EVEN = [place % 2 == 0 for place in range(SIZE)]  # even pieces begin words
VOCABULARY = Vocabulary(SIZE, MASK, EVEN)


def test_the_share_is_kept_and_one_is_hidden_at_least():
    ids = [4 + place % 23 for place in range(61)]
    for seed in range(7):
        found = Hiding(0.15).places(ids, VOCABULARY, Random(seed))
        assert len(found) == round(0.15 * 61) == len(set(found))
        assert found == sorted(found)
    assert len(Hiding(0.15).places([5], VOCABULARY, Random(1))) == 1
    assert len(Hiding(0.0).places(ids, VOCABULARY, Random(1))) == 1
    assert Hiding(1.0).places(ids, VOCABULARY, Random(1)) == list(range(61))


def test_special_pieces_are_never_hidden_and_unknown_ones_may_be():
    ids = [END, 5, END, UNKNOWN, END]
    assert Hiding(1.0).places(ids, VOCABULARY, Random(0)) == [1, 3]
    assert Hiding(0.5).places([END, END], VOCABULARY, Random(0)) == []


def test_every_place_is_hidden_equally_often():
    counts = Counter(
        place for seed in range(3000) for place in Hiding(0.2).places(range(4, 14), VOCABULARY, Random(seed))
    )
    assert all(abs(count / 3000 - 0.2) < 0.04 for count in counts.values()) and len(counts) == 10


def test_whole_words_are_hidden_or_not_at_all():
    ids = [4, 5, 7, 6, 8, 9, 11, 13, 10]  # words: 4 5 7, 6, 8 9 11 13, 10
    words = [{0, 1, 2}, {3}, {4, 5, 6, 7}, {8}]
    seen = set()
    for seed in range(97):
        found = set(Hiding(0.4, whole_words=True).places(ids, VOCABULARY, Random(seed)))
        assert all(word <= found or not word & found for word in words)
        seen.add(frozenset(found))
    assert len(seen) > 3
    parted = Hiding(1.0, whole_words=True).places([5, END, 7], VOCABULARY, Random(0))
    assert parted == [0, 2], "a special piece parts words, whatever follows it"


def test_runs_are_hidden_at_once_shorter_ones_more_often():
    hiding = Hiding(0.03, longest_run=3)
    lengths = Counter()
    for seed in range(2000):
        found = hiding.places([4 + place % 23 for place in range(100)], VOCABULARY, Random(seed))
        if found == list(range(found[0], found[0] + len(found))):
            lengths[len(found)] += 1
    drawn = Counter(hiding._run(Random(seed)) for seed in range(6000))
    assert set(drawn) == {1, 2, 3}
    assert drawn[1] / 6000 == pytest.approx(6 / 11, abs=0.03)
    assert drawn[2] / 6000 == pytest.approx(3 / 11, abs=0.03)
    assert lengths[3] > 300, "three in a row are hidden far more often than by chance"
    assert Hiding(longest_run=1)._run(Random(0)) == 1


def test_eight_in_ten_are_masked_one_is_swapped_one_stays():
    dice = Random(5)
    shown = Counter()
    for _ in range(5000):
        found = Hiding().shown(7, VOCABULARY, dice)
        shown["masked" if found == MASK else "same" if found == 7 else "swapped"] += 1
    assert shown["masked"] / 5000 == pytest.approx(0.8, abs=0.03)
    assert shown["swapped"] / 5000 == pytest.approx(0.1, abs=0.02)
    assert Hiding(masked=0.0, swapped=0.0).shown(7, VOCABULARY, dice) == 7
    assert Hiding(masked=1.0, swapped=0.0).shown(7, VOCABULARY, dice) == MASK


def test_drawn_pieces_are_pieces_of_text():
    found = {drawn_piece(VOCABULARY, Random(seed)) for seed in range(500)}
    assert found == set(range(4, 30))
