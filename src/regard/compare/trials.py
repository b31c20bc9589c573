"""The trials of a comparison: every arm once for every seed, and in which order they run.

A finished model was trained already, so its arm has as many trials as it has folders, whatever number of seeds is
asked. The first seed of an arm lies in the arm's own folder, as it did when there was one seed only; another lies
beside its run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.compare.arms import Arm, folder_name
from regard.compare.plan import Plan

RUN = "run"


@dataclass(frozen=True)
class Trial:
    """One training of an arm, known by its seed; or one finished model, of whose seed nothing is known.

    `number` counts the trials of the arm from 0. `alone` says that it is the only one, so that nobody needs a number.
    """

    arm: Arm
    number: int = 0
    seed: int | None = None
    alone: bool = True

    @property
    def name(self) -> str:
        """What tells the trials of an arm apart: the seed, or the folder of the finished model."""
        return self.arm.models[self.number] if self.arm.finished else f"seed {self.seed}"

    @property
    def label(self) -> str:
        """The arm's label, with the seed where there are several."""
        return self.arm.label if self.alone else f"{self.arm.label}, {self.name}"

    def folder(self, out: Path) -> Path:
        """Where in the report's folder it keeps what it makes."""
        if self.arm.finished:
            return out / "arms" / folder_name(self.arm.models[self.number])
        first = out / "arms" / self.arm.folder
        return first / f"seed-{self.seed}" if self.number else first

    def model(self, out: Path) -> Path:
        """The run that it makes, or the finished model."""
        return Path(self.arm.models[self.number]) if self.arm.finished else self.folder(out) / RUN


def trials_of(plan: Plan, arms: Sequence[Arm]) -> list[Trial]:
    """All trials, those of the first seed first: a comparison that is stopped has whole seeds to show."""
    counts = [len(arm.models) or plan.seeds for arm in arms]
    return [
        Trial(arm, number, None if arm.finished else plan.seed + number, alone=count == 1)
        for number in range(max(counts, default=0))
        for arm, count in zip(arms, counts, strict=True)
        if number < count
    ]
