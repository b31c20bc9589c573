"""The shortest training: a model, batches, and an end. Nothing is written; see `run` for what is kept and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from regard.learn.events import Step
from regard.learn.learner import Learner, flush_denormals
from regard.learn.settings import TrainSettings
from regard.model import Model
from regard.types import Batch

__all__ = ["Step", "fit"]


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
    learner = Learner(model, TrainSettings(rate=rate, clip=clip), iter(batches))
    began, pieces = time.monotonic(), 0
    with flush_denormals():
        while (done := learner.update()) is not None:
            pieces += done.count
            spent = time.monotonic() - began
            left = None if seconds is None else max(0.0, seconds - spent)
            tell(Step(learner.number, spent, done.nll, pieces / spent, done.rate, done.norm, left))
            # The clocks of many processes differ, and they must end together.
            if (seconds is not None and learner.processes.greatest(spent) >= seconds) or learner.number == steps:
                break
    learner.rest()
    return learner.number
