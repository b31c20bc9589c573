"""Masks: who may look at what. True = may be looked at."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def from_lengths(lengths: Int[Tensor, " B"], size: int | None = None) -> Bool[Tensor, "B S"]:
    """Rows whose first `lengths[b]` positions are real."""
    width = int(lengths.max()) if size is None else size
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def causal(queries: int, keys: int, start: int, device: torch.device | None = None) -> Bool[Tensor, "Q K"]:
    """Query i stands at position `start + i` and sees the keys up to its own position."""
    places = torch.arange(start, start + queries, device=device)
    return torch.arange(keys, device=device) <= places[:, None]


def softmax(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "*#B #Q K"]) -> Float[Tensor, "*B Q K"]:
    """Softmax over the allowed keys; a row that may look at nothing gets zeros, and finite gradients.

    The fill is finite and goes in before the softmax: `where` around a NaN would still give NaN gradients.
    Half-precision scores are normalised in float32.
    """
    wide = scores if scores.dtype == torch.float64 else scores.float()
    filled = wide.masked_fill(~allowed, torch.finfo(wide.dtype).min)
    return (torch.softmax(filled, -1) * allowed).to(scores.dtype)


def mean(values: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
    """The mean over real positions; zero where there are none."""
    real = mask.unsqueeze(-1)
    return (values * real).sum(1) / real.sum(1).clamp(min=1)


def flip(data: Tensor, mask: Bool[Tensor, "B S"]) -> Tensor:
    """The real part of each row from its end to its start; padding stays where it is."""
    places = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    index = torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
    return data.gather(1, index.unsqueeze(-1).expand_as(data))
