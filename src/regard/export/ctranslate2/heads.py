"""The order of heads means nothing, so it may be chosen: the heads that align go to the front of their layer.

CTranslate2 hands out the mean of the first n heads of one layer. Head h owns rows h d .. (h + 1) d of the three
projections and the same columns of the product that joins the heads; moved together, nothing else changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from jaxtyping import Int
from torch import Tensor

from regard.attend.heads import Heads


def heads_first(attend: Heads, first: Sequence[int]) -> Heads:
    """The same attention with these heads at its front, in this order; the others follow in theirs."""
    order = [*first, *(head for head in range(attend.heads) if head not in first)]
    rows = _rows(order, attend.width // attend.heads)
    moved = deepcopy(attend)
    for projection in (moved.of_query, moved.of_key, moved.of_value):
        _reorder(projection.weight, rows, 0)
        if projection.bias is not None:
            _reorder(projection.bias, rows, 0)
    _reorder(moved.join.weight, rows, 1)
    return moved


def _rows(order: Sequence[int], width: int) -> Int[Tensor, " D"]:
    return (torch.tensor(order).unsqueeze(1) * width + torch.arange(width)).flatten()


def _reorder(weight: Tensor, rows: Int[Tensor, " D"], axis: int) -> None:
    weight.data = weight.data.index_select(axis, rows)
