"""Wrong labels on purpose: a training split some of whose labels are replaced by another class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.batches import Split
from regard.data.sides.label import Label
from regard.task import Side

TOGETHER = 10_000  # rows that are counted at a time


@dataclass(frozen=True)
class NoisyLabels:
    """A split as its labels are to be learnt; which are wrong, seed and row decide, so they stay so in every epoch."""

    split: Split
    side: Label
    seed: int

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, rows: list[int], /) -> Mapping[str, Sequence[Any]]:
        columns = self.split[rows]
        pairs = zip(columns["target"], rows, strict=True)
        return {**columns, "target": [self.side.replaced(cell, row, self.seed) for cell, row in pairs]}

    def wrong(self) -> int:
        """How many labels are wrong."""
        count = 0
        for first in range(0, len(self), TOGETHER):
            rows = list(range(first, min(first + TOGETHER, len(self))))
            pairs = zip(self.split[rows]["target"], self[rows]["target"], strict=True)
            count += sum(str(right) != found for right, found in pairs)
        return count


def with_noise(split: Split, side: Side, seed: int) -> Split:
    """The split, with wrong labels where its side asks for some."""
    return NoisyLabels(split, side, seed) if isinstance(side, Label) and side.noise else split
