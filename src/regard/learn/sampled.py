"""Scores of some pieces in the place of all, for training with a large vocabulary.

The commonest pieces are always scored, and so are those that a batch wants. Of the others, number r is drawn with
chance K / r, and counts r / K times in the sum that chances are divided by: that sum is right on average, and pieces
that are hardly ever likely cost hardly anything. In use, and in every validation, all pieces are scored.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Drawn(NamedTuple):
    """Pieces to score, the logarithm of how often each of them counts, and the place of each wanted one among them."""

    pieces: Int[Tensor, " U"]
    log_weights: Float[Tensor, " U"]
    wanted: Int[Tensor, " N"]


def draw_pieces(size: int, always: int, wanted: Int[Tensor, " N"]) -> Drawn:
    """Draw from a vocabulary whose pieces are numbered from the commonest on; the first `always` are sure to come."""
    times = torch.arange(1, size + 1, device=wanted.device).clamp(min=always) / always
    picked = torch.rand(size, device=wanted.device) * times < 1
    picked[wanted], times[wanted] = True, 1.0
    pieces = picked.nonzero().squeeze(1)
    return Drawn(pieces, times[pieces].log(), (picked.cumsum(0) - 1)[wanted])
