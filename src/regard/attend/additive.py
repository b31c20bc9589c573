"""The additive score v . tanh(W q + U k) (Bahdanau 2014; Luong's concat is the same with one wide matrix).

Written plainly it makes a tensor of B x Q x K x A numbers, keeps it for the backward pass, and is bound by
memory. `additive` goes over the pairs in slices that stay in the processor's cache, keeps none of them, and
computes each again on the way back. A decoder that asks step by step keeps them at every step: T x K x A numbers
in all, which is little in short sentences, and gigabytes in long ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from threading import local
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.attend.score import Keys, Queries, Score, Scores
from regard.registry import part
from regard.types import Whole

# Numbers in a slice: about a megabyte of float32, which a core's cache holds. Below four slices plain is fastest, but
# who learns keeps all pairs, and with more keys than LONG there are as many steps that do.
SLICE = 1 << 18
LONG = 128


def plain_additive(query: Queries, keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k), all pairs at once."""
    return (query.unsqueeze(-2) + keys.unsqueeze(-3)).tanh_() @ vector


def additive(query: Float[Tensor, "*B Q A"], keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k) for projected queries and keys, in memory that does not hold all pairs."""
    length = keys.shape[-2]
    pairs, keeps = query.numel() * length, torch.is_grad_enabled() and length > LONG
    if not pairs or (pairs < 4 * SLICE and not keeps):
        return plain_additive(query, keys, vector)
    rows, count, width = query.shape[:-2].numel(), query.shape[-2], query.shape[-1]
    found = _Additive.apply(
        query.reshape(rows, count, width),
        keys.expand(*query.shape[:-2], *keys.shape[-2:]).reshape(rows, length, width),
        vector,
    )
    return found.reshape(*query.shape[:-1], length)


class _Additive(torch.autograd.Function):
    """v . tanh(q + k) slice by slice; nothing of size Q x K x A is kept."""

    @staticmethod
    def forward(context: Any, query: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
        context.save_for_backward(query, keys, vector)
        scores = query.new_empty(*query.shape[:2], keys.shape[1])
        for rows, some, near, pairs in _slices(query, keys):
            torch.mv(pairs.flatten(0, -2), vector, out=scores[rows, some, near].view(-1))
        return scores

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, keys, vector = context.saved_tensors
        into_query, into_keys, into_vector = (torch.zeros_like(each) for each in (query, keys, vector))
        for rows, some, near, pairs in _slices(query, keys):
            flat, above = pairs.flatten(0, -2), upstream[rows, some, near].reshape(-1)
            into_vector.addmv_(flat.mT, above)
            # d tanh = 1 - tanh^2 times what comes from above, in one pass and in place; v is multiplied in at the
            # end, where the sums have made everything small.
            torch.ops.aten.tanh_backward.grad_input(above.unsqueeze(-1).expand_as(flat), flat, grad_input=flat)
            into_query[rows, some] += pairs.sum(2)
            into_keys[rows, near] += pairs[:, 0] if pairs.shape[1] == 1 else pairs.sum(1)
        return into_query.mul_(vector), into_keys.mul_(vector), into_vector


def _slices(query: Tensor, keys: Tensor) -> Iterator[tuple[slice, slice, slice, Float[Tensor, "n q k A"]]]:
    """Some rows, queries and keys at a time, and tanh(q + k) of all their pairs; the memory is one slice's, used again.

    A slice is several whole rows, some queries of one, or some keys of one query: it lies in one piece, as its results.
    """
    (rows, count, width), length = query.shape, keys.shape[1]
    near = min(length, max(1, SLICE // width))
    some = min(count, max(1, SLICE // (length * width)))
    many = min(rows, max(1, SLICE // (count * length * width)))
    room = _room.of(query, many * some * near * width)
    for row in range(0, rows, many):
        for at in range(0, count, some):
            for key in range(0, length, near):
                part = slice(row, row + many), slice(at, at + some), slice(key, key + near)
                asked, told = query[part[:2]].unsqueeze(2), keys[part[0], part[2]].unsqueeze(1)
                shape = (*asked.shape[:2], told.shape[2], width)
                out = room[: math.prod(shape)].view(shape)
                yield *part, torch.add(asked, told, out=out).tanh_()


class _Room(local):
    """The memory of a slice, kept from call to call, one for each thread.

    Taken anew at every step of a decoder, it would lie behind the small tensors that each step leaves for the way back:
    what is given back between them is too small for the next slice, and a process grows by one at every step.
    """

    kept: Tensor | None = None

    def of(self, like: Tensor, count: int) -> Float[Tensor, " n"]:
        """Room for so many numbers of the kind."""
        kept = self.kept
        if kept is None or len(kept) < count or (kept.dtype, kept.device) != (like.dtype, like.device):
            with torch.inference_mode(False):  # who learns may not write into what was made for inference
                self.kept = kept = torch.empty(max(count, SLICE), dtype=like.dtype, device=like.device)
        return kept


_room = _Room()


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
