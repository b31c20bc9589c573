"""What letters tell of a language: a case by hand, sums to one, languages told apart, files that are read again."""

import json
import math

import pytest

from regard.data.letters import FILE, KEPT, LETTERS, PRIOR, Letters, letters_text, read_letters
from regard.errors import ModelError

GERMAN = ["der mann liest ein buch", "die frau und das kind lesen", "ja , es ist schön"]
ENGLISH = ["the man reads a book", "the woman and the child read", "yes , it is fine"]


def test_bits_by_hand():
    """Of ` ab ` seen once: a, b and the space after b, each by itself, after one, after two."""
    letters = Letters.of(["ab"])
    assert dict(letters.counts) == {"a": 1, " a": 1, "b": 1, "ab": 1, " ab": 1, " ": 1, "b ": 1, "ab ": 1}
    unseen = 1 / (LETTERS + len(letters.counts))
    one = (1 + PRIOR * unseen) / (3 + PRIOR)
    first = (1 + PRIOR * one) / (1 + PRIOR)  # a after a space, of which one was counted
    then = (1 + PRIOR * (1 + PRIOR * one) / (1 + PRIOR)) / (1 + PRIOR)  # after one letter, and after two
    assert letters.bits("ab")[0] == pytest.approx(-math.log2(first) - 2 * math.log2(then))
    assert letters.bits("AB 12 .") == letters.bits("ab")
    assert letters.bits("12 .") == (0.0, 0.0) and letters.bits("") == (0.0, 0.0)


def test_chances_of_what_follows_are_chances():
    letters = Letters.of(GERMAN)
    seen = {run for run in letters.counts if len(run) == 1}
    for before in ("", "e", "in", "zz", "q"):
        whole = sum(letters._chance(before + each) for each in seen)
        never = 1 - whole  # what is left for letters that were not seen
        assert 0 < never < 0.9 and letters._chance(before + "ж") <= never


def test_strange_letters_are_counted():
    assert Letters.of(ENGLISH).bits("the жж")[1] == pytest.approx(2 / 5)


def test_languages_are_told_apart_by_a_word():
    german, english = Letters.of(GERMAN), Letters.of(ENGLISH)
    for text in GERMAN:
        assert all(german.bits(word) < english.bits(word) for word in text.split() if word.isalpha())
    for text in ENGLISH:
        assert english.bits(text) < german.bits(text)


def test_only_the_commonest_runs_are_kept_and_every_letter():
    some = [chr(0x4E00 + number) * (1 + number % 2) for number in range(KEPT)]
    counts = Letters.of(some).counts
    assert sum(len(run) > 1 for run in counts) == KEPT and sum(len(run) == 1 for run in counts) == KEPT + 1


def test_a_folder_keeps_them(tmp_path):
    text = letters_text("de", "eng", (GERMAN, ENGLISH))
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert read_letters(tmp_path) == (Letters.of(GERMAN), Letters.of(ENGLISH))
    assert read_letters(tmp_path / "nowhere") is None
    for broken in ("{", "[]", '{"source": {"a": "x"}, "target": {}}', json.dumps({"source": {}})):
        (tmp_path / FILE).write_text(broken)
        with pytest.raises(ModelError, match="tokenizers alone"):
            read_letters(tmp_path)


@pytest.mark.parametrize("languages", [("source", "target"), ("human", "iso"), ("en", "eng"), ("en", "Elvish")])
def test_what_is_no_pair_of_languages_keeps_none(languages):
    assert letters_text(*languages, (ENGLISH, GERMAN)) is None
