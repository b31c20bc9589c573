"""What networks over grids of cells have in common, on their way down and up; some cells may be padding.

Letters: B images, h rows and w columns of cells, C or D channels of a cell; i and j are h and w halved, rounded up.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.masks import is_open
from regard.types import Level

Up = Literal["transpose", "bilinear"]


class CellNorm(nn.Module):
    """Batch normalisation over the cells that are real: padding is in no mean, and stays zero."""

    def __init__(self, width: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, data: Float[Tensor, "B D i j"], mask: Bool[Tensor, "B i j"]) -> Float[Tensor, "B D i j"]:
        """Of one cell alone there is no variance: it is normalised as in use."""
        if bool(mask.all()):
            return self.whole(data)
        cells = data.movedim(1, -1)
        rows = cells.reshape(-1, cells.shape[-1])
        places = mask.flatten().nonzero().squeeze(1)  # whole rows by their number: twice as fast as by the mask
        real = self._normed(rows.index_select(0, places), len(places))
        return torch.zeros_like(rows, dtype=real.dtype).index_copy(0, places, real).view(cells.shape).movedim(-1, 1)

    def whole(self, data: Float[Tensor, "B D i j"]) -> Float[Tensor, "B D i j"]:
        """Of a grid all of which is known to be real, so that no mask need be looked at."""
        return self._normed(data, data.numel() // data.shape[1])

    def _normed(self, cells: Tensor, count: int) -> Tensor:
        training = self.training and count > 1
        return F.batch_norm(cells, self.mean, self.variance, self.weight, self.bias, training, self.momentum)


class Convolution(nn.Module):
    """A convolution of 3 x 3 (or of one cell), normalised over the batch, cut at zero; `stride` 2 halves the grid."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)
        self.norm = CellNorm(outputs)
        nn.init.kaiming_normal_(self.convolve.weight, nonlinearity="relu")

    def forward(self, data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B _ _"]) -> Float[Tensor, "B D _ _"]:
        """`mask` is that of the result; padding stays zero."""
        return real_only(F.relu(self.norm(self.convolve(data), mask)), mask)


class Double(nn.Module):
    """Two convolutions, one on the other: what a U-Net has at every size."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first, self.second = Convolution(inputs, outputs, stride=stride), Convolution(outputs, outputs)

    def forward(self, data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B _ _"]) -> Float[Tensor, "B D _ _"]:
        """`mask` is that of the result."""
        return self.second(self.first(data, mask), mask)


class UpTransposed(nn.Module):
    """Twice as high and wide by a transposed convolution (2 x 2), as Ronneberger 2015 has it."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolve = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)

    def forward(self, coarse: Level, mask: Bool[Tensor, "B h w"]) -> Float[Tensor, "B D h w"]:
        """As large as `mask`, which may be a row and a column less than twice as large."""
        return real_only(cut(self.convolve(coarse.data), mask), mask)


class UpBilinear(nn.Module):
    """Twice as high and wide, numbers between cells drawn smoothly, and no weights; the channels stay."""

    def forward(self, coarse: Level, mask: Bool[Tensor, "B h w"]) -> Float[Tensor, "B C h w"]:
        """As large as `mask`."""
        return real_only(cut(doubled(coarse.data, coarse.mask), mask), mask)


def real_only(data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B h w"]) -> Float[Tensor, "B C h w"]:
    """Zero where there is padding."""
    return data if is_open(mask.flatten()) else data * mask.unsqueeze(1)


def cut(data: Float[Tensor, "B C _ _"], mask: Bool[Tensor, "B h w"]) -> Float[Tensor, "B C h w"]:
    """As large as `mask`: a grid of odd size, halved and doubled, is one too large."""
    return data[..., : mask.shape[1], : mask.shape[2]]


def halved(mask: Bool[Tensor, "B h w"]) -> Bool[Tensor, "B i j"]:
    """Which cells are real of a grid half as high and wide, rounded up: those that have a real one among them."""
    return mask[:, ::2, ::2]


def doubled(data: Float[Tensor, "B C i j"], mask: Bool[Tensor, "B i j"]) -> Float[Tensor, "B C 2*i 2*j"]:
    """Twice as high and wide, bilinear; padding is in no mean, so that it bounds as the edge of an image does."""

    def larger(grid: Tensor) -> Tensor:
        return F.interpolate(grid, scale_factor=2.0, mode="bilinear", align_corners=False)

    if is_open(mask.flatten()):
        return larger(data)
    real = mask.unsqueeze(1).to(data.dtype)
    return larger(data * real) / larger(real).clamp(min=1 / 16)
