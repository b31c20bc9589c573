"""Hidden pieces: from the state at each position to a score of every piece (Devlin et al. 2018, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.fast.direct import product
from regard.predict.recurrent import no_gates, refused
from regard.registry import Maker, part
from regard.types import Filled, Memory, Positive, Whole, Widths


class Vectors(nn.Module):
    """The vectors of all pieces, where `share` finds them: with it they are those that the source is embedded with."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(size, width, padding_idx=0)


@part("predict", "fill")
class Fill(nn.Module):
    """A linear layer, gelu and a norm, then the product with the vectors of all pieces, and a bias for each.

    With `share = true` these vectors are the ones that embed the source. What is found for padding means nothing.

    Settings:
        inner: width of the vectors of pieces, where it is another than that of the states; 0 for the same.
        epsilon: what the norm adds to a variance.
        approximate: take gelu's approximation by tanh.
        pair: tell from the summary, too, whether the second of two texts follows the first (next sentence, order).
    """

    attends: ClassVar[bool] = False
    direct: bool = False  # whether the product goes the way that is fastest in use

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        inner: Whole = 0,
        epsilon: Positive = 1e-5,
        approximate: bool = False,
        pair: bool = False,
    ) -> None:
        super().__init__()
        refused(attend, "'fill'")
        no_gates(memory, "'fill'")
        width = inner or memory.values
        self.approximate = "tanh" if approximate else "none"
        self.transform, self.norm = nn.Linear(memory.values, width), nn.LayerNorm(width, eps=epsilon)
        self.embed = Vectors(size, width)
        self.bias = nn.Parameter(torch.zeros(size))
        self.follows = nn.Linear(memory.summary, 2) if pair else None

    def fill(self, memory: Memory, asked: Bool[Tensor, "B S"] | None = None) -> Filled:
        """The scores at the positions that are `asked` for, row by row, or at all.

        In training a seventh of the positions is asked for, and the product with the vocabulary is most of the work.
        """
        states = memory.values if asked is None else memory.values[asked]
        follows = None if self.follows is None else self.follows(memory.summary)
        return Filled(self.scores(states), follows)

    def scores(self, states: Float[Tensor, "*B D"]) -> Float[Tensor, "*B V"]:
        """The score of every piece for each state."""
        ready = self.norm(F.gelu(self.transform(states), approximate=self.approximate))
        return (product if self.direct else F.linear)(ready, self.embed.table.weight, self.bias)

    def forward(self, memory: Memory) -> Filled:
        """At every position."""
        return self.fill(memory)
