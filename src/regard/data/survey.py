"""A survey of one split: the numbers that the checks need, gathered in one pass and little memory.

Of every pair only four numbers are kept: two hashes and two lengths.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter

import numpy as np
import numpy.typing as npt

from regard.data.report import SHOWN
from regard.data.rows import Row

# Control characters, the mark of an undecodable character, a byte order mark, line separators of Unicode.
ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ufeff\u2028\u2029]")
_WIDEST = 12  # letters a word on average beyond which a line is one without spaces
_MOST_WORDS = 1_000_000  # different words remembered: later ones are rare
_SAMPLE = 2_000  # pairs from which the language is told


class SideSurvey:
    """One side of a split: its lengths in characters and its words."""

    def __init__(self, words: Counter[str] | set[str]) -> None:
        self.lengths = array("i")
        self.words = words
        self.sample: Counter[str] = Counter()

    def see(self, text: str) -> None:
        """Take one line."""
        self.lengths.append(len(text))
        words = words_of(text)
        if len(self.words) < _MOST_WORDS:
            self.words.update(words)
        if len(self.lengths) <= _SAMPLE:
            self.sample.update(words)

    def counted(self) -> Counter[str]:
        """How often each word occurs (once, where words are only remembered)."""
        return self.words if isinstance(self.words, Counter) else Counter(self.words)

    def characters(self) -> Counter[str]:
        """How often each character occurs in its words."""
        found: Counter[str] = Counter()
        for word, count in self.counted().items():
            for letter in word:
                found[letter] += count
        return found


class Survey:
    """What one split holds. The words of a held-out split are counted; those of train are only remembered."""

    def __init__(self, split: str) -> None:
        self.split = split
        train = split == "train"
        self.source = SideSurvey(set() if train else Counter())
        self.target = SideSurvey(set() if train else Counter())
        self.empty, self.odd = Picked(), Picked()
        self._sources, self._pairs = array("q"), array("q")

    def see(self, row: Row) -> None:
        """Take one pair."""
        source, target = row.source, row.target
        if not source or not target or source.isspace() or target.isspace():
            self.empty.add(self.pairs)
        if ODD.search(source) or ODD.search(target):
            self.odd.add(self.pairs)
        # Python's own hash is fast, and need not be the same in another run.
        self._sources.append(hash(source))
        self._pairs.append(hash((source, target)))
        self.source.see(source)
        self.target.see(target)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self._pairs)

    @property
    def source_hashes(self) -> npt.NDArray[np.int64]:
        """A number for each source line."""
        return np.frombuffer(self._sources, dtype=np.int64)

    @property
    def pair_hashes(self) -> npt.NDArray[np.int64]:
        """A number for each pair."""
        return np.frombuffer(self._pairs, dtype=np.int64)


class Picked:
    """Counts the pairs that something is the matter with, and keeps the places of the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.places: list[int] = []

    def add(self, place: int) -> None:
        """Take one such pair."""
        self.count += 1
        if len(self.places) < SHOWN:
            self.places.append(place)


def words_of(line: str) -> list[str]:
    """The words of a line, or its characters where it is written without spaces."""
    words = line.split()
    if words and len(line) > (_WIDEST + 1) * len(words):
        return list(line)
    return words
