"""The hypotheses that are still being written: one row each, sentence by sentence.

Letters: N rows, S source positions, t pieces written so far, M rows picked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.types import Reorderable

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

    def cover(self, weights: Float[Tensor, "N S"]) -> Rows:
        """The same rows, having looked once more."""
        return replace(self, covered=weights if self.covered is None else self.covered + weights)

    def follow(self, picked: Picked) -> Rows:
        """The rows after one more piece."""
        after = self.reorder(picked.row)
        written = after.written
        if written is not None:
            written = torch.cat((written, picked.piece.unsqueeze(1)), 1)
        likelihood = after.likelihood + picked.chance.double()
        return replace(after, piece=picked.piece, likelihood=likelihood, written=written)


def first_rows(sentences: int, start: int, *, remember: bool, device: torch.device) -> Rows:
    """One row a sentence, with nothing written; `remember` keeps what will be."""
    return Rows(
        owner=torch.arange(sentences, device=device),
        piece=torch.full((sentences,), start, device=device),
        likelihood=torch.zeros(sentences, dtype=torch.float64, device=device),
        written=torch.empty(sentences, 0, dtype=torch.long, device=device) if remember else None,
    )
