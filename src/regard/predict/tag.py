"""A tag for every position of the source: as many outputs as inputs, each at its input's place."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.fast.dropout import drop
from regard.predict.recurrent import no_gates, prepare
from regard.registry import Maker, part
from regard.types import Attended, Memory, Share, Tagged, Widths


@part("predict", "tag")
class Tag(nn.Module):
    """The state at each position, then a linear layer.

    With an attention every position asks, with its own key, and its state and what it brought home are judged
    together; without one, its state alone. What is found for padding means nothing.

    Settings:
        dropout: share of the numbers dropped before the linear layer in training.
    """

    def __init__(self, size: int, memory: Widths, attend: Maker | None, *, dropout: Share = 0.0) -> None:
        super().__init__()
        self.dropout, self.attends = dropout, attend is not None
        self.attend = None if attend is None else attend(memory.keys, memory.keys, memory.values)
        if self.attend is None:
            no_gates(memory, "a tagger without an [attend] table")
        self.score = nn.Linear(memory.values + (0 if self.attend is None else self.attend.width), size)

    def tag(self, memory: Memory) -> Tagged:
        """The score of each tag, by the name that goals ask for."""
        return self(memory)

    def forward(self, memory: Memory) -> Tagged:
        """The score of each tag at each position."""
        rows, looked = self._rows(memory)
        return Tagged(self.score(drop(rows, self.dropout, self.training)), looked)

    def _rows(self, memory: Memory) -> tuple[Float[Tensor, "B S W"], tuple[Attended, ...]]:
        if self.attend is None:
            return memory.values, ()
        looked = self.attend(memory.keys, prepare(self.attend, memory), start=0, real=memory.mask)
        return torch.cat((memory.values, looked.context), -1), (looked,)
