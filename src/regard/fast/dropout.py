"""Dropout whose draws are cheap.

PyTorch draws a whole random number for each it may drop, which on a CPU is a sixth of a Transformer's training.
Fifteen bits are enough, and a draw of 64 bits holds four of them: the chance to be dropped is exact to 1/32768, and
what is kept is scaled by just that chance, so that the mean stays what it was.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.types import Share

STEPS = 1 << 15
_SIGNLESS = 0x7FFF7FFF7FFF7FFF  # PyTorch leaves the topmost bit of a draw zero: that of each of the four goes too
_FEW = 1 << 12  # below so many numbers, one call of PyTorch's is as fast as our five


def drop(rows: Float[Tensor, "*N"], share: Share, training: bool, locked: bool = False) -> Float[Tensor, "*N"]:
    """In training, zero a share of the numbers and scale the others up; otherwise leave all as they are.

    `locked` drops the same numbers at every step of a row, which is the axis before the last (Gal and Ghahramani 2016).
    """
    if not training or not share:
        return rows
    if locked:
        return rows * drop(rows.new_ones(*rows.shape[:-2], 1, rows.shape[-1]), share, training)
    if rows.device.type != "cpu" or rows.numel() < _FEW:
        return F.dropout(rows, share)
    return rows * factors(rows.shape, share).to(rows.dtype)


def factors(shape: torch.Size, share: Share) -> Float[Tensor, "*N"]:
    """Zero with chance `share`, else 1 / (1 - share), for every number of a shape."""
    count, limit = shape.numel(), round(share * STEPS)
    bits = torch.empty(-(-count // 4), dtype=torch.int64).random_().bitwise_and_(_SIGNLESS)
    draws = bits.view(torch.int16)[:count].view(shape).float()
    scale = torch.tensor(STEPS / (STEPS - limit)).expand(shape)
    # The scale where a draw is above the limit, else zero: the one kernel that does this in a single fast pass.
    return torch.ops.aten.threshold_backward(scale, draws, limit - 0.5)
