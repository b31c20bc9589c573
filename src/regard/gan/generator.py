"""The generator of a GAN: noise, and perhaps a class, to an image.

Letters: B images, Z numbers of noise, C channels, h rows and w columns of pixels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.fast.channels_last import channels_last
from regard.gan.blocks import Up
from regard.gan.norm import ClassNorm
from regard.gan.spectral import Convolution, Linear
from regard.registry import Maker, part
from regard.task import Spec
from regard.types import Count, Modules


def grids(size: tuple[int, ...], halvings: int, what: str) -> list[tuple[int, int]]:
    """The grids of a network, the coarsest first; refuses an image that cannot be halved so often."""
    height, width = size
    if height % 2**halvings or width % 2**halvings:
        raise ShapeError(
            f"{what} of {halvings} blocks that double or halve a grid need an image whose height and width are "
            f"multiples of {2**halvings}; found {height} x {width}.",
            hint="Write another size in [task] target, or fewer widths.",
        )
    return [(height >> step, width >> step) for step in range(halvings, -1, -1)]


def check_place(at: int, heights: list[int], what: str) -> None:
    """Refuse a layer at a grid that a network does not have."""
    if at not in heights:
        raise ShapeError(
            f"at = {at}: {what} has grids of {', '.join(map(str, heights))} rows, and none of {at}.",
            hint=f"Write at = {min(heights, key=lambda each: abs(each - at))}.",
        )


@part("generator", "residual")
class ResidualGenerator(nn.Module):
    """A linear layer to a coarse grid, residual blocks that double it, a convolution and tanh (Miyato and Koyama 2018).

    Settings:
        noise: how many numbers an image is made of.
        widths: the channels of the first grid, then of each block, each of which doubles the grid.
        layer: what stands at a grid in the middle; "none" for nothing.
        at: the height, in cells, of the grid after which the layer stands.
        spectral: whether the largest singular value of each weight is kept at one.
    """

    def __init__(
        self,
        target: Spec,
        classes: int,
        *,
        noise: Count = 128,
        widths: tuple[Count, ...] = (64, 64, 64, 32),
        layer: Maker | None = None,
        at: Count = 16,
        spectral: bool = True,
    ) -> None:
        super().__init__()
        if len(widths) < 2:
            raise ShapeError("a generator has two widths or more.", hint="Write widths = [64, 64, 64, 32].")
        sizes = grids(target.shape, len(widths) - 1, "a generator")
        self.noise, self.grid, self.at = noise, sizes[0], at
        self.first = Linear(noise, widths[0] * sizes[0][0] * sizes[0][1], spectral=spectral)
        self.blocks: Modules = nn.ModuleList(Up(*pair, classes, spectral) for pair in pairwise(widths))
        self.norm = ClassNorm(widths[-1], 0)
        self.last = Convolution(widths[-1], target.size, spectral=spectral)
        heights = [height for height, _ in sizes[1:]]
        if layer is not None:
            check_place(at, heights, "the generator")
        self.layer: Any = None if layer is None else layer(widths[1 + heights.index(at)], spectral)

    def forward(
        self, noise: Float[Tensor, "B Z"], classes: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B C h w"]:
        """Images, each number between -1 and 1."""
        data = channels_last(self.first(noise).unflatten(1, (-1, *self.grid)))
        for block in self.blocks:
            data = block(data, classes)
            if self.layer is not None and data.shape[2] == self.at:
                data = self.layer(data)
        return torch.tanh(self.last(F.relu(self.norm(data, None))))
