"""The hypotheses that are still being written: one row each, sentence by sentence.

Letters: N rows, S source positions, t pieces written so far, M rows picked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.types import Reorderable

FEWEST = 128  # rows of a slice, for products
EVEN = 16  # what a slice is a multiple of, for products in half precision
NUMBERS = 3 << 20  # numbers in a slice, if that is not too few rows
Step = int | Int[Tensor, " N"]  # how many pieces all rows have written, or each of them


@dataclass(frozen=True)
class Picked:
    """What a strategy chose: the row that each new hypothesis continues, the piece, and its log-probability."""

    row: Int[Tensor, " M"]
    piece: Int[Tensor, " M"]
    chance: Float[Tensor, " M"]


@dataclass(frozen=True)
class Rows(Reorderable):
    """Unfinished hypotheses. Those of one sentence (`owner`) stand together, sentences in order.

    `likelihood` is the log-likelihood so far, in double precision: sums of many steps are compared. `covered` and
    `written` are kept only if a penalty or a rule asks for them.
    """

    owner: Int[Tensor, " N"]
    piece: Int[Tensor, " N"]
    likelihood: Float[Tensor, " N"]
    covered: Float[Tensor, "N S"] | None = None
    written: Int[Tensor, "N t"] | None = None

    def __len__(self) -> int:
        return self.owner.shape[0]

    def some(self, part: slice) -> Rows:
        """Some rows that stand together."""
        if part == slice(0, len(self)):
            return self
        covered = None if self.covered is None else self.covered[part]
        written = None if self.written is None else self.written[part]
        return Rows(self.owner[part], self.piece[part], self.likelihood[part], covered, written)

    def cover(self, weights: Float[Tensor, "N S"]) -> Rows:
        """The same rows, having looked once more."""
        return replace(self, covered=weights if self.covered is None else self.covered + weights)

    def reorder_in_place(self, picked: Picked) -> Rows:
        """The rows after one more piece."""
        after = self.reorder(picked.row)
        written = after.written
        if written is not None:
            written = torch.cat((written, picked.piece.unsqueeze(1)), 1)
        likelihood = after.likelihood + picked.chance.double()
        return replace(after, piece=picked.piece, likelihood=likelihood, written=written)


def slices(count: int, width: int) -> Iterator[slice]:
    """So many rows of so many numbers in equal parts of a size that a cache holds, and products still like."""
    parts = -(-count // max(FEWEST, NUMBERS // width))
    size = -(-count // max(1, parts))
    size += -size % EVEN
    yield from (slice(first, min(first + size, count)) for first in range(0, count, max(1, size)))


def first_rows(sentences: int, start: int, *, remember: bool, device: torch.device) -> Rows:
    """One row a sentence, with nothing written; `remember` keeps what will be."""
    return Rows(
        owner=torch.arange(sentences, device=device),
        piece=torch.full((sentences,), start, device=device),
        likelihood=torch.zeros(sentences, dtype=torch.float64, device=device),
        written=torch.empty(sentences, 0, dtype=torch.long, device=device) if remember else None,
    )
