"""The way up of a U-Net: every size is asked what is where, the coarser one what it is (Ronneberger 2015).

Letters: B images, C channels, h rows and w columns of cells, N classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.grids import CellNorm, Convolution, Double, UpBilinear, UpTransposed, real_only
from regard.predict.recurrent import refused
from regard.registry import Maker, find, part
from regard.types import Level, Memory, Modules, PixelLogits, Widths

EPSILON = 1e-5


class SingleMerge(nn.Module):
    """A convolution with a bias, each channel of each image normalised by itself, and a learned slope below zero."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.slope = nn.PReLU()

    def forward(self, data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B h w"]) -> Float[Tensor, "B D h w"]:
        """Means are over the cells that are real."""
        found, real = self.convolve(data), mask.unsqueeze(1)
        count = real.sum((2, 3), keepdim=True).clamp(min=1)
        mean = (found * real).sum((2, 3), keepdim=True) / count
        apart = (found - mean) * real
        variance = apart.square().sum((2, 3), keepdim=True) / count
        return self.slope(apart * (variance + EPSILON).rsqrt())


class UpConvolved(nn.Module):
    """Twice as high and wide by a transposed convolution of 3 x 3, normalised over the batch and cut at zero."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolve = nn.ConvTranspose2d(inputs, outputs, 3, stride=2, padding=1, output_padding=1, bias=False)
        self.norm = CellNorm(outputs)

    def forward(self, coarse: Level, mask: Bool[Tensor, "B h w"]) -> Float[Tensor, "B D h w"]:
        """As large as `mask`."""
        larger = self.convolve(coarse.data)[..., : mask.shape[1], : mask.shape[2]]
        return real_only(F.relu(self.norm(larger, mask)), mask)


class Rung(nn.Module):
    """One size: the coarser grid is brought to it, its own skip may pass a gate, and both are merged."""

    def __init__(self, coarse: int, skip: int, gate: nn.Module | None, up: str, merge: str) -> None:
        super().__init__()
        ways: dict[str, type[nn.Module]] = {"transpose": UpTransposed, "convolve": UpConvolved}
        self.up: nn.Module = UpBilinear() if up == "bilinear" else ways[up](coarse, skip)
        self.gate: Any = gate
        merged = skip + (coarse if up == "bilinear" else skip)
        self.merge: nn.Module = (Double if merge == "double" else SingleMerge)(merged, skip)

    def forward(self, coarse: Level, skip: Level, gating: Level) -> tuple[Level, Tensor | None]:
        """What is found at this size, and how far its gate was open."""
        larger, passed, weights = self.up(coarse, skip.mask), skip.data, None
        if self.gate is not None:
            found = self.gate(skip, gating if self.gate.coarse else Level(larger, skip.mask))
            passed, weights = found.data, found.weights
        return Level(self.merge(torch.cat((passed, larger), 1), skip.mask), skip.mask), weights


@part("predict", "ladder")
class LadderDecoder(nn.Module):
    """From the coarsest grid of a ladder up to the pixels, size by size; then a score for each class.

    Settings:
        gate: what each skip must pass; "none" for a plain U-Net. That of full size passes freely but for gates that say
            otherwise.
        up: how a grid is doubled: by a transposed convolution of 2 x 2 ("transpose"), of 3 x 3 with a norm
            ("convolve", as MONAI has it), or by interpolation ("bilinear").
        merge: what joins the two: two convolutions ("double"), or one, normalised by image ("single", as MONAI has it).
        deep: whether every size but the coarsest has scores of its own, which training asks for too.
    """

    attends: ClassVar[bool] = False

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        gate: Maker | None = None,
        up: Literal["transpose", "bilinear", "convolve"] = "transpose",
        merge: Literal["double", "single"] = "double",
        deep: bool = False,
    ) -> None:
        super().__init__()
        refused(attend, "'ladder'")
        channels = memory.levels
        if len(channels) < 2:
            raise ShapeError(
                "a ladder goes up what an encoder went down; this one keeps no two sizes of an image.",
                hint='Write part = "ladder" and levels = 2 or more in [encode].',
            )
        self.rungs: Modules = nn.ModuleList()
        gates = [_gate_of(gate, channels, level, up) for level in range(len(channels) - 1)]
        for level in reversed(range(len(channels) - 1)):
            self.rungs.append(Rung(channels[level + 1], channels[level], gates[level], up, merge))
        asks = any(each is not None and each.coarse for each in gates)
        self.signal = Convolution(channels[-1], channels[-1], kernel=1) if asks else None
        self.score = nn.Conv2d(channels[0], size, 1)
        coarser = channels[1:-1] if deep else ()
        self.scores: Modules = nn.ModuleList(nn.Conv2d(each, size, 1) for each in coarser)

    def segment(self, memory: Memory) -> PixelLogits:
        """The score of each class at each pixel, by the name that goals ask for."""
        return self(memory)

    def forward(self, memory: Memory) -> PixelLogits:
        """The score of each class at each pixel."""
        *skips, found = memory.levels
        gating = found if self.signal is None else Level(self.signal(found.data, found.mask), found.mask)
        gates: list[Tensor] = []
        finer: list[Level] = []  # finest first
        for rung, skip in zip(self.rungs, reversed(skips), strict=True):
            found, weights = rung(found, skip, gating)
            gating = found
            finer.insert(0, found)
            gates += [] if weights is None else [weights]
        wanted = zip(self.scores, finer[1:], strict=True) if self.training and self.scores else ()
        deep = tuple(score(each.data) for score, each in wanted)
        return PixelLogits(self.score(found.data), tuple(gates), deep)


def _gate_of(gate: Maker | None, channels: Sequence[int], level: int, up: str) -> Any:
    """The gate of a size, where it has one, made for what it says that it is asked with."""
    if gate is None:
        return None
    kind: Any = find(gate.kind, gate.name)
    if not level and not kind.top:
        return None
    skip, coarse = channels[level], channels[level + 1]
    return gate(skip, coarse if kind.coarse or up == "bilinear" else skip)
