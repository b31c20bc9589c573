"""Positions as vectors: without them a Transformer reads a bag of words."""

from __future__ import annotations

import math
from typing import Literal, TypeGuard, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.registry import part
from regard.types import Count

Start = int | Int[Tensor, " B"]
Vectors = Float[Tensor, "count D"] | Float[Tensor, "B count D"]
Layout = Literal["pairs", "halves"]


def sinusoid(start: int, count: int, width: int, layout: Layout = "pairs") -> Float[Tensor, "count width"]:
    """sin and cos of the position at wavelengths from 2 pi to 20000 pi (Vaswani 2017, section 3.5)."""
    places = torch.arange(start, start + count, dtype=torch.float64).unsqueeze(-1)
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = places * rates
    if layout == "halves":
        return torch.cat((angles.sin(), angles.cos()), -1)[:, :width].float()
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[:, :width].float()


@part("position", "sinusoid")
class Sinusoid(nn.Module):
    """Sines and cosines of the position: nothing to learn, no longest length.

    Settings:
        layout: in "pairs" each cosine stands beside the sine of its wavelength, as in the paper; in "halves" all sines
            stand before all cosines, as Marian has them.
    """

    table: Tensor

    def __init__(self, width: int, *, layout: Layout = "pairs") -> None:
        super().__init__()
        self.width, self.layout = width, layout
        # Grows when a longer sentence comes; not saved, since it can always be made again.
        self.register_buffer("table", sinusoid(0, 256, width, layout), persistent=False)

    def forward(self, start: Start, count: int) -> Vectors:
        """The vectors of positions start .. start + count - 1; with many starts, those of each."""
        longest = _last(start) + count
        if longest > self.table.shape[0]:
            self.table = sinusoid(0, 2 * longest, self.width, self.layout).to(self.table)
        return _from(self.table, start, count)


@part("position", "learned")
class Learned(nn.Module):
    """One learned vector a position.

    Settings:
        longest: the most positions there are; a longer sequence is refused.
    """

    def __init__(self, width: int, *, longest: Count = 512) -> None:
        super().__init__()
        self.table = nn.Parameter(nn.init.normal_(torch.empty(longest, width), std=0.02))

    def forward(self, start: Start, count: int) -> Vectors:
        """The vectors of positions start .. start + count - 1; with many starts, those of each."""
        longest, asked = self.table.shape[0], _last(start) + count
        if asked > longest:
            raise ShapeError(
                f"learned positions end at {longest}; the sequence has {asked}.",
                hint=f'Write longest = {asked} or more in its table, or part = "sinusoid".',
            )
        return _from(self.table, start, count)


def _last(start: Start) -> int:
    """The last of many starts. One alone stays what it is: in a graph that is traced it may be no number yet."""
    return int(start.max()) if _are_many(start) else cast(int, start)


def _from(table: Float[Tensor, "L D"], start: Start, count: int) -> Vectors:
    if _are_many(start):
        return table[start.unsqueeze(-1) + torch.arange(count, device=start.device)]
    return table[start : start + count]


def _are_many(start: Start) -> TypeGuard[Tensor]:
    return isinstance(start, Tensor) and start.dim() > 0
