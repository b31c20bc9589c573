"""The bootstrap: how far a score would move on other test sentences of the same kind (Koehn 2004).

A test set of N sentences is drawn N times with replacement, `DRAWS` times over. What is drawn are the counts
of each sentence (n-grams that match, lengths ...), never the texts. The draws are sacreBLEU's own: the same
generator, seed, number and percentiles, so that the intervals are too; but each draw is a product of a vector
and a matrix, where sacreBLEU copies all sentences of all draws into memory at once.

Letters: N sentences, K counts a sentence, C of them not zero, M draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

DRAWS = 1000
SEED = 12345


@dataclass(frozen=True)
class Sparse:
    """Rows of `width` counts that are nearly all zero: where the others stand, and what they are.

    A label of a thousand classes is one count of a thousand. Sums are exact as long as they are below 2^53.
    """

    columns: Int[np.ndarray, "N C"]
    values: Int[np.ndarray, "N C"]
    width: int

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: Int[np.ndarray, " I"]) -> Sparse:
        return Sparse(self.columns[index], self.values[index], self.width)

    def weighted(self, times: Int[np.ndarray, " N"]) -> Int[np.ndarray, " K"]:
        """The sum of the rows, each taken so many times."""
        values = (self.values * times[:, None]).ravel()
        found = np.bincount(self.columns.ravel(), values, minlength=self.width)
        return np.rint(found).astype(np.int64)


Rows: TypeAlias = Int[np.ndarray, "N K"] | Sparse


def add_up(rows: Rows) -> Int[np.ndarray, " K"]:
    """The counts of all sentences together."""
    return rows.weighted(np.ones(len(rows), np.int64)) if isinstance(rows, Sparse) else rows.sum(0)


def draws(rows: Rows, seed: int = SEED) -> Iterator[Int[np.ndarray, " K"]]:
    """The summed counts of each draw. The same seed draws the same sentences, which is what pairs two systems."""
    for times in counts_drawn(len(rows), seed):
        yield rows.weighted(times) if isinstance(rows, Sparse) else times @ rows


def counts_drawn(size: int, seed: int = SEED, number: int = DRAWS) -> Iterator[Int[np.ndarray, " N"]]:
    """How often each of so many sentences is taken, draw by draw."""
    generator = np.random.default_rng(seed)
    for _ in range(number):
        yield np.bincount(generator.integers(size, size=size), minlength=size)


def resample(rows: Rows, seed: int = SEED) -> Int[np.ndarray, "M K"]:
    """The summed counts of all draws, where they are few enough to be kept."""
    return np.stack(list(draws(rows, seed)))


def interval(values: Float[np.ndarray, " M"]) -> tuple[float, float]:
    """The middle 95 % of the values: their lowest and highest after a fortieth is cut off at both ends."""
    cut = len(values) // 40
    ordered = np.sort(values)
    return float(ordered[cut]), float(ordered[len(values) - cut - 1])
