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
    """v . tanh(q + k) slice by slice: some rows, or some queries of one row; nothing of size Q x K x A is kept."""

    @staticmethod
    def forward(context: Any, query: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
        context.save_for_backward(query, keys, vector)
        scores = query.new_empty(*query.shape[:2], keys.shape[1])
        for rows, some, pairs in _slices(query, keys):
            torch.mv(pairs.flatten(0, -2), vector, out=scores[rows, some].view(-1))
        return scores

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, keys, vector = context.saved_tensors
        into_query, into_keys = torch.empty_like(query), torch.zeros_like(keys)
        into_vector = torch.zeros_like(vector)
        for rows, some, pairs in _slices(query, keys):
            flat, above = pairs.flatten(0, -2), upstream[rows, some].reshape(-1)
            into_vector.addmv_(flat.mT, above)
            # d tanh = 1 - tanh^2 times what comes from above, in one pass and in place; v is multiplied in at the
            # end, where the sums have made everything small.
            torch.ops.aten.tanh_backward.grad_input(above.unsqueeze(-1).expand_as(flat), flat, grad_input=flat)
            torch.sum(pairs.flatten(0, 1), 1, out=into_query[rows, some].flatten(0, 1))
            into_keys[rows] += pairs[:, 0] if pairs.shape[1] == 1 else pairs.sum(1)
        return into_query.mul_(vector), into_keys.mul_(vector), into_vector


def _slices(query: Tensor, keys: Tensor) -> Iterator[tuple[slice, slice, Float[Tensor, "n q K A"]]]:
    """For some queries at a time, tanh(q + k) with every key; the memory is one slice's, used again.

    A slice is several whole rows, or some queries of one: either way it lies in one piece, as its results do.
    """
    (rows, count, width), pairs = query.shape, keys.shape[1] * keys.shape[2]
    some = min(count, max(1, SLICE // pairs))
    many = min(rows, max(1, SLICE // (count * pairs))) if some == count else 1
    room = query.new_empty(many * some * pairs)
    for row in range(0, rows, many):
        for at in range(0, count, some):
            part = slice(row, row + many), slice(at, at + some)
            asked = query[part].unsqueeze(2)
            out = room[: asked.shape[0] * asked.shape[1] * pairs].view(*asked.shape[:2], keys.shape[1], width)
            yield *part, torch.add(asked, keys[part[0]].unsqueeze(1), out=out).tanh_()


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
