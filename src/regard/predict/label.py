"""A label for the whole source, from pooled or attended states."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard import masks
from regard.fast.dropout import drop
from regard.predict.recurrent import refused, required
from regard.registry import Maker, part
from regard.types import Attended, Count, Labelled, Memory, Share, Widths


@part("predict", "label")
class Label(nn.Module):
    """One vector for the source, then a linear layer.

    Settings:
        pool: how states become one vector: "attend" with learned queries, their "mean", their "max", or the
            encoder's "summary" (of a recurrent encoder, its last state).
        queries: how many learned queries look, each with its own eyes; their contexts stand side by side.
        dropout: share of the numbers dropped before the linear layer in training.
    """

    attends: ClassVar[bool] = True

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        pool: Literal["attend", "mean", "max", "summary"] = "attend",
        queries: Count = 1,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.pool, self.dropout = pool, dropout
        width = memory.summary if pool == "summary" else memory.values
        if pool == "attend":
            self.query = nn.Parameter(torch.randn(queries, memory.keys) * memory.keys**-0.5)
            self.attend = required(attend, "label")(memory.keys, memory.keys, memory.values)
            width = queries * self.attend.width
        else:
            refused(attend, f'a label with pool = "{pool}"')
        self.score = nn.Linear(width, size)

    def forward(self, memory: Memory) -> Labelled:
        """The score of each class."""
        vector, looked = self._vector(memory)
        return Labelled(self.score(drop(vector, self.dropout, self.training)), looked)

    def label(self, memory: Memory) -> Labelled:
        """The same, by the name that goals ask for."""
        return self(memory)

    def _vector(self, memory: Memory) -> tuple[Float[Tensor, "B W"], tuple[Attended, ...]]:
        if self.pool == "attend":
            asked = self.query.expand(memory.mask.shape[0], -1, -1)
            looked = self.attend(asked, self.attend.prepare(memory.keys, memory.values, memory.mask), start=0)
            return looked.context.flatten(1), (looked,)
        if self.pool == "mean":
            return masks.mean(memory.values, memory.mask), ()
        if self.pool == "max":
            low = torch.finfo(memory.values.dtype).min
            found = memory.values.masked_fill(~memory.mask.unsqueeze(-1), low).amax(1)
            return found * memory.mask.any(1, keepdim=True), ()
        return memory.summary, ()
