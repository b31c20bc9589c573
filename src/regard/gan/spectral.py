"""Spectral normalisation (Miyato et al. 2018): each weight is divided by its largest singular value.

The value is found by power iteration, one turn in each forward pass of a training: u <- W v / |W v|, v = W'u / |W'u|,
and sigma = |W v|. Only u is kept; it is a buffer, so that a run goes on with it, and is never moved in use.

Letters: O rows of a weight (its outputs), I columns (all the rest).
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

BEGIN = 5  # turns of the power iteration when a layer is built, so that the first sigma is no accident


class Sigma(nn.Module):
    """The largest singular value of a weight that it is shown again and again while the weight moves a little."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.u: Tensor
        self.register_buffer("u", F.normalize(torch.randn(len(weight)), dim=0))
        for _ in range(BEGIN):
            self._turn(weight.detach().flatten(1))

    def forward(self, weight: Float[Tensor, "O *I"]) -> Float[Tensor, ""]:
        """sigma, through which a gradient flows; u and v are held still for it."""
        matrix = weight.flatten(1)
        with torch.autocast(weight.device.type, enabled=False):
            with torch.no_grad():
                u, v = self._looked(matrix)
            if self.training:
                self.u.copy_(u)
            return u @ (matrix @ v)

    def _looked(self, matrix: Float[Tensor, "O I"]) -> tuple[Float[Tensor, " O"], Float[Tensor, " I"]]:
        v = F.normalize(self.u @ matrix, dim=0)
        return F.normalize(matrix @ v, dim=0), v

    @torch.no_grad()
    def _turn(self, matrix: Float[Tensor, "O I"]) -> None:
        self.u.copy_(self._looked(matrix)[0])


class Convolution(nn.Conv2d):
    """A convolution that keeps height and width; `spectral` divides its weight by the largest singular value."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, *, bias: bool = True, spectral: bool = True) -> None:
        super().__init__(inputs, outputs, kernel, padding=kernel // 2, bias=bias)
        _begin(self)
        self.sigma = Sigma(self.weight) if spectral else None

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D h w"]:
        """The convolution."""
        return self._conv_forward(data, _normed(self), self.bias)


class Linear(nn.Linear):
    """A linear layer; `spectral` divides its weight by the largest singular value."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, spectral: bool = True) -> None:
        super().__init__(inputs, outputs, bias=bias)
        _begin(self)
        self.sigma = Sigma(self.weight) if spectral else None

    def forward(self, rows: Float[Tensor, "*B D"]) -> Float[Tensor, "*B E"]:
        """The product."""
        return F.linear(rows, _normed(self), self.bias)


class Embedding(nn.Embedding):
    """A vector for each class; `spectral` divides all of them by the largest singular value of their table."""

    def __init__(self, classes: int, width: int, *, spectral: bool = True) -> None:
        super().__init__(classes, width)
        nn.init.xavier_uniform_(self.weight)
        self.sigma = Sigma(self.weight) if spectral else None

    def forward(self, numbers: Tensor) -> Float[Tensor, "B D"]:
        """The vectors of some classes."""
        return F.embedding(numbers, _normed(self))


def _begin(layer: Any) -> None:
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def _normed(layer: Any) -> Tensor:
    """The weight to compute with."""
    weight: Tensor = layer.weight
    return weight if layer.sigma is None else weight / layer.sigma(weight)
