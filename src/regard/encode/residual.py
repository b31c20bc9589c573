"""A residual attention network: masks that open and close every number of what its trunk sees (Wang et al. 2017).

Letters: B images, C channels, h rows and w columns of pixels, i rows and j columns of cells, D numbers of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.encode.image import memory_of
from regard.encode.units import NARROWER, Activate, Frame, Unit, Units, convolution
from regard.errors import ShapeError, UsageError
from regard.hooks import Looked, Masked, hooked, tell
from regard.registry import part
from regard.types import Count, Grid, Memory, Modules, Whole, Widths

Learning = Literal["residual", "naive", "none"]
Mask = Literal["mixed", "channel", "spatial"]
STEMS = {"small": (3, 1), "large": (7, 2)}  # the first convolution: its kernel and its stride
FORMULAS: dict[Learning, str] = {"residual": "(1 + M) F", "naive": "M F"}
LEAST = 1e-5  # added to a variance that is divided by


@dataclass(frozen=True)
class Wiring:
    """How modules are wired: how many units each of their parts has, of which kind, and what the mask does."""

    before: int = 1
    trunk: int = 2
    between: int = 1
    bottleneck: bool = False
    learning: Learning = "residual"
    mask: Mask = "mixed"
    deeper: bool = False

    def units(self, count: int, width: int) -> Units:
        """So many residual units."""
        return Units(count, width, bottleneck=self.bottleneck)

    def spare(self, poolings: int) -> int:
        """How many units a deeper trunk has in the place of a mask branch.

        Its two convolutions of 1 x 1 are as large as two bottlenecks, or as a ninth of a unit of 3 x 3.
        """
        units = 2 * poolings * self.between + poolings - 1 + (2 if self.bottleneck else 0)
        return units if self.deeper else 0


class MaskBranch(nn.Module):
    """Down to a coarse grid, whose cells see much of the image, and up again: a mask for every number of the trunk.

    On the way down units follow each pool, on the way up they stand before each stretch; a skip of one unit joins grids
    of one size. Two convolutions of 1 x 1 make the mask.
    """

    looks_at = "image"  # what kind of attention this is to who watches

    def __init__(self, width: int, poolings: int, wiring: Wiring) -> None:
        super().__init__()
        self.mask = wiring.mask
        self.down: Modules = nn.ModuleList(wiring.units(wiring.between, width) for _ in range(poolings))
        self.skips: Modules = nn.ModuleList(wiring.units(1, width) for _ in range(poolings - 1))
        self.up: Modules = nn.ModuleList(wiring.units(wiring.between, width) for _ in range(poolings))
        self.activate: Modules = nn.ModuleList(Activate(width) for _ in range(2))
        self.mix, self.open = convolution(width, width, 1), convolution(width, width, 1, bias=True)

    def forward(self, data: Float[Tensor, "B D i j"], frame: Frame) -> Float[Tensor, "B D i j"]:
        """The mask."""
        frames, skipped = [frame], []
        for level, units in enumerate(self.down):
            data, frame = frame.pooled(data), frame.shrunk(2)
            data = units(data, frame)
            if level < len(self.skips):
                skipped.append(self.skips[level](data, frame))
                frames.append(frame)
        for units in self.up:
            data = units(data, frame)
            frame = frames.pop()
            data = frame.spread(data)
            if skipped:
                data = data + skipped.pop()
        mixed = self.mix(self.activate[0](data, frame))
        return self._opened(self.open(self.activate[1](mixed, frame)), frame)

    def _opened(self, data: Float[Tensor, "B D i j"], frame: Frame) -> Float[Tensor, "B D i j"]:
        """Scores as a mask: each by itself; as shares of its cell's length; or beside the others of its channel."""
        if self.mask == "channel":
            return F.normalize(data, dim=1)
        return torch.sigmoid(data if self.mask == "mixed" else _standardised(data, frame))


def _standardised(data: Float[Tensor, "B D i j"], frame: Frame) -> Float[Tensor, "B D i j"]:
    """Less the mean of its channel over the real cells of an image, divided by the deviation."""
    real = frame.mask.unsqueeze(1)
    count = real.sum((2, 3), keepdim=True).clamp(min=1)
    distance = (data - (data * real).sum((2, 3), keepdim=True) / count) * real
    return distance * (distance.square().sum((2, 3), keepdim=True) / count + LEAST).rsqrt()


class AttentionModule(nn.Module):
    """A trunk of residual units, and a mask that opens and closes what it found.

    With F the trunk and M the mask, what comes out is (1 + M) F where learning is "residual", and M F where it is
    "naive"; with "none" it is F, and there is no mask.
    """

    def __init__(self, width: int, poolings: int, wiring: Wiring) -> None:
        super().__init__()
        self.learning = wiring.learning
        self.before = wiring.units(wiring.before, width)
        self.trunk = wiring.units(wiring.trunk + wiring.spare(poolings), width)
        self.branch = None if wiring.learning == "none" else MaskBranch(width, poolings, wiring)
        self.after = wiring.units(wiring.before, width)

    def forward(self, data: Float[Tensor, "B D i j"], frame: Frame) -> Float[Tensor, "B D i j"]:
        """One module; whoever watches hears of the mask, and of the trunk before and after it."""
        data = self.before(data, frame)
        found = self.trunk(data, frame)
        if self.branch is not None:
            found = self._masked(found, self.branch(data, frame), frame)
        return self.after(found, frame)

    def _masked(
        self, trunk: Float[Tensor, "B D i j"], mask: Float[Tensor, "B D i j"], frame: Frame
    ) -> Float[Tensor, "B D i j"]:
        found = trunk * mask if self.learning == "naive" else torch.addcmul(trunk, trunk, mask)
        if hooked(Looked):
            tell(Looked(cast(nn.Module, self.branch), 0, mask.flatten(2)))
        if hooked(Masked):
            tell(Masked(self.branch, trunk, mask, found, frame.mask, FORMULAS[self.learning]))
        return found


