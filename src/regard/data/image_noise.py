"""Noise for images: what a model that takes it away again is given (Vincent et al. 2008).

Letters: C channels, h rows and w columns of pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import UInt8
from torch import Tensor

Kind = Literal["none", "gaussian", "salt", "patches"]
BLACK, WHITE = 0, 255


@dataclass(frozen=True)
class Noise:
    """A kind of noise, and how strong it is; the same seed draws the same for an image of the same size.

    "gaussian" adds numbers with a standard deviation of `strength` (of the light of white) to every number; "salt"
    makes a share of the pixels black or white; "patches" makes a share of the squares of `patch` pixels black.
    """

    kind: Kind = "none"
    strength: float = 0.2
    patch: int = 7

    def __call__(self, pixels: UInt8[Tensor, "C h w"], seed: int) -> UInt8[Tensor, "C h w"]:
        """An image with noise; the one that is given stays as it is."""
        if self.kind == "none":
            return pixels
        dice = torch.Generator().manual_seed(seed)
        if self.kind == "gaussian":
            added = torch.randn(pixels.shape, generator=dice).mul_(self.strength * WHITE)
            return added.add_(pixels).round_().clamp_(BLACK, WHITE).to(torch.uint8)
        if self.kind == "salt":
            drawn = torch.rand(pixels.shape[1:], generator=dice)
            black, any_one = drawn < self.strength / 2, drawn < self.strength
            return torch.where(any_one, torch.where(black, BLACK, WHITE).to(torch.uint8), pixels)
        return self._without_patches(pixels, dice)

    def _without_patches(self, pixels: Tensor, dice: torch.Generator) -> Tensor:
        """With some squares of a grid black: as many of each image."""
        height, width = pixels.shape[1:]
        rows, columns = -(-height // self.patch), -(-width // self.patch)
        order = torch.randperm(rows * columns, generator=dice)
        dropped = torch.zeros(rows * columns, dtype=torch.bool)
        dropped[order[: round(self.strength * rows * columns)]] = True
        grid = dropped.view(rows, columns).repeat_interleave(self.patch, 0).repeat_interleave(self.patch, 1)
        return pixels.masked_fill(grid[:height, :width], BLACK)
