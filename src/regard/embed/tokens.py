"""Token ids to vectors."""

from __future__ import annotations

import math

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.fast.dropout import drop
from regard.registry import Maker, part
from regard.types import Count, Padded, Positive, Share


@part("embed", "tokens")
class Tokens(nn.Module):
    """One learned vector a token, and where it stands if a position is given.

    Settings:
        width: of the vectors.
        position: how places are told apart; without it they are not (a recurrent encoder needs none).
        scale: multiply the vectors by sqrt(width) before the position is added, as the Transformer does.
        deviation: of the numbers that come out before anything is learned.
        dropout: share of the numbers dropped in training.
    """

    def __init__(
        self,
        size: int,
        *,
        width: Count = 256,
        position: Maker | None = None,
        scale: bool = False,
        deviation: Positive = 1.0,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.size, self.width, self.dropout = size, width, dropout
        self.table = nn.Embedding(size, width, padding_idx=0)
        self.factor = math.sqrt(width) if scale else 1.0
        # With a tenth of deviation 1, recurrent states say little of the word just read, and on a large vocabulary a
        # model needs about twice the updates before its attention finds it (benchmarks/LOG.md).
        nn.init.normal_(self.table.weight, std=deviation / self.factor)
        self.table.weight.data[0] = 0
        self.position = None if position is None else position(width)

    def vectors(self, ids: Int[Tensor, "B S"], start: int | Int[Tensor, " B"] = 0) -> Float[Tensor, "B S D"]:
        """The vectors of ids that stand at positions start, start + 1, ...; each row may have a start of its own."""
        found = self.table(ids) * self.factor
        if self.position is not None:
            found = found + self.position(start, ids.shape[1])
        return drop(found, self.dropout, self.training)

    def forward(self, source: Padded) -> Padded:
        """Embed a batch; the mask stays."""
        return Padded(self.vectors(source.data), source.mask)
