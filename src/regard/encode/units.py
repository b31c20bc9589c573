"""Residual units over grids of cells, some of which are padding.

Letters: B images, i rows and j columns of cells, C channels, D numbers of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.encode.norm import CellNorm

NARROWER = 4  # how many times narrower a bottleneck is inside


@dataclass(frozen=True)
class Frame:
    """Which cells of a grid are real, and whether all of them are: then nothing need be hidden."""

    mask: Bool[Tensor, "B i j"]
    whole: bool

    @classmethod
    def of(cls, mask: Bool[Tensor, "B i j"]) -> Frame:
        """The frame of a mask."""
        return cls(mask, bool(mask.all()))

    def shrunk(self, stride: int) -> Frame:
        """Of a grid of every `stride`-th row and column."""
        return self if stride == 1 else Frame(self.mask[:, ::stride, ::stride], self.whole)

    def pooled(self, data: Float[Tensor, "B D i j"]) -> Float[Tensor, "B D k l"]:
        """The largest of 3 x 3 real cells around every second one: of the frame `shrunk(2)`."""
        if self.whole:
            return F.max_pool2d(data, 3, 2, 1)
        low = torch.finfo(data.dtype).min  # else padding, which holds anything, might be the largest
        found = F.max_pool2d(data.masked_fill(~self.mask.unsqueeze(1), low), 3, 2, 1)
        return found * self.shrunk(2).mask.unsqueeze(1)

    def spread(self, data: Float[Tensor, "B D k l"]) -> Float[Tensor, "B D i j"]:
        """A smaller grid stretched over this one: its corners come to lie on the corners of what is real here."""
        size = (self.mask.shape[1], self.mask.shape[2])
        if self.whole:
            return F.interpolate(data, size, mode="bilinear", align_corners=True)
        below = self.shrunk(2).mask
        down = _stretch(below.any(2).sum(1), self.mask.any(2).sum(1), (data.shape[2], size[0]))
        right = _stretch(below.any(1).sum(1), self.mask.any(1).sum(1), (data.shape[3], size[1]))
        return torch.einsum("bik,bdkl,bjl->bdij", down.to(data.dtype), data, right.to(data.dtype))


def _stretch(inputs: Tensor, outputs: Tensor, sizes: tuple[int, int]) -> Float[Tensor, "B O I"]:
    """How much of each of so many places goes to each of more, linearly: the first to the first, the last to the last.

    `inputs` and `outputs` are how many are real in each row, `sizes` how many there are with padding.
    """
    step = (inputs - 1) / (outputs - 1).clamp(min=1)
    found, given = torch.arange(sizes[1], device=inputs.device), torch.arange(sizes[0], device=inputs.device)
    return (1 - (found[:, None] * step[:, None, None] - given).abs()).clamp(min=0)


class Activate(nn.Module):
    """Normalised over the real cells of a batch, then cut at zero; padding becomes zero."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = CellNorm(width)

    def forward(self, data: Float[Tensor, "B D i j"], frame: Frame) -> Float[Tensor, "B D i j"]:
        """Every cell."""
        return F.relu_(self.norm.whole(data) if frame.whole else self.norm(data, frame.mask))


class Unit(nn.Module):
    """A residual unit whose norms and cuts stand before its convolutions (He et al. 2016).

    Two convolutions of 3 x 3; as a `bottleneck` one of 3 x 3 between two of 1 x 1, a quarter as wide. Where the width
    or the grid changes, the skip is a convolution of 1 x 1.
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 1, *, bottleneck: bool = False) -> None:
        super().__init__()
        self.stride = stride
        inner = max(1, outputs // NARROWER)
        shapes = [(inputs, outputs, 3, stride), (outputs, outputs, 3, 1)]
        if bottleneck:
            shapes = [(inputs, inner, 1, 1), (inner, inner, 3, stride), (inner, outputs, 1, 1)]
        self.activate = nn.ModuleList(Activate(each[0]) for each in shapes)
        self.convolve = nn.ModuleList(convolution(*each) for each in shapes)
        self.skip = None if inputs == outputs and stride == 1 else convolution(inputs, outputs, 1, stride)

    def forward(self, data: Float[Tensor, "B C i j"], frame: Frame) -> Float[Tensor, "B D k l"]:
        """`frame` is that of what is given; what is made has `frame.shrunk(stride)`."""
        active = found = self.activate[0](data, frame)
        for place, convolve in enumerate(self.convolve):
            if place:
                found = self.activate[place](found, frame)
            found = convolve(found)
            frame = frame.shrunk(convolve.stride[0])  # type: ignore[index,arg-type]
        return found + (data if self.skip is None else self.skip(active))


class Units(nn.ModuleList):
    """Some residual units, one after the other."""

    def __init__(self, count: int, width: int, *, bottleneck: bool = False) -> None:
        super().__init__(Unit(width, width, bottleneck=bottleneck) for _ in range(count))

    def forward(self, data: Float[Tensor, "B D i j"], frame: Frame) -> Float[Tensor, "B D i j"]:
        """All of them."""
        for unit in self:
            data = unit(data, frame)
        return data


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, *, bias: bool = False) -> nn.Conv2d:
    """A convolution that keeps the frame, or makes it `stride` times smaller; weights as He et al. (2015) draw them."""
    made = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=bias)
    nn.init.kaiming_normal_(made.weight, mode="fan_out", nonlinearity="relu")
    return made
