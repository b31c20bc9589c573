"""An image as a memory: convolutions down to a grid, each cell of which can be attended to."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.encode.norm import CellNorm
from regard.registry import part
from regard.types import Count, Grid, Memory, Modules, Whole, Widths

Norm = Literal["cell", "batch"]


class Shrink(nn.Module):
    """A convolution that halves height and width, or keeps them (`stride` 1).

    It is normalised in each cell by itself, or each number over the real cells of a batch, so padding cannot leak in.
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 2, norm: Norm = "cell") -> None:
        super().__init__()
        self.stride = stride
        self.convolve = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=norm == "cell")
        self.norm: nn.Module = nn.LayerNorm(outputs) if norm == "cell" else CellNorm(outputs)

    def forward(self, data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B i j"]) -> Float[Tensor, "B D i j"]:
        """`mask` is the mask of the result."""
        found = self.convolve(data)
        if isinstance(self.norm, CellNorm):
            return F.relu(self.norm(found, mask)) * mask.unsqueeze(1)
        cells: Float[Tensor, "B D i j"] = self.norm(found.movedim(1, -1)).movedim(-1, 1)
        return F.relu(cells) * mask.unsqueeze(1)


@part("encode", "grid")
class GridEncoder(nn.Module):
    """A small convolution network; the memory is its last grid, row by row, and the summary the grid's mean.

    Settings:
        hidden: the width of the last layer; each layer below has half.
        layers: how many; each halves height and width.
        further: how many follow that keep height and width, and see what is around a cell.
        norm: "cell" normalises the numbers of each cell by themselves, "batch" each number over all cells of a batch.
            Where most of an image is ground, "batch" makes what is rare in it large, and learns the sooner.
        places: cells over which two further numbers of each cell of the memory, one downwards and one to the right,
            rise by one from -1 on: attention then knows where a cell is, whatever the convolutions see. 0 for none.
    """

    sees_images = True

    def __init__(
        self,
        width: int,
        *,
        hidden: Count = 64,
        layers: Count = 3,
        further: Whole = 0,
        norm: Norm = "cell",
        places: Whole = 0,
    ) -> None:
        super().__init__()
        widths = [width] + [max(1, hidden >> (layers - 1 - layer)) for layer in range(layers)]
        shrink = [Shrink(*pair, norm=norm) for pair in pairwise(widths)]
        self.layers: Modules = nn.ModuleList([*shrink, *(Shrink(hidden, hidden, 1, norm) for _ in range(further))])
        self.places = places
        wide = hidden + (2 if places else 0)
        self.widths = Widths(keys=wide, values=wide, summary=wide)

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images."""
        data, mask = source.data, source.mask
        for layer in self.layers:
            mask = mask[:, :: layer.stride, :: layer.stride]
            data = layer(data, mask)
        if self.places:
            where = places_of((data.shape[2], data.shape[3]), self.places, data)
            data = torch.cat((data, where.expand(len(data), -1, -1, -1) * mask.unsqueeze(1)), 1)
        return memory_of(data, mask)


def places_of(grid: tuple[int, int], span: int, like: Tensor) -> Float[Tensor, "2 i j"]:
    """How far down and how far right the middle of each cell is; counted from the upper left, whatever the frame."""
    down, right = ((torch.arange(size, device=like.device) + 0.5) / span - 1 for size in grid)
    both = torch.stack((down[:, None].expand(grid), right.expand(grid)))
    return both.to(like.dtype)


def memory_of(data: Float[Tensor, "B D i j"], mask: Bool[Tensor, "B i j"]) -> Memory:
    """A grid of cells as a memory: row by row, and the mean of all as its summary."""
    cells, real = data.flatten(2).mT, mask.flatten(1)
    return Memory(cells, cells, real, masks.mean(cells, real), grid=(data.shape[2], data.shape[3]))
