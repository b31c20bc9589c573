"""Pixels to numbers around zero."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.fast.channels_last import channels_last
from regard.registry import part
from regard.types import Features, Grid, Positive, Whole


@part("embed", "pixels")
class Pixels(nn.Module):
    """Shift and scale pixels in [0, 1] to numbers around zero; padding becomes exactly zero.

    Settings:
        mean: subtracted from every pixel.
        deviation: what every pixel is then divided by.
        coordinates: pixels over which two further channels, one downwards and one to the right, rise by one from -1 on:
            a convolution then knows where it is (CoordConv, Liu et al. 2018). 0 for no such channels.
    """

    def __init__(self, size: int, *, mean: float = 0.5, deviation: Positive = 0.5, coordinates: Whole = 0) -> None:
        super().__init__()
        self.size = size
        self.width = size + (2 if coordinates else 0)  # an image's width as a vector is its number of channels
        self.mean, self.deviation, self.coordinates = mean, deviation, coordinates

    def forward(self, source: Grid) -> Grid:
        """Normalise a batch of images; the mask stays. What a network made of them before is no pixels."""
        if isinstance(source, Features):
            return source
        data = (source.data - self.mean) / self.deviation
        if self.coordinates:
            data = torch.cat((data, self._places(data)), 1)
        return Grid(channels_last(data * source.mask.unsqueeze(1)), source.mask)

    def _places(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B 2 h w"]:
        """How far down and how far right each pixel is; counted from the upper left, whatever the frame."""
        rows, height, width = len(data), *data.shape[2:]
        down, right = (torch.arange(size, device=data.device) / self.coordinates - 1 for size in (height, width))
        both = torch.stack((down[:, None].expand(height, width), right.expand(height, width)))
        return both.to(data.dtype).expand(rows, 2, height, width)
