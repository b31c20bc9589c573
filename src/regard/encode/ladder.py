"""The way down of a U-Net: an image as grids of cells, each half as high and wide as the one before (Ronneberger 2015).

Letters: B images, C channels, h rows and w columns of pixels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from torch import nn
from torch.nn import functional as F

from regard import masks
from regard.grids import Double, halved
from regard.registry import part
from regard.types import Count, Grid, Level, Memory, Modules, Share, Widths


@part("encode", "ladder")
class LadderEncoder(nn.Module):
    """Two convolutions at every size, and what they found is kept for the way up; the memory is the coarsest grid.

    Settings:
        hidden: channels at full size; each size below has twice as many.
        levels: how many sizes there are, the image's own included.
        down: how a grid is halved: the largest of four cells ("pool"), or a convolution in steps of two ("stride").
        dropout: share of the channels of the coarsest grid that are dropped in training.
    """

    sees_images = True

    def __init__(
        self,
        width: int,
        *,
        hidden: Count = 16,
        levels: Count = 4,
        down: Literal["pool", "stride"] = "pool",
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.pools, self.dropout = down == "pool", dropout
        channels = [hidden << level for level in range(levels)]
        steps = [Double(width, hidden)]
        steps += [Double(*pair, stride=1 if self.pools else 2) for pair in pairwise(channels)]
        self.steps: Modules = nn.ModuleList(steps)
        wide = channels[-1]
        self.widths = Widths(keys=wide, values=wide, summary=wide, levels=tuple(channels))

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images; of a grid of odd size the half is rounded up."""
        data, mask = source.data, source.mask
        levels: list[Level] = []
        for step in self.steps:
            if levels:
                mask = halved(mask)
                data = F.max_pool2d(data, 2, ceil_mode=True) if self.pools else data  # nothing is below zero
            data = step(data, mask)
            levels.append(Level(data, mask))
        if self.dropout and self.training:
            data = F.dropout2d(data, self.dropout)
            levels[-1] = Level(data, mask)
        cells, real = data.flatten(2).mT, mask.flatten(1)
        grid = (data.shape[2], data.shape[3])
        return Memory(cells, cells, real, masks.mean(cells, real), grid=grid, levels=tuple(levels))
