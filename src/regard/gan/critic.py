"""The critic of a GAN: how real an image looks, and how well it fits its class.

Letters: B images, C channels, h rows and w columns of pixels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.fast.channels_last import channels_last
from regard.gan.blocks import Down
from regard.gan.generator import check_place, grids
from regard.gan.spectral import Embedding, Linear
from regard.registry import Maker, part
from regard.task import Spec
from regard.types import Count, Modules


@part("critic", "residual")
class ResidualCritic(nn.Module):
    """Residual blocks that halve an image, one that does not, a sum over the grid, and a linear layer.

    A class has a vector, whose product with the sum is added (projection, Miyato and Koyama 2018).

    Settings:
        widths: the channels of each block, each of which halves the grid; one more of the last width keeps it.
        layer: what stands at a grid in the middle; "none" for nothing.
        at: the height, in cells, of the grid after which the layer stands.
        spectral: whether the largest singular value of each weight is kept at one.
    """

    def __init__(
        self,
        target: Spec,
        classes: int,
        *,
        widths: tuple[Count, ...] = (32, 64, 64),
        layer: Maker | None = None,
        at: Count = 16,
        spectral: bool = True,
    ) -> None:
        super().__init__()
        if not widths:
            raise ShapeError("a critic has one width or more.", hint="Write widths = [32, 64, 64].")
        sizes = grids(target.shape, len(widths), "a critic")
        pairs = list(pairwise((target.size, *widths)))
        blocks = [Down(*pair, spectral, first=not place) for place, pair in enumerate(pairs)]
        self.blocks: Modules = nn.ModuleList([*blocks, Down(widths[-1], widths[-1], spectral, halves=False)])
        self.score = Linear(widths[-1], 1, spectral=spectral)
        self.project = Embedding(classes, widths[-1], spectral=spectral) if classes else None
        heights = [height for height, _ in reversed(sizes[:-1])]
        if layer is not None:
            check_place(at, heights, "the critic")
        self.place = heights.index(at) if layer is not None else None  # of the block before it
        self.layer: Any = None if layer is None else layer(widths[heights.index(at)], spectral)

    def forward(
        self, images: Float[Tensor, "B C h w"], classes: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, " B"]:
        """The higher, the more real."""
        data = channels_last(images)
        for place, block in enumerate(self.blocks):
            data = block(data)
            if place == self.place:
                data = self.layer(data)
        found = F.relu(data).sum((2, 3))
        score: Tensor = self.score(found).squeeze(1)
        return score if self.project is None else score + (self.project(classes) * found).sum(1)
