"""The additive score v . tanh(W q + U k) (Bahdanau 2014; Luong's concat is the same with one wide matrix).

Written plainly it takes a hyperbolic tangent of every number of every pair, B x Q x K x A of them, and most of the time
of a small recurrent model goes there. But tanh x = 1 - 2 / (1 + e^2x), and e^2(q + k) = e^2q e^2k: the powers are made
once for a query and once for a key, and a pair costs a product and a reciprocal. What is worked out for each pair is

    share = 1 / (1 + e^2q e^2k)        v . tanh(q + k) = sum v - 2 v . share        d share / d q = -2 share (1 - share)

Shares of short sentences are kept for the way back. Of long ones they would be gigabytes over all steps of a decoder:
there they are made in slices that stay in the processor's cache, and made again on the way back.

Letters: R rows (sentences, heads), Q queries, K keys, A numbers of a projected query or key.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from threading import local
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.attend.score import Keys, Queries, Score, Scores
from regard.registry import part
from regard.types import Positive, Whole

# Numbers in a slice: about a megabyte of float32, which a core's cache holds.
SLICE = 1 << 18
# Shares are kept of so many numbers at most, and of so few keys: a decoder has about as many steps as keys.
KEPT = 1 << 22
LONG = 64
# What may be projected: e^2x of more is infinite in float32. A tanh is 1 from 10 on.
LIMIT = 43.0


def plain_additive(query: Queries, keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k), all pairs at once, as it is written."""
    return (query.unsqueeze(-2) + keys.unsqueeze(-3)).tanh_() @ vector


def additive(query: Float[Tensor, "*B Q A"], keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k) for projected queries and keys; numbers beyond 43 count as 43."""
    return of_powers(powers(query), powers(keys), vector)


def powers(rows: Float[Tensor, "*N A"]) -> Float[Tensor, "*N A"]:
    """e^2x, for `of_powers`, which sends back the gradient of x itself: that of the power may be beyond all numbers."""
    return _powers(rows) if torch.compiler.is_compiling() else _Powers.apply(rows)


def of_powers(query: Float[Tensor, "*B Q A"], keys: Keys, vector: Float[Tensor, " A"]) -> Scores:
    """v . tanh(q + k), given e^2q and e^2k of `powers`."""
    if torch.compiler.is_compiling():  # a graph for elsewhere has plain operations
        return vector.sum() - 2 * ((1 + query.unsqueeze(-2) * keys.unsqueeze(-3)).reciprocal() @ vector)
    rows, (count, width), length = query.shape[:-2].numel(), query.shape[-2:], keys.shape[-2]
    if not query.numel() * length:
        return (query @ keys.mT) * vector.sum()  # nothing to ask, or nothing to look at
    found = _Additive.apply(
        query.reshape(rows, count, width),
        keys.expand(*query.shape[:-2], length, width).reshape(rows, length, width),
        vector,
    )
    return found.reshape(*query.shape[:-1], length)


def _powers(rows: Tensor) -> Tensor:
    wide = rows.float() if rows.dtype == torch.float16 else rows  # whose largest number is e^11
    return (2 * wide.clamp(-LIMIT, LIMIT)).exp()


class _Powers(torch.autograd.Function):
    """e^2x; what comes back is the gradient of x already."""

    @staticmethod
    def forward(context: Any, rows: Tensor) -> Tensor:
        context.kind = rows.dtype
        return _powers(rows)

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> Tensor:
        return upstream.to(context.kind)


class _Additive(torch.autograd.Function):
    """The scores of all pairs, from powers; the gradients are those of what the powers are of."""

    @staticmethod
    def forward(context: Any, query: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
        pairs = query.numel() * keys.shape[1]
        learns = any(context.needs_input_grad)
        context.keeps = pairs <= (KEPT if learns else SLICE) and (not learns or keys.shape[1] <= LONG)
        if context.keeps:
            shares = _shares(query.unsqueeze(2), keys.unsqueeze(1))
            context.save_for_backward(shares, vector)
            scores = shares.flatten(0, -2) @ vector.unsqueeze(1)
            return (vector.sum() - 2 * scores).view(shares.shape[:-1])
        context.save_for_backward(query, keys, vector)
        scores = query.new_empty(*query.shape[:2], keys.shape[1])
        for rows, some, near, shares in _slices(query, keys):
            torch.mv(shares.flatten(0, -2), vector, out=scores[rows, some, near].view(-1))
        return scores.mul_(-2).add_(vector.sum())

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if context.keeps:
            shares, vector = context.saved_tensors
            slopes, into_vector = _slopes(shares, upstream)
            into_query, into_keys = slopes.sum(2), slopes[:, 0] if slopes.shape[1] == 1 else slopes.sum(1)
        else:
            query, keys, vector = context.saved_tensors
            into_query, into_keys, into_vector = (torch.zeros_like(each) for each in (query, keys, vector))
            for rows, some, near, shares in _slices(query, keys):
                slopes, into = _slopes(shares, upstream[rows, some, near], out=shares)
                into_vector += into
                into_query[rows, some] += slopes.sum(2)
                into_keys[rows, near] += slopes[:, 0] if slopes.shape[1] == 1 else slopes.sum(1)
        # v is multiplied in at the end, where the sums have made everything small.
        steep = 4 * vector
        return into_query.mul_(steep), into_keys.mul_(steep), into_vector


def _shares(query: Tensor, keys: Tensor, out: Tensor | None = None) -> Float[Tensor, "n q k A"]:
    """1 / (1 + e^2q e^2k), which is (1 - tanh(q + k)) / 2."""
    return torch.addcmul(query.new_ones(()), query, keys, out=out).reciprocal_()


def _slopes(
    shares: Float[Tensor, "n q k A"], upstream: Float[Tensor, "n q k"], out: Tensor | None = None
) -> tuple[Float[Tensor, "n q k A"], Float[Tensor, " A"]]:
    """share (1 - share) times what comes from above, a quarter of what tanh sends on; and the gradient of v."""
    above = upstream.reshape(1, -1)
    into_vector = above.sum() - 2 * (above @ shares.flatten(0, -2)).squeeze(0)
    wide = upstream.unsqueeze(-1).expand_as(shares)
    if out is None:
        return torch.ops.aten.sigmoid_backward(wide, shares), into_vector
    return torch.ops.aten.sigmoid_backward.grad_input(wide, shares, grad_input=out), into_vector


def _slices(query: Tensor, keys: Tensor) -> Iterator[tuple[slice, slice, slice, Float[Tensor, "n q k A"]]]:
    """Some rows, queries and keys at a time, and the shares of all their pairs; the memory is one slice's, used again.

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
                yield *part, _shares(asked, told, out=room[: math.prod(shape)].view(shape))


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


