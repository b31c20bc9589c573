"""Gates on the skip connections of a U-Net: a coarser grid says which cells of a finer one pass (Oktay et al. 2018).

Letters: B images, C channels of the skip, h rows and w columns of its cells, i and j these halved; F channels of what
gates, A width at which both meet.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from annotated_types import Gt, Lt
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.grids import CellNorm, cut, doubled, real_only
from regard.hooks import Looked, hooked, tell
from regard.registry import part
from regard.types import Level, Whole

SMALL = 0.1  # of the first weights of psi: what a gate opens at first is decided by its bias alone


@dataclass(frozen=True)
class Passed:
    """What a gate let through, and how far it was open, between 0 and 1, at each of the cells where it decided."""

    data: Float[Tensor, "B C h w"]
    weights: Float[Tensor, "B _ _"]


class Gate(nn.Module, ABC):
    """A gate is given the channels of the skip and of what gates.

    `coarse`: whether it is asked with the grid one size below, as that stands; else with it brought to the skip's size.
    `top`: whether the skip of full size has a gate too.
    """

    coarse: ClassVar[bool]
    top: ClassVar[bool]
    explicit: ClassVar[bool] = True  # who watches a model finds it by this, as attentions are found

    @abstractmethod
    def forward(self, skip: Level, gating: Level) -> Passed:
        """Let the skip through where the gate is open."""

    def told(self, data: Tensor, weights: Float[Tensor, "B 1 _ _"]) -> Passed:
        """What has passed; whoever watches hears of it."""
        if hooked(Looked):
            tell(Looked(self, 0, weights.flatten(2)))
        return Passed(data, weights[:, 0])


@part("gate", "attention")
class AttentionGate(Gate):
    """sigmoid(psi(ReLU(W_x x + W_g g + b))) on the grid of g, brought to that of x by bilinear interpolation.

    W_x moves in steps of two cells and has no bias; what passed goes through a convolution of one cell and a norm.

    Settings:
        hidden: the width at which skip and gating signal meet; 0 for as many as the skip has channels.
        opening: how far the gate is open at first, everywhere.
    """

    coarse: ClassVar[bool] = True
    top: ClassVar[bool] = False

    def __init__(
        self, skip: int, gating: int, *, hidden: Whole = 0, opening: Annotated[float, Gt(0), Lt(1)] = 0.95
    ) -> None:
        super().__init__()
        hidden = hidden or skip
        self.skip = nn.Conv2d(skip, hidden, 2, stride=2, bias=False)
        self.gating = nn.Conv2d(gating, hidden, 1)
        self.psi = nn.Conv2d(hidden, 1, 1)
        self.join = nn.Conv2d(skip, skip, 1, bias=False)
        self.norm = CellNorm(skip)
        for each in (self.skip, self.gating, self.join):
            nn.init.kaiming_normal_(each.weight, nonlinearity="relu")
        bias = torch.full((1,), math.log(opening / (1 - opening)))
        self.psi.bias = nn.Parameter(bias)
        with torch.no_grad():
            self.psi.weight.mul_(SMALL)

    def forward(self, skip: Level, gating: Level) -> Passed:
        """Of a skip of odd size the last row and column stand alone, as they do one size below."""
        height, width = skip.mask.shape[1:]
        met = self.skip(F.pad(skip.data, (0, width % 2, 0, height % 2))) + self.gating(gating.data)
        weights = torch.sigmoid(self.psi(F.relu(met)))
        passed = skip.data * cut(doubled(weights, gating.mask), skip.mask)
        data = real_only(self.norm(self.join(passed), skip.mask), skip.mask)
        return self.told(data, real_only(weights, gating.mask))


@part("gate", "monai")
class MonaiGate(Gate):
    """The gate of MONAI's AttentionUnet: asked at the skip's own size, normalised over the batch, at every size.

    Settings:
        hidden: the width at which skip and gating signal meet; 0 for half of the skip's channels.
    """

    coarse: ClassVar[bool] = False
    top: ClassVar[bool] = True

    def __init__(self, skip: int, gating: int, *, hidden: Whole = 0) -> None:
        super().__init__()
        hidden = hidden or max(1, skip // 2)
        self.skip, self.skip_norm = nn.Conv2d(skip, hidden, 1, bias=False), CellNorm(hidden)
        self.gating, self.gating_norm = nn.Conv2d(gating, hidden, 1, bias=False), CellNorm(hidden)
        self.psi, self.psi_norm = nn.Conv2d(hidden, 1, 1, bias=False), CellNorm(1)

    def forward(self, skip: Level, gating: Level) -> Passed:
        """Convolutions have no bias of their own: that of the norm behind each of them is the same."""
        mask = skip.mask
        met = self.gating_norm(self.gating(gating.data), mask) + self.skip_norm(self.skip(skip.data), mask)
        weights = torch.sigmoid(self.psi_norm(self.psi(F.relu(met)), mask))
        return self.told(real_only(skip.data * weights, mask), real_only(weights, mask))
