"""A model in half precision: bfloat16 weights, states and products, for processors that multiply it faster.

oneDNN makes the code of a product anew for every number of rows, and keeps it. A search, whose rows leave one by one,
has hundreds of such numbers, and the process grows by a gigabyte. So rows are filled up to whole tiles: the product of
a few rows of nothing costs next to nothing, and the same pieces of code serve for all.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.model import Model
from regard.predict.words import Apart, Readout, Table

TILE = 16


def tiled(
    rows: Float[Tensor, "*B G"], weight: Float[Tensor, "V G"], bias: Float[Tensor, " V"] | None
) -> Float[Tensor, "*B V"]:
    """`linear`, with the rows filled up to whole tiles where there are more than one."""
    count = rows.shape[:-1].numel()
    spare = -count % TILE
    if count < TILE or not spare:
        return F.linear(rows, weight, bias)
    flat = F.pad(rows.reshape(count, -1), (0, 0, 0, spare))
    return F.linear(flat, weight, bias)[:count].view(*rows.shape[:-1], -1)


class TiledLinear(nn.Linear):
    """A linear layer, tile by tile."""

    def forward(self, rows: Float[Tensor, "*B G"]) -> Float[Tensor, "*B V"]:
        """x W + b."""
        return tiled(rows, self.weight, self.bias)


class TiledTable(Table):
    """A vocabulary product, tile by tile."""

    def forward(self, ready: Float[Tensor, "*B G"]) -> Float[Tensor, "*B V"]:
        """The score of each of its pieces."""
        return tiled(ready, self.weight, self.bias)

    def narrow(self, pieces: Int[Tensor, " U"]) -> TiledTable:
        """The rows of some pieces."""
        return TiledTable(self.weight[pieces], self.bias[pieces])


def in_half_precision(model: Model) -> Model:
    """The model in bfloat16. It can be used, not trained."""
    model.requires_grad_(False).to(torch.bfloat16)
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = TiledLinear
    readout = getattr(model.predict, "readout", None)
    if isinstance(readout, Readout):
        model.predict.readout = Apart(readout, TiledTable(*readout.product()))
    return model