@part("encode", "residual")
class ResidualEncoder(nn.Module):
    """A residual network with attention modules (Wang et al. 2017); the memory is its last grid, row by row.

    A stage is a unit that brings the grid to its width and size, perhaps more of them, and modules. A module has units
    before, a trunk and units after; beside the trunk a branch goes down to a coarse grid and up again, and makes a mask
    M for every number of the trunk F. The summary is the grid's mean.

    Settings:
        widths: how many numbers a cell has in each stage.
        strides: how many times smaller the grid of each stage is than the one before.
        units: residual units of each stage, the one that changes the width included; they stand before its modules.
        modules: attention modules of each stage.
        poolings: how often the mask branch of a stage halves its grid.
        stem: the first convolution: "small" is one of 3 x 3, which keeps the size (CIFAR); "large" one of 7 x 7 and a
            pool, which leave a quarter of height and width (ImageNet).
        bottleneck: units of 1 x 1, 3 x 3 and 1 x 1, a quarter as wide inside, in the place of two of 3 x 3.
        before: units of a module before trunk and branch, and as many after them: the paper's p.
        trunk: units of a trunk: the paper's t.
        between: units of a mask branch between two poolings: the paper's r.
        learning: "residual" is (1 + M) F, "naive" M F; "none" is F alone, without a branch.
        mask: "mixed" is a sigmoid of each number; "channel" divides the numbers of a cell by their length; "spatial" is
            a sigmoid of each number beside all others of its channel and image, less their mean, by their deviation.
        deeper: with learning = "none", give a trunk as many units more as the branch would have: a network as large as
            one with masks, to within three hundredths.
    """

    sees_images = True

    def __init__(
        self,
        width: int,
        *,
        widths: tuple[Count, ...] = (16, 32, 64),
        strides: tuple[Count, ...] = (1, 2, 2),
        units: tuple[Count, ...] = (1, 1, 1),
        modules: tuple[Whole, ...] = (0, 1, 1),
        poolings: tuple[Count, ...] = (1, 2, 1),
        stem: Literal["small", "large"] = "small",
        bottleneck: bool = False,
        before: Count = 1,
        trunk: Count = 2,
        between: Count = 1,
        learning: Learning = "residual",
        mask: Mask = "mixed",
        deeper: bool = False,
    ) -> None:
        super().__init__()
        stages = {"widths": widths, "strides": strides, "units": units, "modules": modules, "poolings": poolings}
        _check(stages, learning, deeper)
        wiring = Wiring(before, trunk, between, bottleneck, learning, mask, deeper)
        kernel, self.stride = STEMS[stem]
        inputs = first = max(1, widths[0] // NARROWER) if bottleneck else widths[0]
        self.stem = convolution(width, first, kernel, self.stride)
        self.bring = Activate(first) if stem == "large" else None
        self.layers: Modules = nn.ModuleList()
        for wide, stride, count, some, pools in zip(*stages.values(), strict=True):
            self.layers.append(Unit(inputs, wide, stride, bottleneck=bottleneck))
            self.layers.extend(Unit(wide, wide, bottleneck=bottleneck) for _ in range(count - 1))
            self.layers.extend(AttentionModule(wide, pools, wiring) for _ in range(some))
            inputs = wide
        self.last = Activate(inputs)
        self.widths = Widths(keys=inputs, values=inputs, summary=inputs)

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images."""
        frame = Frame.of(source.mask)
        data, frame = self.stem(source.data), frame.shrunk(self.stride)
        if self.bring is not None:
            data = frame.pooled(self.bring(data, frame))
            frame = frame.shrunk(2)
        for layer in self.layers:
            data, frame = layer(data, frame), frame.shrunk(getattr(layer, "stride", 1))
        return memory_of(self.last(data, frame), frame.mask)


def _check(stages: dict[str, tuple[int, ...]], learning: Learning, deeper: bool) -> None:
    """Refuse stages that are not told alike, and a deeper trunk beside a mask."""
    counts = {name: len(each) for name, each in stages.items()}
    if len(set(counts.values())) > 1 or not counts["widths"]:
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ShapeError(
            f"the encode 'residual' wants one number for each stage: {told}.",
            hint="Write widths, strides, units, modules and poolings with as many numbers as there are stages.",
        )
    if deeper and learning != "none":
        raise UsageError(
            f'deeper = true gives the trunk the units of a mask branch, and learning = "{learning}" has that branch.',
            hint='Write learning = "none", or deeper = false.',
        )
