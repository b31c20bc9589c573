"""Large images by tiles: cut with overlap, and joined so that no seam is seen.

Tiles begin at whole cells of the coarsest grid, so that every tile is halved as the whole image would be. In what two
tiles share, the outer quarter of each counts for nothing, for there a network misses what lies beyond the cut; between,
one fades into the other. Where its receptive field ends within that quarter, an image by tiles is the image at once.

Letters: N classes, H rows and W columns of pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import UsageError


@dataclass(frozen=True)
class Tiling:
    """How large tiles are and how much of them they share, in pixels; `unit` of a ladder is its coarsest cell."""

    tile: int = 512
    overlap: int = 128

    def check(self, unit: int) -> None:
        """Refuse tiles that a model cannot be asked of."""
        if self.tile < 2 * unit or not 0 <= self.overlap <= self.tile // 2:
            raise UsageError(
                f"expected tiles of at least {2 * unit} pixels that overlap by at most half of that; found "
                f"{self.tile} and {self.overlap}.",
                hint="Write --tile 512 --overlap 128, say.",
            )

    def cut(self, length: int, unit: int) -> list[tuple[int, int]]:
        """Where tiles begin and end along a side: one tile where the side is not longer."""
        if length <= self.tile:
            return [(0, length)]
        step = max(unit, (self.tile - self.overlap) // unit * unit)
        starts = range(0, max(1, length - self.overlap), step)
        return [(start, min(length, start + self.tile)) for start in starts]

    def places(self, height: int, width: int, unit: int) -> Iterator[tuple[slice, slice]]:
        """Rows and columns of every tile of an image."""
        for top, bottom in self.cut(height, unit):
            for left, right in self.cut(width, unit):
                yield slice(top, bottom), slice(left, right)

    def weights(self, place: tuple[slice, slice], height: int, width: int) -> Float[Tensor, "_ _"]:
        """How much each pixel of a tile counts: nothing at a cut, all in the middle."""
        rows, columns = (self._fade(each, length) for each, length in zip(place, (height, width), strict=True))
        return rows[:, None] * columns[None]

    def _fade(self, place: slice, length: int) -> Float[Tensor, " _"]:
        start, end = int(place.start), int(place.stop)
        found = torch.ones(end - start, dtype=torch.float64)
        outer, fading = self.overlap // 4, max(1, self.overlap // 2)
        ramp = ((torch.arange(end - start) - outer + 0.5) / fading).clamp(1e-9, 1).double()
        if start > 0:
            found = torch.minimum(found, ramp)
        if end < length:
            found = torch.minimum(found, ramp.flip(0))
        return found


class Blend:
    """The sum of tiles by their weights, divided by the sum of these."""

    def __init__(self, channels: int, height: int, width: int) -> None:
        self.sums = torch.zeros(channels, height, width)
        self.weights = torch.zeros(height, width, dtype=torch.float64)

    def add(self, place: tuple[slice, slice], found: Float[Tensor, "N _ _"], weights: Float[Tensor, "_ _"]) -> None:
        """One tile."""
        self.sums[:, *place] += found * weights.float()
        self.weights[place] += weights

    def whole(self) -> Float[Tensor, "N H W"]:
        """All tiles as one."""
        return self.sums / self.weights.float()
