"""What a trial says: the paper's claim, what came out, and whether it holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.evaluate.metrics import Metric, metric
from regard.recipe.reproduce import Reproduce
from regard.tasks.reproduce.measure import Measured


@dataclass(frozen=True)
class Reproduction:
    """The result of a trial. `decisive` is what the claim bounds: the value, or the difference of the two arms."""

    system: str
    paper: str
    table: Reproduce
    seed: int
    examples: int  # test examples that were measured on
    arms: dict[str, Measured]  # the system's own arm first
    difference: Measured | None
    seconds: float  # of the whole command; of one that went on, since then
    pictures: tuple[Path, ...]
    out: Path

    @property
    def decisive(self) -> Measured:
        """What the claim is about."""
        return next(iter(self.arms.values())) if self.difference is None else self.difference

    @property
    def holds(self) -> bool:
        """Whether what came out is what was claimed."""
        return self.table.holds(self.decisive.value)

    @property
    def clear(self) -> bool:
        """Whether both ends of the interval say the same."""
        return self.table.holds(self.decisive.low) == self.holds == self.table.holds(self.decisive.high)

    def as_dict(self) -> dict[str, Any]:
        """All numbers, for machines."""
        return {
            "system": self.system,
            "paper": self.paper,
            **asdict(self.table),
            "seed": self.seed,
            "examples": self.examples,
            "arms": {label: asdict(each) for label, each in self.arms.items()},
            "difference": None if self.difference is None else asdict(self.difference),
            "holds": self.holds,
            "clear": self.clear,
            "seconds": round(self.seconds, 1),
            "pictures": [str(path) for path in self.pictures],
        }

    def __str__(self) -> str:
        """A short table for people."""
        measure, table = metric(self.table.measure), self.table
        which = "the longest third of the test examples" if table.on == "long" else "the test examples"
        width = max(map(len, (*self.arms, "difference")))
        rows = [f"  {label:<{width}}  {told(measure, each)}" for label, each in self.arms.items()]
        if self.difference is not None:
            rows.append(f"  {'difference':<{width}}  {told(measure, self.difference, signed=True)}")
        return "\n".join(
            [
                f"{self.system}: {self.paper}",
                f"claim: {table.claim}",
                f"{measure.label} on {which} ({self.examples:,} of {table.data}), 95 % interval:",
                *rows,
                f"  {'asked':<{width}}  {asked(table)}",
                f"{self.verdict} ({self.seconds / 60:.1f} minutes, seed {self.seed})",
                *(f"picture: {path}" for path in self.pictures),
            ]
        )

    @property
    def verdict(self) -> str:
        """In words."""
        if self.clear:
            return "The claim holds." if self.holds else "The claim does not hold here."
        said = "holds" if self.holds else "does not hold"
        return f"The claim {said}, but the interval reaches across what is asked."


def told(measure: Metric, found: Measured, *, signed: bool = False) -> str:
    """A value and its interval as people read them."""
    form = measure.form.replace("{:", "{:+") if signed else measure.form
    value, low, high = (form.format(each) for each in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


def asked(table: Reproduce) -> str:
    """What must come out."""
    measure = metric(table.measure)
    form = measure.form.replace("{:", "{:+") if table.against else measure.form
    return f"{'at least' if table.at_least is not None else 'at most'} {form.format(table.bound)}"
