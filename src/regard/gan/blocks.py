"""Residual blocks that double or halve a grid. The skip changes size where it has the fewest numbers to multiply.

Letters: B images, C channels in and D out, h rows and w columns of cells.
"""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.gan.norm import ClassNorm
from regard.gan.spectral import Convolution

Cells = Float[Tensor, "B C h w"]


def doubled(data: Cells) -> Float[Tensor, "B C i j"]:
    """Each cell as two by two."""
    return F.interpolate(data, scale_factor=2.0, mode="nearest")


def halved(data: Cells) -> Float[Tensor, "B C i j"]:
    """The mean of each two by two cells."""
    return F.avg_pool2d(data, 2)


class Up(nn.Module):
    """Norm, bend, double, convolve, norm, bend, convolve; and a skip."""

    def __init__(self, inputs: int, outputs: int, classes: int, spectral: bool) -> None:
        super().__init__()
        self.first_norm, self.second_norm = ClassNorm(inputs, classes), ClassNorm(outputs, classes)
        self.first = Convolution(inputs, outputs, spectral=spectral)
        self.second = Convolution(outputs, outputs, spectral=spectral)
        self.skip = Convolution(inputs, outputs, 1, spectral=spectral)

    def forward(self, data: Cells, classes: Int[Tensor, " B"] | None) -> Float[Tensor, "B D i j"]:
        """Twice the height and the width."""
        found = self.first(doubled(F.relu(self.first_norm(data, classes))))
        found = self.second(F.relu(self.second_norm(found, classes)))
        return found + doubled(self.skip(data))


class Down(nn.Module):
    """Bend, convolve, bend, convolve, halve; and a skip. The `first` of a critic does not bend the pixels it is given.

    `halves` is false in the last, which keeps the grid; it has no convolution on its skip where no width changes.
    """

    def __init__(self, inputs: int, outputs: int, spectral: bool, *, first: bool = False, halves: bool = True) -> None:
        super().__init__()
        self.is_first, self.halves = first, halves
        self.first = Convolution(inputs, outputs, spectral=spectral)
        self.second = Convolution(outputs, outputs, spectral=spectral)
        changes = halves or inputs != outputs
        self.skip = Convolution(inputs, outputs, 1, spectral=spectral) if changes else None

    def forward(self, data: Cells) -> Float[Tensor, "B D i j"]:
        """Half the height and the width, or the same."""
        found = self.second(F.relu(self.first(data if self.is_first else F.relu(data))))
        skip = halved(data) if self.halves else data
        skip = skip if self.skip is None else self.skip(skip)
        return (halved(found) if self.halves else found) + skip
