"""Schedules: how the learning rate moves while training.

`at` is asked before every update, with the update's number (the first is 1) and the share of the budget used
so far (None where the run has no budget); `judge` hears the score of every validation, the higher the better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from regard.registry import part
from regard.types import Count, Positive, Share, Whole


class Schedule:
    """What every schedule offers. One that remembers what it heard says so in `state`."""

    needs_budget: ClassVar[bool] = False
    needs_validation: ClassVar[bool] = False

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def at(self, number: int, share: float | None) -> float:
        """The rate of an update."""
        raise TypeError(f"{type(self).__name__} does not say which rate it takes")

    def judge(self, score: float) -> None:
        """Hear how good the model is now."""

    def state(self) -> dict[str, Any]:
        """What changes while training, fit for JSON."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""


def _warm(rate: float, number: int, warmup: int) -> float:
    """Rise in a straight line over the first updates."""
    return rate * min(1.0, number / warmup) if warmup else rate


@part("schedule", "constant")
class Constant(Schedule):
    """One rate from beginning to end.

    Settings:
        warmup: updates over which the rate rises from zero; 0 for none.
    """

    def __init__(self, rate: float, *, warmup: Whole = 0) -> None:
        super().__init__(rate)
        self.warmup = warmup

    def at(self, number: int, share: float | None) -> float:
        """The same rate."""
        return _warm(self.rate, number, self.warmup)


@part("schedule", "inverse_square_root")
class InverseSquareRoot(Schedule):
    """Rise to the rate in a straight line, then fall as 1 / sqrt(update) (Vaswani 2017, section 5.3).

    Settings:
        warmup: updates over which the rate rises; the rate is reached at the last of them.
    """

    def __init__(self, rate: float, *, warmup: Count = 1000) -> None:
        super().__init__(rate)
        self.warmup = warmup

    def at(self, number: int, share: float | None) -> float:
        """The smaller of the rising and the falling line."""
        return self.rate * min(number / self.warmup, math.sqrt(self.warmup / number))


@part("schedule", "cosine")
class Cosine(Schedule):
    """Fall along half a cosine to the end of the budget (Loshchilov and Hutter 2017); needs minutes or steps.

    Settings:
        warmup: updates over which the rate rises from zero; 0 for none.
        floor: share of the rate that is left at the end.
    """

    needs_budget = True

    def __init__(self, rate: float, *, warmup: Whole = 0, floor: Share = 0.0) -> None:
        super().__init__(rate)
        self.warmup, self.floor = warmup, floor

    def at(self, number: int, share: float | None) -> float:
        """The rate at a share of the budget."""
        left = (1 + math.cos(math.pi * min(1.0, share or 0.0))) / 2
        return _warm(self.rate, number, self.warmup) * (self.floor + (1 - self.floor) * left)


@part("schedule", "linear")
class Linear(Schedule):
    """Rise, then fall in a straight line to the end of the budget (Devlin 2018); needs minutes or steps.

    Settings:
        warmup: updates over which the rate rises from zero; 0 for none.
        floor: share of the rate that is left at the end.
    """

    needs_budget = True

    def __init__(self, rate: float, *, warmup: Whole = 0, floor: Share = 0.0) -> None:
        super().__init__(rate)
        self.warmup, self.floor = warmup, floor

    def at(self, number: int, share: float | None) -> float:
        """The rate at a share of the budget."""
        left = 1 - min(1.0, share or 0.0)
        return _warm(self.rate, number, self.warmup) * (self.floor + (1 - self.floor) * left)


@part("schedule", "halving")
class Halving(Schedule):
    """One rate for a while, then half of it again and again (Sutskever 2014, Luong 2015).

    Settings:
        after: updates before the rate is first halved.
        every: updates from one halving to the next.
    """

    def __init__(self, rate: float, *, after: Whole = 10000, every: Count = 5000) -> None:
        super().__init__(rate)
        self.after, self.every = after, every

    def at(self, number: int, share: float | None) -> float:
        """Half as much for each halving that lies behind."""
        return self.rate * 0.5 ** max(0, math.ceil((number - self.after) / self.every))


@part("schedule", "steps")
class Steps(Schedule):
    """One rate, multiplied with a factor at each of some updates (He et al. 2016).

    Settings:
        at: the updates after which the rate is lowered.
        factor: what the rate is multiplied with each time.
        warmup: updates over which the rate rises from zero; 0 for none.
    """

    def __init__(
        self, rate: float, *, at: tuple[Count, ...] = (32000, 48000), factor: Share = 0.1, warmup: Whole = 0
    ) -> None:
        super().__init__(rate)
        self.milestones, self.factor, self.warmup = tuple(at), factor, warmup

    def at(self, number: int, share: float | None) -> float:
        """Lowered by each of those updates that lies behind."""
        passed = sum(number > each for each in self.milestones)
        return _warm(self.rate, number, self.warmup) * self.factor**passed


@part("schedule", "plateau")
class Plateau(Schedule):
    """Lower the rate whenever validations stop getting better; needs validation.

    Settings:
        factor: what the rate is multiplied with.
        patience: how many validations in a row may bring nothing better before the rate is lowered.
        least: the rate is never lowered below this share of where it began.
        warmup: updates over which the rate rises from zero; 0 for none.
    """

    needs_validation = True

    def __init__(
        self, rate: float, *, factor: Share = 0.5, patience: Whole = 2, least: Positive = 0.01, warmup: Whole = 0
    ) -> None:
        super().__init__(rate)
        self.factor, self.patience, self.least, self.warmup = factor, patience, least, warmup
        self.share, self.waited = 1.0, 0
        self.best: float | None = None

    def at(self, number: int, share: float | None) -> float:
        """The rate as it was last lowered."""
        return _warm(self.rate, number, self.warmup) * self.share

    def judge(self, score: float) -> None:
        """Count validations that bring nothing better, and lower the rate when there were too many."""
        if self.best is None or score > self.best:
            self.best, self.waited = score, 0
            return
        self.waited += 1
        if self.waited > self.patience:
            self.share, self.waited = max(self.least, self.share * self.factor), 0

    def state(self) -> dict[str, Any]:
        """How far the rate was lowered, and what it waits for."""
        return {"share": self.share, "waited": self.waited, "best": self.best}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.share, self.waited, self.best = state["share"], state["waited"], state["best"]
