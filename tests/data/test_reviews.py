"""Reviews: the words that decide are marked, and what is marked gives the label."""

from __future__ import annotations

import re

import pytest

from regard.data.reviews import NEGATIVE, POSITIVE, generate
from regard.data.reviews_words import NEGATORS, VERB_NEGATORS

DENIALS = {word for phrase in (*NEGATORS, *VERB_NEGATORS) for word in phrase.split()}


def bare(word: str) -> str:
    return word.strip(".,").lower()


def judged(words: list[str]) -> str:
    """The label that a run of deciding words gives: the polar word, turned round by whatever stands before it."""
    polar = [word for word in words if word in POSITIVE | NEGATIVE]
    assert len(polar) == 1 and words[-1] == polar[0] and set(words[:-1]) <= DENIALS
    return ("neg", "pos")[(polar[0] in POSITIVE) == (len(words) == 1)]


def runs(places: list[int], words: list[str]) -> list[list[str]]:
    """Marked words that stand side by side, cut after each polar word."""
    found: list[list[str]] = []
    for place in places:
        word = bare(words[place])
        if found and place - 1 in places and found[-1][-1] not in POSITIVE | NEGATIVE:
            found[-1].append(word)
        else:
            found.append([word])
    return found


@pytest.mark.parametrize("asides", [None, 5])
def test_what_is_marked_decides(asides):
    overruled = denied = 0
    for pair in generate(split="train", size=503, asides=asides):
        words = pair.source.split()
        sure = runs([place for place, _ in pair.sure], words)
        possible = runs([place for place, _ in pair.possible], words)
        assert {judged(run) for run in sure} == {pair.target}
        assert {judged(run) for run in possible} <= {"neg", "pos"} - {pair.target}
        polar = {place for place, word in enumerate(words) if bare(word) in POSITIVE | NEGATIVE}
        assert polar <= {place for place, _ in pair.sure + pair.possible}  # neutral sentences have none
        overruled += bool(possible)
        denied += any(len(run) > 1 for run in sure)
    assert overruled > 120 and denied > 100  # both are frequent


def test_what_follows_decides():
    for pair in generate(split="train", size=503):
        if pair.possible:
            first, last = min(place for place, _ in pair.sure), max(place for place, _ in pair.possible)
            assert last < first
            assert re.search(r", (but|yet) |although ", pair.source, re.IGNORECASE)


def test_long_reviews_stand_among_five_sentences():
    for pair in generate(split="val", size=53, asides=5):
        assert pair.source.count(". ") == 5 and pair.source.endswith(".")
        assert all(sentence[0].isupper() for sentence in pair.source.split(". "))


def test_labels_are_balanced_and_words_many():
    pairs = list(generate(split="train", size=1009))
    assert 450 < sum(pair.target == "pos" for pair in pairs) < 560
    assert len({bare(word) for pair in pairs for word in pair.source.split()}) > 300
    assert len(POSITIVE) > 60 < len(NEGATIVE) and not POSITIVE & NEGATIVE
