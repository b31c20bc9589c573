"""Images through a network that was trained before, and rests: only what reads its features is learnt."""

from __future__ import annotations

from hashlib import blake2b

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.encode.image import memory_of
from regard.errors import ShapeError
from regard.registry import Maker, maker, part
from regard.types import Features, Grid, Memory, Whole, Widths

TOGETHER = 8  # images that go through a network at once: more are hardly quicker, and take much memory


@part("encode", "frozen")
class FrozenEncoder(nn.Module):
    """The last grid of cells of a network whose weights never change; the memory is that grid, row by row.

    The network is one of kind `network`. Its weights are fetched when a training begins, and lie in the model folder
    with all others. While it is trained with, the features of each image are computed once and kept (`data.features`).
    It wants pixels from 0 to 1: `embed = { part = "pixels", mean = 0.0, deviation = 1.0 }`.

    Settings:
        network: what the features come from.
        hidden: the width of a learnt layer above them; 0 hands the features on as they are.
    """

    sees_images = True

    def __init__(
        self,
        width: int,
        *,
        network: Maker = maker("network", "efficientnet-lite0"),
        hidden: Whole = 0,
    ) -> None:
        super().__init__()
        self.network = network(width).eval().requires_grad_(False)
        self.narrow = nn.Linear(self.network.width, hidden) if hidden else None
        wide = hidden or self.network.width
        self.widths = Widths(keys=wide, values=wide, summary=wide)

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images, or of the features that were made of them."""
        found = source if isinstance(source, Features) else self.features(source)
        if self.narrow is None:
            return memory_of(found.data, found.mask)
        return memory_of(F.relu(self.narrow(found.data.movedim(1, -1))).movedim(-1, 1), found.mask)

    def train(self, mode: bool = True) -> FrozenEncoder:
        """Learn, or do not; the network never does, nor do the statistics of its norms."""
        super().train(mode)
        self.network.eval()
        return self

    @torch.no_grad()
    def features(self, source: Grid) -> Features:
        """What the network makes of a batch of images.

        Images of one size go through it together, without what pads them: a border would leak into the cells next to
        it. The numbers are those that half precision has, which is what is kept of them.
        """
        heights, widths = source.mask.any(2).sum(1).tolist(), source.mask.any(1).sum(1).tolist()
        sizes = list(zip(heights, widths, strict=True))
        cells: dict[int, Float[Tensor, "D i j"]] = {}
        for height, width in dict.fromkeys(sizes):
            alike = [row for row, size in enumerate(sizes) if size == (height, width)]
            for first in range(0, len(alike), TOGETHER):
                rows = alike[first : first + TOGETHER]
                found = self._checked(self.network(source.data[rows, :, :height, :width]), len(rows))
                cells |= dict(zip(rows, found.half().to(source.data.dtype), strict=True))
        down, right = (max(each.shape[axis] for each in cells.values()) for axis in (1, 2))
        data = source.data.new_zeros(len(sizes), self.network.width, down, right)
        mask = source.mask.new_zeros(len(sizes), down, right)
        for row, each in cells.items():
            data[row, :, : each.shape[1], : each.shape[2]] = each
            mask[row, : each.shape[1], : each.shape[2]] = True
        return Features(data, mask)

    def _checked(self, found: Tensor, rows: int) -> Float[Tensor, "B D i j"]:
        if found.dim() != 4 or found.shape[:2] != (rows, self.network.width):
            expected, made = f"{rows} x {self.network.width} x rows x columns", " x ".join(map(str, found.shape))
            raise ShapeError(
                f"the network of encode 'frozen' made {made} numbers; expected {expected}.",
                hint="A network has `width`, and forward(B C h w) gives B width i j.",
            )
        return found

    def digest(self) -> str:
        """The same for the same network with the same weights."""
        told = blake2b(repr(self.network).encode(), digest_size=16)
        for name, weight in sorted(self.network.state_dict().items()):
            told.update(name.encode())
            told.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        return told.hexdigest()

    def fetch(self) -> None:
        """Give the network the weights that it was trained to, if it has not had them from the beginning."""
        fetch = getattr(self.network, "fetch", None)
        if fetch is not None:
            fetch()
