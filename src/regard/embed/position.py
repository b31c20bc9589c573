"""Positions as vectors: without them a Transformer reads a bag of words."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.registry import part
from regard.types import Count


def sinusoid(start: int, count: int, width: int) -> Float[Tensor, "count width"]:
    """sin and cos of the position at wavelengths from 2 pi to 20000 pi (Vaswani 2017, section 3.5)."""
    places = torch.arange(start, start + count, dtype=torch.float64).unsqueeze(-1)
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = places * rates
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[:, :width].float()


@part("position", "sinusoid")
class Sinusoid(nn.Module):
    """Sines and cosines of the position: nothing to learn, no longest length."""

    table: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        # Grows when a longer sentence comes; not saved, since it can always be made again.
        self.register_buffer("table", sinusoid(0, 256, width), persistent=False)

    def forward(self, start: int, count: int) -> Float[Tensor, "count D"]:
        """The vectors of positions start .. start + count - 1."""
        if start + count > self.table.shape[0]:
            self.table = sinusoid(0, 2 * (start + count), self.width).to(self.table)
        return self.table[start : start + count]


@part("position", "learned")
class Learned(nn.Module):
    """One learned vector a position.

    Settings:
        longest: the most positions there are; a longer sequence is refused.
    """

    def __init__(self, width: int, *, longest: Count = 512) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(longest, width) * 0.02)

    def forward(self, start: int, count: int) -> Float[Tensor, "count D"]:
        """The vectors of positions start .. start + count - 1."""
        longest = self.table.shape[0]
        if start + count > longest:
            raise ShapeError(
                f"learned positions end at {longest}; the sequence has {start + count}.",
                hint=f'Write longest = {start + count} or more in its table, or part = "sinusoid".',
            )
        return self.table[start : start + count]
