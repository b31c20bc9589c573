"""How unlikely the wanted pieces are, straight from what their scores are made of.

Written plainly, a step makes the scores of all pieces at all positions, a second tensor as large with their
logarithmic chances, and a third with the gradient: the dearest thing in a small model, and most of its memory. Here
the positions are taken some at a time. Their scores are made, turned into gradients, and forgotten while they lie in
the processor's cache; nothing of the size of the vocabulary times the positions is ever kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

# Scores that are held at once: 512 positions of 8,000 pieces. Fewer make the products slow, more leave the cache.
# Products are fastest with whole tiles of rows.
SLICE = 1 << 22
TILE = 32


def negative_log_likelihoods(
    logits: Float[Tensor, "*N V"], wanted: Int[Tensor, "*N"], smoothing: float
) -> tuple[Float[Tensor, "*N"], Float[Tensor, "*N"]]:
    """-log p of each wanted piece, and the same mixed with the mean over the vocabulary (Szegedy 2016, section 7)."""
    if not smoothing:
        plain = F.cross_entropy(logits.flatten(0, -2), wanted.flatten(), reduction="none").view_as(wanted)
        return plain, plain
    chances = F.log_softmax(logits, -1)
    plain = -chances.gather(-1, wanted.unsqueeze(-1)).squeeze(-1)
    return plain, (1 - smoothing) * plain - smoothing * chances.mean(-1)


def product_nll(
    rows: Float[Tensor, "N F"],
    table: Float[Tensor, "V F"],
    bias: Float[Tensor, " V"] | None,
    wanted: Int[Tensor, " N"],
    smoothing: float,
) -> tuple[Float[Tensor, " N"], Float[Tensor, ""]]:
    """The same of the scores E f + b: each piece's -log p, without a gradient, and the sum of the mixed ones.

    Under autocast the products are made in its precision; all sums are in float32 at least.
    """
    if torch.is_autocast_enabled(rows.device.type):
        kind = torch.get_autocast_dtype(rows.device.type)
        rows, table = rows.to(kind), table.to(kind)
    wide = torch.promote_types(rows.dtype, torch.float32)
    bias = table.new_zeros(len(table), dtype=wide) if bias is None else bias.to(wide)
    with torch.autocast(rows.device.type, enabled=False):
        return _ProductNLL.apply(rows, table, bias, wanted, smoothing)


class _ProductNLL(torch.autograd.Function):
    """The sum's gradients are made on the way there: p - y for every score, before the scores are forgotten."""

    @staticmethod
    def forward(
        context: Any, rows: Tensor, table: Tensor, bias: Tensor, wanted: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        size, plain = len(table), bias.new_empty(len(rows))
        goal, learns = bias.new_zeros(()), any(context.needs_input_grad)
        made = _Gradients(rows, table, bias) if learns else None
        narrow = bias.to(table.dtype)
        for some in _slices(len(rows), SLICE // size):
            scores = F.linear(rows[some], table, narrow).to(bias.dtype)
            scores.sub_(scores.amax(-1, keepdim=True))
            picked = scores.gather(-1, wanted[some].unsqueeze(-1)).squeeze(-1)
            mean = scores.mean(-1) if smoothing else 0.0
            total = scores.exp_().sum(-1)
            plain[some] = total.log() - picked
            goal += (total.log() - (1 - smoothing) * picked - smoothing * mean).sum()
            if made is not None:
                made.add(some, scores, total)
        if made is not None:
            context.save_for_backward(*made.finished(wanted, smoothing))
        context.mark_non_differentiable(plain)
        return plain, goal

    @staticmethod
    @once_differentiable
    def backward(context: Any, _: Tensor, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return *(each * upstream for each in context.saved_tensors), None, None


def _slices(rows: int, most: int) -> Iterator[slice]:
    """All rows, about so many at a time."""
    step = max(1, most // TILE * TILE or most)
    return (slice(at, at + step) for at in range(0, rows, step))


class _Gradients:
    """The gradients of rows, table and bias, added up slice by slice.

    The chances p = e / z never exist: e is used as it stands, and the few numbers on the other side of the product
    are divided by z. What the goal y takes away is the same for all slices, and taken away once.
    """

    def __init__(self, rows: Tensor, table: Tensor, bias: Tensor) -> None:
        self.rows, self.table = rows, table
        self.of_rows = torch.empty_like(rows, dtype=bias.dtype)
        self.of_table = torch.zeros_like(table, dtype=bias.dtype)
        self.of_bias = torch.zeros_like(bias)

    def add(self, some: slice, scores: Float[Tensor, "n V"], total: Float[Tensor, " n"]) -> None:
        """Count one slice's exponentiated scores, whose rows sum to `total`."""
        share = total.reciprocal()
        rows, powers = self.rows[some], scores.to(self.table.dtype)
        self.of_rows[some] = (powers @ self.table) * share.unsqueeze(-1)
        divided = (rows * share.unsqueeze(-1)).to(rows.dtype)
        if divided.dtype == self.of_table.dtype:
            self.of_table.addmm_(powers.mT, divided)
        else:
            self.of_table += powers.mT @ divided
        self.of_bias.addmv_(scores.mT, share)

    def finished(self, wanted: Int[Tensor, " N"], smoothing: float) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients, with the goal taken away: 1 - smoothing at the wanted piece, the rest spread evenly."""
        evenly, own = smoothing / len(self.table), 1 - smoothing
        rows, table = self.rows.to(self.of_bias.dtype), self.table.to(self.of_bias.dtype)
        self.of_rows.sub_(table.sum(0), alpha=evenly).sub_(table.index_select(0, wanted), alpha=own)
        self.of_table.sub_(rows.sum(0), alpha=evenly).index_add_(0, wanted, rows, alpha=-own)
        self.of_bias.sub_(evenly * len(rows)).sub_(torch.bincount(wanted, minlength=len(table)), alpha=own)
        return self.of_rows.to(self.rows.dtype), self.of_table.to(self.table.dtype), self.of_bias
