"""The loop of steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import nn

from regard.learn.loss import sequence_loss
from regard.model import Model
from regard.types import Batch


@dataclass(frozen=True)
class Step:
    """What one step tells: its number, the seconds since the start, the surprise of a piece, pieces a second."""

    number: int
    seconds: float
    surprise: float
    speed: float


def fit(
    model: Model,
    batches: Iterable[Batch],
    *,
    rate: float = 2e-3,
    clip: float = 1.0,
    seconds: float | None = None,
    steps: int | None = None,
    tell: Callable[[Step], None] = lambda step: None,
) -> int:
    """Train until the batches, the seconds or the steps run out; say how many steps that was."""
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    model.train()
    began, pieces, number = time.monotonic(), 0, 0
    for number, batch in enumerate(batches, 1):
        loss = sequence_loss(model, batch)
        optimiser.zero_grad()
        loss.total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimiser.step()
        pieces += loss.pieces
        spent = time.monotonic() - began
        tell(Step(number, spent, float(loss.surprise), pieces / spent))
        if (seconds is not None and spent >= seconds) or number == steps:
            break
    model.eval()
    return number
