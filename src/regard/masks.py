"""Masks: who may look at what. True = may be looked at."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

MANY = 16  # keys from which on PyTorch's own softmax is the faster one


def from_lengths(lengths: Int[Tensor, " B"], size: int | None = None) -> Bool[Tensor, "B S"]:
    """Rows whose first `lengths[b]` positions are real."""
    width = int(lengths.max()) if size is None else size
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def causal(queries: int, keys: int, start: int, device: torch.device | None = None) -> Bool[Tensor, "Q K"]:
    """Query i stands at position `start + i` and sees the keys up to its own position."""
    places = torch.arange(start, start + queries, device=device)
    return torch.arange(keys, device=device) <= places[:, None]


def is_open(allowed: Bool[Tensor, "*N"]) -> bool:
    """May everything be looked at? Then a mask costs as much as a short look itself.

    A graph that is being traced cannot know, and a graphics card would have to be waited for.
    """
    known = allowed.device.type == "cpu" and not torch.compiler.is_compiling()
    return known and allowed.shape[-1] > 0 and bool(allowed.all())


def softmax(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "*#B #Q K"]) -> Float[Tensor, "*B Q K"]:
    """Softmax over the allowed keys; a row that may look at nothing gets zeros, and finite gradients.

    Half-precision scores are normalised in float32. Of fewer than sixteen keys it is written out: PyTorch's own is five
    times as slow there on a CPU, and with more of them twice as fast.
    """
    if torch.compiler.is_compiling():  # a graph for elsewhere has the operation itself
        filled = scores.float().masked_fill(~allowed, torch.finfo(torch.float32).min)
        return (torch.softmax(filled, -1) * allowed).to(scores.dtype)
    return _Softmax.apply(scores, allowed)


class _Softmax(torch.autograd.Function):
    """Only the weights are kept. Those of what may not be looked at are zero, and so is what comes back to them."""

    @staticmethod
    def forward(context: Any, scores: Tensor, allowed: Tensor) -> Tensor:
        kind = torch.promote_types(scores.dtype, torch.float32)
        hidden = None if bool(allowed.all()) else ~allowed
        filled = scores if hidden is None else scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        if filled.shape[-1] >= MANY:
            wide = torch.softmax(filled, -1, dtype=kind)
        else:
            wide = filled.to(kind, copy=filled is scores)
            if wide.shape[-1]:
                wide.sub_(wide.amax(-1, keepdim=True)).exp_()
            wide.div_(wide.sum(-1, keepdim=True))
        if hidden is not None:  # where nothing may be looked at all are as large by now
            wide.masked_fill_(hidden, 0.0)
        weights = wide.to(scores.dtype)
        context.save_for_backward(weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, None]:
        (weights,) = context.saved_tensors
        return (upstream - (upstream * weights).sum(-1, keepdim=True)).mul_(weights), None


def normalise(weights: Float[Tensor, "*B K"]) -> Float[Tensor, "*B K"]:
    """Each row divided by its sum. A row of zeros stays one, and sends zeros back: 1 / 0 times 0 would be no number."""
    total = weights.sum(-1, keepdim=True)
    some = total > torch.finfo(weights.dtype).tiny
    return torch.where(some, weights, 0.0) / torch.where(some, total, 1.0)


def mean(values: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
    """The mean over real positions; zero where there are none."""
    real = mask.unsqueeze(-1)
    return (values * real).sum(1) / real.sum(1).clamp(min=1)


def flip(data: Tensor, mask: Bool[Tensor, "B S"]) -> Tensor:
    """The real part of each row from its end to its start; padding stays where it is."""
    places = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    index = torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
    return data.gather(1, index.unsqueeze(-1).expand_as(data))
