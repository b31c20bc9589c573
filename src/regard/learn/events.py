"""What a training tells while it runs, and what it says at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from regard.errors import UsageError, did_you_mean
from regard.evaluate.metrics import RENAMED, is_higher_better

Reason = Literal["steps", "minutes", "patience"]


@dataclass(frozen=True)
class Step:
    """One update: its number, the seconds since the start, the negative log-likelihood of a piece, pieces a second.

    `norm` is the length of the gradient before it was cut; `left` the seconds that the budget still allows. Of several
    objectives `nll` and `norm` are the first one's, and `losses` has what each of them reports; `noted` has
    what the model says of itself.
    """

    number: int
    seconds: float
    nll: float
    speed: float
    rate: float = 0.0
    norm: float = 0.0
    left: float | None = None
    losses: Mapping[str, float] = field(default_factory=dict)
    noted: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Validation:
    """What the caller's validation found: values by name, a few lines worth showing, and what was looked at.

    Each of `looks` is a document as `regard.show` draws it; they are kept for each validation, and so is `picture`, a
    PNG file.
    """

    values: Mapping[str, float]
    samples: tuple[str, ...] = ()
    looks: tuple[Mapping[str, Any], ...] = ()
    picture: bytes | None = None

    def score(self, metric: str) -> tuple[str, float]:
        """The metric's name and its value, turned so that more is better; "auto" takes the first."""
        if not self.values:
            raise UsageError("a validation gives at least one value; this one gave none.")
        name = next(iter(self.values)) if metric == "auto" else RENAMED.get(metric, metric)
        if name not in self.values:
            raise UsageError(
                f"metric = '{metric}': the validation has no such value; it gives {', '.join(self.values)}.",
                hint=did_you_mean(metric, self.values),
            )
        value = float(self.values[name])
        return name, -math.inf if math.isnan(value) else value if is_higher_better(name) else -value


@dataclass(frozen=True)
class Validated:
    """A validation, after which update it was made, and whether it is the best so far."""

    number: int
    seconds: float
    values: Mapping[str, float]
    samples: tuple[str, ...]
    best: bool


@dataclass(frozen=True)
class Saved:
    """The state was written, after which update."""

    number: int
    seconds: float
    folder: Path


@dataclass(frozen=True)
class Outcome:
    """How a run ended: why, after how many updates and seconds; the best value of its metric, and when that was."""

    reason: Reason
    number: int
    seconds: float
    metric: str | None = None
    best: float | None = None
    best_number: int = 0


Event = Step | Validated | Saved
Tell = Callable[[Event], None]


def quiet(event: Event) -> None:
    """Tell nobody."""
