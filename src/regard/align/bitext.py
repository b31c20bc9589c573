"""A corpus of word pairs as numbers, for statistical aligners: blocks of pairs of like length, and a table of cells.

A *cell* is one source word against one target word of the same pair; an *entry* is a source word and a target word
that meet in at least one cell. A model has one number for each entry, and every cell knows its entry: an iteration
of EM is then a gather, some arithmetic over a block, and a scatter. Word 0 is padding, and so is entry 0.

Letters: N pairs of a block, S source words, T target words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Int, Shaped

from regard.errors import UsageError

LONGEST = 100  # words: longer lines are not aligned
CELLS = 400_000  # of a block, padding included
WINDOW = 8_000_000  # entries that are looked for at once
TURN = 4_000_000  # cells that are handled at once while entries are looked for


@dataclass(frozen=True)
class Block:
    """Pairs of like length: their rows in the corpus, their words, and the entry of each of their cells."""

    rows: Int[np.ndarray, " N"]
    source: Int[np.ndarray, "N S"]
    target: Int[np.ndarray, "N T"]
    cells: Int[np.ndarray, "N S T"]


@dataclass(frozen=True)
class Lines:
    """The lines of one side: all words one after the other, where each line begins, how long it is."""

    words: Int[np.ndarray, " W"]
    first: Int[np.ndarray, " P"]
    lengths: Int[np.ndarray, " P"]
    kinds: int  # different words, padding included

    @classmethod
    def read(cls, lines: Iterable[Sequence[str]]) -> Lines:
        """Number the words in the order in which they come."""
        known: dict[str, int] = {}
        words: list[int] = []
        counts: list[int] = []
        for line in lines:
            words.extend(known.setdefault(word, len(known) + 1) for word in line)
            counts.append(len(line))
        lengths = np.array(counts, np.int64)
        return cls(np.array(words, np.int32), np.cumsum(lengths) - lengths, lengths, len(known) + 1)

    def padded(self, rows: Int[np.ndarray, " N"]) -> Int[np.ndarray, "N L"]:
        """Some lines as one array."""
        lengths = self.lengths[rows]
        found = np.zeros((len(rows), lengths.max()), np.int32)
        found[np.arange(found.shape[1]) < lengths[:, None]] = self.words[runs(self.first[rows], lengths)]
        return found


class Bitext:
    """Pairs of lines of words, ready for EM. Pairs with an empty side, or a very long one, are in no block."""

    def __init__(self, sources: Iterable[Sequence[str]], targets: Iterable[Sequence[str]]) -> None:
        self.source, self.target = Lines.read(sources), Lines.read(targets)
        ours, theirs = self.source.lengths, self.target.lengths
        if len(ours) != len(theirs):
            raise UsageError(f"expected as many targets as sources; found {len(ours)} and {len(theirs)}.")
        self.pairs = len(ours)
        sound = np.flatnonzero((ours > 0) & (ours <= LONGEST) & (theirs > 0) & (theirs <= LONGEST))
        order = sound[np.lexsort((ours[sound], theirs[sound]))]
        groups = list(_groups(order, ours[order].tolist(), theirs[order].tolist()))
        shapes = [(len(rows), int(ours[rows].max()), int(theirs[rows].max())) for rows in groups]
        flat = np.zeros(sum(n * s * t for n, s, t in shapes), np.int32)
        self.of_source, self.of_target = _number(self.source, self.target, order, _places(shapes), flat)
        self.entries = len(self.of_source)
        self.blocks = list(self._blocks(groups, shapes, flat))

    def _blocks(
        self, groups: list[np.ndarray], shapes: list[tuple[int, int, int]], flat: np.ndarray
    ) -> Iterator[Block]:
        start = 0
        for rows, shape in zip(groups, shapes, strict=True):
            size = int(np.prod(shape))
            cells = flat[start : start + size].reshape(shape)
            yield Block(rows, self.source.padded(rows), self.target.padded(rows), cells)
            start += size


def runs(first: Shaped[np.ndarray, " N"], lengths: Shaped[np.ndarray, " N"]) -> Int[np.ndarray, " M"]:
    """first[0], first[0] + 1, ... (lengths[0] numbers), then the same of first[1], and so on."""
    ends = np.cumsum(lengths)
    return np.repeat(first - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def _groups(order: np.ndarray, sources: list[int], targets: list[int]) -> Iterator[np.ndarray]:
    """Neighbours together, at most CELLS cells at a time with their padding."""
    cuts, widest_source, widest_target = [0], 0, 0
    for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
        widest_source, widest_target = max(widest_source, source), max(widest_target, target)
        count = place + 1 - cuts[-1]
        if count > 1 and count * widest_source * widest_target > CELLS:
            cuts.append(place)
            widest_source, widest_target = source, target
    for first, end in pairwise([*cuts, len(order)]):
        if end > first:
            yield order[first:end]


def _places(shapes: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Of each pair in order: the place of its first cell, and how many cells one of its source words has."""
    first, width, start = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for count, source, target in shapes:
        first.append(start + np.arange(count) * source * target)
        width.append(np.full(count, target))
        start += count * source * target
    return np.concatenate(first), np.concatenate(width)


def _number(
    source: Lines, target: Lines, order: np.ndarray, places: tuple[np.ndarray, np.ndarray], cells: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Write the entry of every cell into `cells`; the source and the target word of every entry.

    Sorting all cells would take minutes. Instead all occurrences of a few source words at a time are taken together,
    and what they meet is ticked off in a table of those few words against all target words.
    """
    lengths = source.lengths[order]
    owner = np.repeat(np.arange(len(order)), lengths)
    words = source.words[runs(source.first[order], lengths)]
    begin = places[0][owner] + runs(np.zeros(len(order), np.int64), lengths) * places[1][owner]
    by_word = np.argsort(words, kind="stable")
    words, begin, rows = words[by_word], begin[by_word], order[owner[by_word]]
    first, meets = target.first[rows], target.lengths[rows]
    total = np.concatenate([[0], np.cumsum(meets)])
    found = [(np.zeros(1, np.int32), np.zeros(1, np.int32))]
    entries, low, step = 1, 0, max(1, WINDOW // target.kinds)
    for word in range(1, source.kinds, step):
        high = int(np.searchsorted(words, word + step))

        def keys(part: slice, word: int = word) -> np.ndarray:
            base = (words[part] - word).astype(np.int64) * target.kinds
            return np.repeat(base, meets[part]) + target.words[runs(first[part], meets[part])]

        parts = list(_turns(total, low, high))
        seen = np.zeros(step * target.kinds, bool)
        for part in parts:
            seen[keys(part)] = True
        met = np.flatnonzero(seen)
        entry = np.zeros(len(seen), np.int32)
        entry[met] = np.arange(entries, entries + len(met))
        for part in parts:
            cells[runs(begin[part], meets[part])] = entry[keys(part)]
        found.append(((met // target.kinds + word).astype(np.int32), (met % target.kinds).astype(np.int32)))
        entries, low = entries + len(met), high
    return np.concatenate([each for each, _ in found]), np.concatenate([each for _, each in found])


def _turns(total: np.ndarray, low: int, high: int) -> Iterator[slice]:
    """Occurrences from `low` to `high`, about TURN cells at a time."""
    while low < high:
        end = max(low + 1, min(high, int(np.searchsorted(total, total[low] + TURN))))
        yield slice(low, end)
        low = end
