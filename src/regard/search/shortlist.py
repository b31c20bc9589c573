"""A shortlist: the few target pieces that each piece of a source may lead to, so that no others need be scored.

Letters: B sentences, S source positions, V the target's vocabulary, P the source's, K candidates of a piece at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.types import Padded

NOBODY = -1  # fills up a line


@dataclass(frozen=True, eq=False)
class Shortlist:
    """For each source piece a line of target pieces, and some that are open to every source."""

    everywhere: Int[Tensor, " E"]
    lines: Int[Tensor, "P K"]

    @classmethod
    def of(cls, everywhere: Sequence[int], lines: Mapping[int, Sequence[int]], size: int) -> Shortlist:
        """From the candidates of each source piece, of a vocabulary of `size`; a piece may have none."""
        longest = max(map(len, lines.values()), default=0)
        table = [[*lines.get(piece, ()), *[NOBODY] * (longest - len(lines.get(piece, ())))] for piece in range(size)]
        return cls(torch.tensor(everywhere, dtype=torch.long), torch.tensor(table, dtype=torch.long).view(size, -1))

    def candidates(self, source: Padded, size: int) -> Bool[Tensor, "B V"]:
        """For each sentence and each piece of a vocabulary of `size`: may it be written?"""
        led = self.lines.to(source.data.device)[source.data].masked_fill(~source.mask.unsqueeze(-1), NOBODY)
        found = torch.zeros(len(led), size + 1, dtype=torch.bool, device=led.device)
        found.scatter_(1, led.flatten(1) % (size + 1), True)  # nobody falls on the last place, which is nobody's
        found[:, self.everywhere.to(led.device)] = True
        return found[:, :size]
