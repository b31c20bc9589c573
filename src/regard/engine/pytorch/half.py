"""A model in half precision: bfloat16 weights, states and products, for processors that multiply it faster.

oneDNN makes the code of a product anew for every number of rows, and keeps it. A search, whose rows leave one by one,
has hundreds of such numbers, and the process grows by a gigabyte. So rows are filled up to whole tiles: the product of
a few rows of nothing costs next to nothing, and the same pieces of code serve for all. Of these it keeps 64, where it
would keep a thousand, of half a megabyte each, and PyTorch a thousand more for every thread: a search makes them in a
tenth of a millisecond each, and what was made for the steps before is hardly asked for again.

Matrices are packed once, in the order that oneDNN multiplies them in: else it packs them anew for every product, which
costs a tenth of a vocabulary's product of 250 rows and a quarter of one of 16.
"""

from __future__ import annotations

import os
from typing import Literal, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.fast.static_cache import TILE
from regard.model import Model
from regard.predict.words import Apart, Readout, Table
from regard.sublayers import FeedForward

# What oneDNN and PyTorch's way to it read when they make their first product; who has set them knows better.
KEPT = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64", "LRU_CACHE_CAPACITY": "1"}


def packed(weight: Float[Tensor, "V G"]) -> Tensor | None:
    """A matrix as oneDNN wants it, in an order that it alone can read; None where this build or machine has none."""
    half = weight.dtype == torch.bfloat16 and torch.backends.mkldnn.is_available()
    if not half or not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return None
    return torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), TILE)


def tiled(
    rows: Float[Tensor, "*B G"],
    weight: Float[Tensor, "V G"],
    bias: Float[Tensor, " V"] | None,
    pack: Tensor | None = None,
    after: Literal["none", "relu"] = "none",
) -> Float[Tensor, "*B V"]:
    """`linear`, with rows filled up to whole tiles where there are more than one; `after` it cut at zero, if asked."""
    count = rows.shape[:-1].numel()
    spare = -count % TILE if count > TILE else 0
    if not spare:
        return _product(rows, weight, bias, pack, after)
    flat = F.pad(rows.reshape(count, rows.shape[-1]), (0, 0, 0, spare))
    return _product(flat, weight, bias, pack, after)[:count].view(*rows.shape[:-1], len(weight))


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None, pack: Tensor | None, after: str) -> Tensor:
    if pack is None or not rows.numel():
        found = F.linear(rows, weight, bias)
        return F.relu(found) if after == "relu" else found
    return torch.ops.mkldnn._linear_pointwise(rows, pack, bias, after, [], "")


class TiledLinear(nn.Linear):
    """A linear layer, tile by tile; `parts` are some of its inputs' matrices, each packed when it is first used."""

    pack: Tensor | None
    parts: dict[tuple[int, int], tuple[Tensor, Tensor | None]]

    def forward(self, rows: Float[Tensor, "*B G"]) -> Float[Tensor, "*B V"]:
        """x W + b."""
        return tiled(rows, self.weight, self.bias, self.pack)

    def side(self, rows: Float[Tensor, "*B E"], first: int, last: int, bias: Tensor | None) -> Float[Tensor, "*B V"]:
        """The same for the inputs from `first` to before `last` alone."""
        if (first, last) not in self.parts:
            some = self.weight[:, first:last].contiguous()
            self.parts[first, last] = some, packed(some)
        weight, pack = self.parts[first, last]
        return tiled(rows, weight, bias, pack)


class TiledFeedForward(FeedForward):
    """A feed-forward that is cut at zero as its wide rows are made, not in another pass over them."""

    widen: TiledLinear

    def forward(self, rows: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """Wider, cut at zero, and back."""
        return self.narrow(tiled(rows, self.widen.weight, self.widen.bias, self.widen.pack, "relu"))


class TiledTable(Table):
    """A vocabulary product, tile by tile."""

    def __init__(self, weight: Float[Tensor, "V G"], bias: Float[Tensor, " V"]) -> None:
        super().__init__(weight, bias)
        self.pack = packed(weight)

    def forward(self, ready: Float[Tensor, "*B G"]) -> Float[Tensor, "*B V"]:
        """The score of each of its pieces."""
        return tiled(ready, self.weight, self.bias, self.pack)

    def narrow(self, pieces: Int[Tensor, " U"]) -> TiledTable:
        """The rows of some pieces."""
        return TiledTable(self.weight[pieces], self.bias[pieces])


def in_half_precision(model: Model) -> Model:
    """The model in bfloat16. It can be used, not trained."""
    for name, count in KEPT.items():
        os.environ.setdefault(name, count)
    model.requires_grad_(False).to(torch.bfloat16)
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = TiledLinear
            cast(TiledLinear, module).pack, cast(TiledLinear, module).parts = packed(module.weight), {}
        if type(module) is FeedForward and module.activation == "relu":
            module.__class__ = TiledFeedForward
    readout = getattr(model.predict, "readout", None)
    if isinstance(readout, Readout):
        model.predict.readout = Apart(readout, TiledTable(*readout.product()))
    return model
