"""The additive score v . tanh(W q + U k) (Bahdanau 2014; Luong's concat is the same with one wide matrix).

Written plainly it makes a tensor of B x Q x K x A numbers, keeps it for the backward pass, and is bound by
memory. `additive` goes over the queries in slices that stay in the processor's cache, keeps none of them, and
computes each again on the way back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.attend.score import Keys, Queries, Score, Scores
from regard.registry import part
from regard.types import Whole

# Numbers in a slice: about a megabyte of float32, which a core's cache holds. Below four slices, plain is best.
SLICE = 1 << 18


def plain_additive(query: Queries, keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k), all pairs at once."""
    return torch.tanh(query.unsqueeze(-2) + keys.unsqueeze(-3)) @ vector


def additive(query: Float[Tensor, "*B Q A"], keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k) for projected queries and keys, in memory that does not hold all pairs."""
    pairs = query.numel() * keys.shape[-2]
    if pairs < 4 * SLICE:
        return plain_additive(query, keys, vector)
    rows, count, width = query.shape[:-2].numel(), query.shape[-2], query.shape[-1]
    found = _Additive.apply(
        query.reshape(rows, count, width),
        keys.expand(*query.shape[:-2], *keys.shape[-2:]).reshape(rows, -1, width),
        vector,
    )
    return found.reshape(*query.shape[:-1], keys.shape[-2])


class _Additive(torch.autograd.Function):
    """v . tanh(q + k) row by row, slice by slice of queries; nothing of size Q x K x A is kept."""

    @staticmethod
    def forward(context: Any, query: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
        context.save_for_backward(query, keys, vector)
        scores = query.new_empty(*query.shape[:2], keys.shape[1])
        for row, some, pairs in _slices(query, keys):
            torch.mv(pairs.flatten(0, 1), vector, out=scores[row, some].view(-1))
        return scores

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, keys, vector = context.saved_tensors
        into_query, into_keys = torch.empty_like(query), torch.zeros_like(keys)
        into_vector = torch.zeros_like(vector)
        upstream = upstream.contiguous()
        for row, some, pairs in _slices(query, keys):
            above = upstream[row, some]
            into_vector.addmv_(pairs.flatten(0, 1).mT, above.reshape(-1))
            # d tanh = 1 - tanh^2 times what comes from above, in one pass and in place; v is multiplied in at the
            # end, where the sums have made everything small.
            torch.ops.aten.tanh_backward.grad_input(above.unsqueeze(-1).expand_as(pairs), pairs, grad_input=pairs)
            torch.sum(pairs, 1, out=into_query[row, some])
            into_keys[row] += pairs.sum(0)
        return into_query.mul_(vector), into_keys.mul_(vector), into_vector


def _slices(query: Tensor, keys: Tensor) -> Iterator[tuple[int, slice, Tensor]]:
    """For some queries of a row at a time, tanh(q + k) with every key; the memory is one slice's, used again."""
    count = query.shape[1]
    step = min(count, max(1, SLICE // (keys.shape[1] * keys.shape[2])))
    room = query.new_empty(step, *keys.shape[1:])
    for row in range(query.shape[0]):
        for at in range(0, count, step):
            asked = query[row, at : at + step]
            pairs = torch.add(asked.unsqueeze(1), keys[row], out=room[: asked.shape[0]]).tanh_()
            yield row, slice(at, at + step), pairs


@part("score", "additive")
class Additive(Score):
    """v . tanh(W q + U k): a small network judges each pair (Bahdanau 2014).

    Settings:
        hidden: the width of the network; 0 takes the width of the keys.
        uniform: begin as the paper does, with v zero, so that attention starts out exactly uniform.
    """

    def __init__(self, query: int, key: int, *, hidden: Whole = 0, uniform: bool = False) -> None:
        super().__init__()
        width = hidden or key
        self.of_query = nn.Linear(query, width)
        self.of_key = nn.Linear(key, width, bias=False)
        self.vector = nn.Parameter(torch.zeros(width) if uniform else torch.empty(width).uniform_(-1, 1) * width**-0.5)

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """U k, once per sentence."""
        return self.of_key(keys)

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """v . tanh(W q + U k)."""
        return additive(self.of_query(query), keys, self.vector)
