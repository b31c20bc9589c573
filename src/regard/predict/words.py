"""Readouts: features to a score for every piece of the vocabulary."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.registry import part
from regard.types import Attended, Embeds, Taught, Whole

Features = Float[Tensor, "*B F"]
Ready = Float[Tensor, "*B G"]
Logits = Float[Tensor, "*B V"]
Product = tuple[Float[Tensor, "V G"], Float[Tensor, " V"]]


class Readout(nn.Module):
    """Features, made ready, times the vocabulary: what a readout says of itself is the two sides of that product."""

    def ready(self, features: Features) -> Ready:
        """What the vocabulary's table is multiplied with."""
        return features

    def product(self) -> Product:
        """The vocabulary's table and bias."""
        raise TypeError(f"{type(self).__name__} does not say what it multiplies with")

    def forward(self, features: Features) -> Logits:
        """The score of every piece."""
        return F.linear(self.ready(features), *self.product())


def taught(readout: nn.Module, features: Float[Tensor, "B T F"], looked: tuple[Attended, ...]) -> Taught:
    """All steps of a decoder, read out; the scores are not made yet where the readout can do without."""
    if isinstance(readout, Readout):
        return Taught(readout.ready(features), looked, *readout.product())
    return Taught(readout(features), looked)


@part("readout", "linear")
class Linear(Readout):
    """W f + b."""

    def __init__(self, inputs: int, embed: Embeds) -> None:
        super().__init__()
        self.score = nn.Linear(inputs, embed.size)

    def product(self) -> Product:
        """W and b."""
        return self.score.weight, self.score.bias


@part("readout", "tied")
class Tied(Readout):
    """E f + b, with E the table that embeds the target: what a piece means going in, it means coming out."""

    def __init__(self, inputs: int, embed: Embeds) -> None:
        super().__init__()
        self.table = embed.table
        self.fit = nn.Identity() if inputs == embed.width else nn.Linear(inputs, embed.width, bias=False)
        self.bias = nn.Parameter(torch.zeros(embed.size))

    def ready(self, features: Features) -> Ready:
        """As wide as the vectors of the table."""
        return self.fit(features)

    def product(self) -> Product:
        """E and b."""
        return self.table.weight, self.bias


@part("readout", "maxout")
class Maxout(Readout):
    """W max(a, b) with [a; b] = U f: one maxout layer before the vocabulary (Bahdanau 2014, A.2.2).

    Settings:
        hidden: numbers after the maximum; 0 takes half the features.
    """

    def __init__(self, inputs: int, embed: Embeds, *, hidden: Whole = 0) -> None:
        super().__init__()
        width = hidden or max(1, inputs // 2)
        self.pairs = nn.Linear(inputs, 2 * width)
        self.score = nn.Linear(width, embed.size)

    def ready(self, features: Features) -> Ready:
        """max(a, b)."""
        return self.pairs(features).unflatten(-1, (-1, 2)).amax(-1)

    def product(self) -> Product:
        """W and its bias."""
        return self.score.weight, self.score.bias
