"""Readouts: features to a score for every piece of the vocabulary."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.registry import part
from regard.types import Embeds, Whole

Features = Float[Tensor, "*B F"]
Logits = Float[Tensor, "*B V"]


@part("readout", "linear")
class Linear(nn.Module):
    """W f + b."""

    def __init__(self, inputs: int, embed: Embeds) -> None:
        super().__init__()
        self.score = nn.Linear(inputs, embed.size)

    def forward(self, features: Features) -> Logits:
        """The score of every piece."""
        return self.score(features)


@part("readout", "tied")
class Tied(nn.Module):
    """E f + b, with E the table that embeds the target: what a piece means going in, it means coming out."""

    def __init__(self, inputs: int, embed: Embeds) -> None:
        super().__init__()
        self.table = embed.table
        self.fit = nn.Identity() if inputs == embed.width else nn.Linear(inputs, embed.width, bias=False)
        self.bias = nn.Parameter(torch.zeros(embed.size))

    def forward(self, features: Features) -> Logits:
        """The score of every piece."""
        return F.linear(self.fit(features), self.table.weight, self.bias)


@part("readout", "maxout")
class Maxout(nn.Module):
    """W max(a, b) with [a; b] = U f: one maxout layer before the vocabulary (Bahdanau 2014, A.2.2).

    Settings:
        hidden: numbers after the maximum; 0 takes half the features.
    """

    def __init__(self, inputs: int, embed: Embeds, *, hidden: Whole = 0) -> None:
        super().__init__()
        width = hidden or max(1, inputs // 2)
        self.pairs = nn.Linear(inputs, 2 * width)
        self.score = nn.Linear(width, embed.size)

    def forward(self, features: Features) -> Logits:
        """The score of every piece."""
        return self.score(self.pairs(features).unflatten(-1, (-1, 2)).amax(-1))
