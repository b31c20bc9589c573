"""Pixels to numbers around zero."""

from __future__ import annotations

from torch import nn

from regard.registry import part
from regard.types import Grid, Positive


@part("embed", "pixels")
class Pixels(nn.Module):
    """Shift and scale pixels in [0, 1] to numbers around zero; padding becomes exactly zero.

    Settings:
        mean: subtracted from every pixel.
        deviation: what every pixel is then divided by.
    """

    def __init__(self, size: int, *, mean: float = 0.5, deviation: Positive = 0.5) -> None:
        super().__init__()
        self.size = self.width = size  # an image's width as a vector is its number of channels
        self.mean, self.deviation = mean, deviation

    def forward(self, source: Grid) -> Grid:
        """Normalise a batch of images; the mask stays."""
        return Grid((source.data - self.mean) / self.deviation * source.mask.unsqueeze(1), source.mask)
