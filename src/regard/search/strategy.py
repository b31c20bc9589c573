"""How a search goes on: what every strategy (greedy, beam, drawing) says of itself.

Letters: N rows, B sentences, V vocabulary, K candidates of a row, M rows picked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.backpointers import Finished
from regard.search.largest import largest
from regard.search.rows import Picked, Rows, Step


@dataclass(frozen=True)
class Candidates:
    """Of every row the pieces that it may go on with, and their log-probabilities, likeliest first."""

    chances: Float[Tensor, "N K"]
    pieces: Int[Tensor, "N K"]

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """Those of all rows, from those of some after others."""
        if len(parts) == 1:
            return parts[0]
        return cls(torch.cat([part.chances for part in parts]), torch.cat([part.pieces for part in parts]))


class Strategy:
    """How rows go on. `copies` is how often each sentence is searched for; `nbest` how many outputs are kept.

    The scores of a whole vocabulary are large, and those of all rows are never there at once: of some rows after others
    `narrow` keeps the few that matter, and of these `pick` takes its choice. What is said here is greedy search.

    `step` is how many pieces have been written: one number for all rows, or one for each where some began later. A
    strategy under which sentences may enter while others are at it (`continuous`) gets ready for them in `begin_more`.
    """

    copies = 1
    nbest = 1
    continuous = False

    def begin(self, limits: Int[Tensor, " B"]) -> None:
        """Get ready, before the first step, for outputs (those of copies too) of at most so many pieces."""

    def begin_more(self, limits: Int[Tensor, " B"]) -> None:
        """Get ready for sentences that enter later."""

    def wanted(self, rows: Rows) -> int:
        """How many pieces of a row can matter."""
        return 1

    def narrow(self, chances: Float[Tensor, "N V"], rows: Rows, step: Step, wanted: int) -> Candidates:
        """Of some rows the pieces that can matter; -inf marks what may not be written."""
        return Candidates(*largest(chances, min(wanted, chances.shape[1])))

    def pick(self, found: Candidates, rows: Rows) -> Picked:
        """Which rows go on, each with which piece."""
        return Picked(torch.arange(len(rows), device=rows.owner.device), found.pieces[:, 0], found.chances[:, 0])

    def hopeful(self, finished: Finished, rows: Rows) -> Bool[Tensor, " N"]:
        """Of the rows that go on, those that can still matter, given what has just finished."""
        return torch.ones_like(rows.piece, dtype=torch.bool)
