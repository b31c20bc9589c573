"""An image as a memory: convolutions down to a grid, each cell of which can be attended to."""

from __future__ import annotations

from itertools import pairwise

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.registry import part
from regard.types import Count, Grid, Memory, Modules, Whole, Widths


class Shrink(nn.Module):
    """A convolution that halves height and width, or keeps them (`stride` 1).

    It is normalised in each cell by itself, so padding cannot leak in.
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 2) -> None:
        super().__init__()
        self.stride = stride
        self.convolve = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1)
        self.norm = nn.LayerNorm(outputs)

    def forward(self, data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B i j"]) -> Float[Tensor, "B D i j"]:
        """`mask` is the mask of the result."""
        cells = self.norm(self.convolve(data).movedim(1, -1)).movedim(-1, 1)
        return F.relu(cells) * mask.unsqueeze(1)


@part("encode", "grid")
class GridEncoder(nn.Module):
    """A small convolution network; the memory is its last grid, row by row, and the summary the grid's mean.

    Settings:
        hidden: the width of the last layer; each layer below has half.
        layers: how many; each halves height and width.
        further: how many follow that keep height and width, and see what is around a cell.
    """

    sees_images = True

    def __init__(self, width: int, *, hidden: Count = 64, layers: Count = 3, further: Whole = 0) -> None:
        super().__init__()
        widths = [width] + [max(1, hidden >> (layers - 1 - layer)) for layer in range(layers)]
        shrink = [Shrink(*pair) for pair in pairwise(widths)]
        self.layers: Modules = nn.ModuleList([*shrink, *(Shrink(hidden, hidden, 1) for _ in range(further))])
        self.widths = Widths(keys=hidden, values=hidden, summary=hidden)

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images."""
        data, mask = source.data, source.mask
        for layer in self.layers:
            mask = mask[:, :: layer.stride, :: layer.stride]
            data = layer(data, mask)
        return memory_of(data, mask)


def memory_of(data: Float[Tensor, "B D i j"], mask: Bool[Tensor, "B i j"]) -> Memory:
    """A grid of cells as a memory: row by row, and the mean of all as its summary."""
    cells, real = data.flatten(2).mT, mask.flatten(1)
    return Memory(cells, cells, real, masks.mean(cells, real), grid=(data.shape[2], data.shape[3]))
