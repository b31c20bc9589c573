"""Batch normalisation in a generator: with a scale and a shift for each channel, or for each channel of each class."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn


class ClassNorm(nn.Module):
    """Batch normalisation; where there are classes, each has its own scales and shifts (Dumoulin et al. 2017)."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(width, affine=not classes)
        self.scale = nn.Embedding(classes, width) if classes else None
        self.shift = nn.Embedding(classes, width) if classes else None
        if self.scale is not None and self.shift is not None:
            nn.init.ones_(self.scale.weight)
            nn.init.zeros_(self.shift.weight)

    def forward(self, data: Float[Tensor, "B C h w"], classes: Int[Tensor, " B"] | None) -> Float[Tensor, "B C h w"]:
        """Normalised over the batch in training, by what was seen in training in use."""
        found: Tensor = self.norm(data)
        if self.scale is None or self.shift is None:
            return found
        scale, shift = (table(classes)[:, :, None, None] for table in (self.scale, self.shift))
        return found * scale.to(found.dtype) + shift.to(found.dtype)
