"""Scaled dot-product attention that drops weights, as one operation: for training on a CPU.

PyTorch's fused kernels drop nothing on a CPU: asked to, it goes step by step, draws a whole random number for each
weight, and reads and writes all weights once for every step there and back. Here scores become weights where they
lie, draws are cheap (see `dropout`), and the way back is written out.

Letters: N batch and heads together, d and e widths of a head.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.dropout import factors
from regard.types import Share


def dropped_attention(
    query: Float[Tensor, "*B Q d"],
    keys: Float[Tensor, "*B K d"],
    values: Float[Tensor, "*B K e"],
    allowed: Bool[Tensor, "*#B #Q K"] | None,
    share: Share,
    scale: float,
) -> Float[Tensor, "*B Q e"]:
    """drop(softmax(scale q . k)) v. What a row that may look at nothing brings home means nothing."""
    hidden = None
    if allowed is not None:
        hidden = torch.zeros(allowed.shape, dtype=keys.dtype, device=keys.device)
        hidden.masked_fill_(~allowed, torch.finfo(keys.dtype).min)
    query, values = query.to(keys.dtype), values.to(keys.dtype)
    with torch.autocast(keys.device.type, enabled=False):
        return _Attention.apply(query, keys, values, hidden, share, scale)


class _Attention(torch.autograd.Function):
    """Kept for the way back: the weights, what each was multiplied with, and both together."""

    @staticmethod
    def forward(
        context: Any, query: Tensor, keys: Tensor, values: Tensor, hidden: Tensor | None, share: float, scale: float
    ) -> Tensor:
        asked, found, brought = (_flat(each) for each in (query * scale, keys, values))
        scores = torch.bmm(asked, found.mT)
        if hidden is not None:
            scores.view(*query.shape[:-1], -1).add_(hidden)
        wide = torch.promote_types(scores.dtype, torch.float32)
        weights = torch.softmax(scores, -1, dtype=wide).to(scores.dtype)
        drawn = factors(weights.shape, share).to(weights.dtype)
        kept = torch.mul(weights, drawn, out=scores)
        context.save_for_backward(asked, found, brought, weights, drawn, kept)
        context.scale, context.shapes = scale, (query.shape, keys.shape, values.shape)
        return torch.bmm(kept, brought).view(*query.shape[:-1], -1)

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        asked, found, brought, weights, drawn, kept = context.saved_tensors
        back = _flat(upstream)
        of_values = torch.bmm(kept.mT, back)
        of_weights = torch.bmm(back, brought.mT).mul_(drawn)
        of_scores = torch.ops.aten._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        of_keys = torch.bmm(of_scores.mT, asked)
        of_query = torch.bmm(of_scores, found).mul_(context.scale)
        made = zip((of_query, of_keys, of_values), context.shapes, strict=True)
        return *(each.view(shape) for each, shape in made), None, None, None


def _flat(rows: Float[Tensor, "*B R d"]) -> Float[Tensor, "N R d"]:
    return rows.reshape(-1, *rows.shape[-2:])