class Network(NamedTuple):
    """W, U and v; what the fall by a place is worked out with, where scores fall."""

    query: nn.Linear
    key: nn.Linear
    vector: Tensor
    fall: nn.Linear | None = None


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
        self.vector = nn.Parameter(torch.zeros(width))
        if not uniform:
            nn.init.uniform_(self.vector, -(width**-0.5), width**-0.5)

    @property
    def network(self) -> Network:
        """What it learns, for who does all steps of a recurrence at once."""
        return Network(self.of_query, self.of_key, self.vector)

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """e^2 U k, once per sentence."""
        return powers(self.of_key(keys))

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """v . tanh(W q + U k)."""
        projected = self.of_query(query)
        asked = powers(projected)
        return of_powers(asked, keys.to(asked.dtype), self.vector.to(asked.dtype)).to(projected.dtype)


@part("score", "fading")
class Fading(Additive):
    """v . tanh(W q + U k) - softplus(w . q + b) (places back): additive, and each query says how far back it looks.

    The states of a recurrent layer do not say where they stand, so that the additive score alone begins by looking at
    all of them alike. With a fall it begins by looking at the last ones.

    Settings:
        hidden: the width of the network; 0 takes the width of the keys.
        uniform: begin with v zero, so that attention starts out as the fall alone.
        fall: how much the score begins to fall from one place to the place before it.
    """

    positional = True

    def __init__(self, query: int, key: int, *, hidden: Whole = 0, uniform: bool = False, fall: Positive = 2.0) -> None:
        super().__init__(query, key, hidden=hidden, uniform=uniform)
        self.of_fall = nn.Linear(query, 1)
        nn.init.zeros_(self.of_fall.weight)
        nn.init.constant_(self.of_fall.bias, math.log(math.expm1(fall)))

    @property
    def network(self) -> Network:
        """What it learns."""
        return Network(self.of_query, self.of_key, self.vector, self.of_fall)

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """e^2 U k and the place of each key. A softmax minds only how far keys stand from one another."""
        rows = super().prepare(keys, start)
        places = torch.arange(start, start + keys.shape[-2], dtype=rows.dtype, device=rows.device).unsqueeze(-1)
        return torch.cat((rows, places.expand(*rows.shape[:-1], 1)), -1)

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """The additive score, and what it falls by."""
        fall = F.softplus(self.of_fall(query))
        return super().forward(query, keys[..., :-1]) + fall * keys[..., -1].unsqueeze(-2).to(fall.dtype)
