"""Blocks: long text cut into stretches of one length, each of which begins where the last one ended.

Lines and texts follow one another as the corpus has them, an end between two texts: nothing is padded, and a model
learns from all that fits before a piece, across lines. Blocks are made of one pool of rows after the other, so that a
stream of them goes on from its epoch, pool and place, as every other does.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import ClassVar

from regard.data.sides.text import Framed, ids_of
from regard.data.tokenizer import END
from regard.registry import part
from regard.task import Example
from regard.types import Count


@part("examples", "blocks")
class Blocks:
    """Text in blocks of one length, across rows. Where the first one of a pool ends is drawn anew in every epoch.

    Settings:
        length: pieces of a block; those that are predicted, where nothing is read.
        mixed: make batches of blocks from all over a pool; otherwise they are of neighbours, which are alike.
    """

    ordered: ClassVar[bool] = True  # the rows of a pool come as the corpus has them

    def __init__(self, *, length: Count = 128, mixed: bool = False) -> None:
        self.length, self.mixed = length, mixed

    def __call__(self, pool: list[Example], random: Random) -> list[Example]:
        """The blocks of a pool: of its targets, or of its sources where there are no targets."""
        pieces, rows = self._joined(pool)
        found = []
        for start, end in self._cuts(len(pieces), random):
            some, row = pieces[start:end], rows[start]
            if pool[0].target is None:
                found.append(Example(some, None, row, len(some)))
            else:
                found.append(Example(None, Framed((pieces[start - 1] if start else END, *some)), row, len(some)))
        if self.mixed:
            random.shuffle(found)
        return found

    def _joined(self, pool: list[Example]) -> tuple[list[int], list[int]]:
        """All pieces of a pool, one row after the other, and the row of each."""
        pieces: list[int] = []
        rows: list[int] = []
        for each in pool:
            item = each.source if each.target is None else each.target
            own = item.ids[1:] if isinstance(item, Framed) else [*ids_of(item), END]
            pieces += own
            rows += [each.row] * len(own)
        return pieces, rows

    def _cuts(self, count: int, random: Random) -> Iterator[tuple[int, int]]:
        """Where blocks begin and end: the first and the last may be shorter than the others."""
        ends = range(random.randint(1, self.length), count, self.length)
        start = 0
        for end in (*ends, count):
            if end > start:
                yield start, end
            start = end
