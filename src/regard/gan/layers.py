"""What may stand between two blocks of a generator or a critic, and keeps the grid as it is.

Letters: B images, C channels, h rows and w columns of cells, N = h w cells, K keys, A width of queries and keys, E of
values.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.gan.spectral import Convolution, Linear
from regard.registry import Maker, maker, part
from regard.types import Count

Cells = Float[Tensor, "B C h w"]


@part("layer", "self-attention")
class SelfAttention(nn.Module):
    """y = gamma o + x: every cell looks at all cells, and gamma begins at zero (Zhang et al. 2019, section 3).

    Cell j asks with g(x_j), cells answer with f(x_i), the weights of j are a softmax over i of f(x_i)'g(x_j), and what
    they gather of h(x_i) goes through one more matrix. So a new layer changes nothing, and at first gamma alone learns.

    Settings:
        narrower: by how many times queries and keys are narrower than the grid's channels.
        values_narrower: by how many times values are.
        pool: whether keys and values are the largest of each two by two cells, as in the authors' code.
        attend: how cells look; the paper's is a softmax of the dot product, not divided by anything.
    """

    def __init__(
        self,
        width: int,
        spectral: bool,
        *,
        narrower: Count = 8,
        values_narrower: Count = 2,
        pool: bool = False,
        attend: Maker = maker("attend", "attention", score=maker("score", "dot")),
    ) -> None:
        super().__init__()
        inner, values = inner_widths(width, narrower, values_narrower)
        self.pool = pool
        self.of_query = Linear(width, inner, bias=False, spectral=spectral)
        self.of_key = Linear(width, inner, bias=False, spectral=spectral)
        self.of_value = Linear(width, values, bias=False, spectral=spectral)
        self.attend: Any = attend(inner, inner, values)
        self.out = Linear(values, width, bias=False, spectral=spectral)
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, data: Cells) -> Cells:
        """The grid, and what each cell saw elsewhere."""
        height, width = data.shape[2:]
        cells = data.flatten(2).mT
        keys, values = self.of_key(cells), self.of_value(cells)
        if self.pool:
            keys, values = (_pooled(each, height, width) for each in (keys, values))
        seen = self.attend(self.of_query(cells), self.attend.prepare(keys, values))
        found = self.out(seen.context).mT.unflatten(2, (height, width))
        return data + self.gamma.to(found.dtype) * found


def inner_widths(width: int, narrower: int = 8, values_narrower: int = 2) -> tuple[int, int]:
    """The widths of queries and keys, and of values, in a grid of so many channels."""
    return max(1, width // narrower), max(1, width // values_narrower)


def _pooled(rows: Float[Tensor, "B N A"], height: int, width: int) -> Float[Tensor, "B K A"]:
    """The largest number of each two by two cells."""
    return F.max_pool2d(rows.mT.unflatten(2, (height, width)), 2).flatten(2).mT


@part("layer", "residual")
class EqualResidual(nn.Module):
    """A residual block of as many weights as self-attention: the control, which sees what lies beside a cell alone.

    Bend, narrow, bend, 3 x 3, bend, widen, and a skip. The width inside is the least that has no fewer weights.

    Settings:
        narrower: by how many times queries and keys of the attention in its place would be narrower.
        values_narrower: by how many times its values would be.
    """

    def __init__(self, width: int, spectral: bool, *, narrower: Count = 8, values_narrower: Count = 2) -> None:
        super().__init__()
        inner, values = inner_widths(width, narrower, values_narrower)
        wanted = 2 * width * (inner + values) + 1  # with gamma
        inside = math.ceil((math.sqrt(width**2 + 9 * wanted) - width) / 9)  # 9 m^2 + 2 C m = wanted
        self.narrow = Convolution(width, inside, 1, bias=False, spectral=spectral)
        self.beside = Convolution(inside, inside, 3, bias=False, spectral=spectral)
        self.widen = Convolution(inside, width, 1, bias=False, spectral=spectral)

    def forward(self, data: Cells) -> Cells:
        """The grid, and what each cell makes of itself and of those beside it."""
        found = self.beside(F.relu(self.narrow(F.relu(data))))
        return data + self.widen(F.relu(found))
