"""Unigram pieces: expected counts by hand, what is kept, and a fixed order of everything."""

from math import exp, log

import numpy as np
import pytest
import torch

from regard.data import tokenizer_unigram
from regard.data.tokenizer_unigram import Lattice, Text, learn_unigram


def lattice_of(chunks: dict[str, int], pieces: list[str]) -> Lattice:
    text = Text.of(chunks)
    edges = [
        (place, place + len(piece), number)
        for place in range(len(text.cells))
        for number, piece in enumerate(pieces)
        if text.cells.startswith(piece, place) and text.room[place] >= len(piece)
    ]
    return Lattice.of(text, *np.array(edges).T)


def test_cells_know_their_chunk():
    text = Text.of({"abc": 5, "d": 2})
    assert text.cells == "abc\nd\n"
    assert text.depth.tolist() == [0, 1, 2, 3, 0, 1]
    assert text.room.tolist() == [3, 2, 1, 0, 1, 0]
    assert text.counts.tolist() == [5, 5, 5, 5, 2, 2]


def test_expected_counts_by_hand():
    """Of `ab`, seen 3 times, [ab] has the share w(ab) / (w(ab) + w(a) w(b)); of `b`, seen 5 times, [b] has all."""
    scores = np.array([-1.0, -2.0, -4.0])
    share = exp(-4) / (exp(-4) + exp(-3))
    found = lattice_of({"ab": 3, "b": 5}, ["a", "b", "ab"]).expected(scores)
    assert found == pytest.approx([3 * (1 - share), 5 + 3 * (1 - share), 3 * share])


def test_the_best_cut_by_hand():
    """From the end: `ab` is [ab], then `abb` is [ab] [b]; of equal ones the first edge."""
    scores = np.log([0.2, 0.3, 0.5])
    lattice = lattice_of({"abb": 1, "ba": 1}, ["a", "b", "ab"])
    found = [(chunks.tolist(), pieces.tolist()) for chunks, pieces in lattice.best(scores)]
    assert found == [([0, 1], [1, 0]), ([0, 1], [2, 1])]
    _, pieces = next(lattice_of({"ab": 1}, ["a", "b", "ab"]).best(np.array([-1.0, -1.0, -2.0])))
    assert pieces.tolist() == [2]


def test_fewer_pieces_make_a_smaller_lattice():
    lattice = lattice_of({"ab": 3}, ["a", "ab", "b"]).only(np.array([True, False, True]))
    assert lattice.expected(np.log([0.5, 0.5])) == pytest.approx([3, 3])


def test_probabilities_by_hand():
    """digamma(n + 1) = digamma(n) + 1/n: of 3, 4 and 5 expected in all 12 the differences are those."""
    found = tokenizer_unigram._probable(np.array([3.0, 4.0, 5.0]))
    assert np.diff(found) == pytest.approx([1 / 3, 1 / 4])
    assert found[0] == pytest.approx((torch.digamma(torch.tensor(3.0)) - torch.digamma(torch.tensor(12.0))).item())

    rare = tokenizer_unigram._probable(np.array([0.1, 3.0]))  # a character that is hardly expected counts as half a one
    assert rare[0] == pytest.approx((torch.digamma(torch.tensor(0.5)) - torch.digamma(torch.tensor(3.5))).item())


def test_seeds_by_hand():
    """Weights are how often times how long. `xy` is always `xyz`, and `vw` is seen once: neither is a seed."""
    pieces, scores, lattice = tokenizer_unigram._seeds(Text.of({"ab": 3, "aba": 2, "xyz": 2, "vw": 1}), 16)
    weights = {"a": 7, "b": 5, "v": 1, "w": 1, "x": 2, "y": 2, "z": 2} | {
        "ab": 10,
        "ba": 4,
        "yz": 4,
        "aba": 6,
        "xyz": 6,
    }
    assert pieces == list(weights)
    assert np.exp(scores) == pytest.approx(np.array([*weights.values()]) / sum(weights.values()))
    found = {lattice.text.cells[begin:end] for begin, end in zip(lattice.begin, lattice.end, strict=True)}
    assert found == set(pieces) and len(lattice.piece) == 10 + 2 + 1 + 1 + 1 + 1  # letters, ab, ba, yz, aba, xyz


def test_losses_by_hand():
    """10 (log 10/12 - 2 log 10/22) = 13.9 for `ab` and 2 (log 2/12 - 2 log 2/14) = 4.2 for `bb`, whatever its score."""
    pieces, scores = ["a", "b", "ab", "bb"], np.log([0.1, 0.1, 0.3, 0.5])
    kept = tokenizer_unigram._most_missed(pieces, scores, lattice_of({"ab": 10, "bb": 2}, pieces), 3)
    assert kept.tolist() == [True, True, True, False]


def test_frequent_words_are_pieces_and_every_character_is():
    chunks = {" the": 41, " then": 7, " them": 5, " other": 3, " x": 1}
    found = dict(learn_unigram(chunks, size=29, longest=16))
    assert {*" thenmorx"} <= found.keys()
    assert max(found, key=found.get) == " the"
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert sum(exp(score) for score in found.values()) == pytest.approx(1, abs=0.2)


def test_limits_of_size_and_length():
    chunks = {"abcabcabc": 11, "bcabc": 7, "cab": 5, "abcab": 3}
    whole = learn_unigram(chunks, size=23, longest=16)
    assert max(len(piece) for piece, _ in whole) > 3
    assert max(len(piece) for piece, _ in learn_unigram(chunks, size=23, longest=3)) <= 3
    assert len(learn_unigram(chunks, size=5, longest=16)) == 5
    assert [piece for piece, _ in learn_unigram(chunks, size=3, longest=16)] == sorted(
        "abc", key=dict(learn_unigram(chunks, size=3, longest=16)).get, reverse=True
    )


def test_what_is_missed_least_is_dropped():
    """`xy` is written 2 times and `abcd` 50 times: with room for one, it is the second."""
    found = learn_unigram({"abcd": 50, "xy": 2, "xz": 2, "wy": 2}, size=8 + 1, longest=4)
    assert [piece for piece, _ in found if len(piece) > 1] == ["abcd"]


def test_equal_pieces_come_in_the_order_of_their_letters():
    found = learn_unigram({"ba": 2, "dc": 2, "fe": 2}, size=7, longest=16)
    assert [piece for piece, _ in found if len(piece) > 1] == ["ba"]  # one place for three that tie
    assert learn_unigram({"fe": 2, "dc": 2, "ba": 2}, size=7, longest=16) == found


def test_much_and_long_text_is_learned_from_in_part(monkeypatch):
    monkeypatch.setattr(tokenizer_unigram, "LONGEST_CHUNK", 3)
    assert list(tokenizer_unigram._kept({"c": 1, "b": 1, "a": 1, "d": 2})) == ["d", "a", "b", "c"]
    assert tokenizer_unigram._kept({"abcdefg": 2, "abc": 5}) == {"abc": 7, "def": 2, "g": 2}
    monkeypatch.setattr(tokenizer_unigram, "MOST_CHARACTERS", 5)
    assert tokenizer_unigram._kept({"vwx": 1, "abc": 5, "de": 3}) == {"abc": 5, "de": 3}
    assert tokenizer_unigram._kept({"abcdefgh": 1}) == {"abc": 1, "def": 1, "gh": 1}  # one chunk there is always


def test_one_character_is_a_text():
    assert learn_unigram({"a": 1}, size=1, longest=16) == [("a", pytest.approx(log(1)))]
