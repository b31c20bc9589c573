"""The bootstrap: how far a score would move on other test sentences of the same kind (Koehn 2004).

A test set of N sentences is drawn N times with replacement, `DRAWS` times over. What is drawn are the counts
of each sentence (n-grams that match, lengths ...), never the texts. The draws are sacreBLEU's own: the same
generator, seed, number and percentiles, so that the intervals are too; but each draw is a product of a vector
and a matrix, where sacreBLEU copies all sentences of all draws into memory at once.

Letters: N sentences, K counts a sentence, M draws.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

DRAWS = 1000
SEED = 12345


def resample(rows: Int[np.ndarray, "N K"], seed: int = SEED) -> Int[np.ndarray, "M K"]:
    """The summed counts of each draw. The same seed draws the same sentences, which is what pairs two systems."""
    generator = np.random.default_rng(seed)
    size = len(rows)
    return np.stack([np.bincount(generator.integers(size, size=size), minlength=size) @ rows for _ in range(DRAWS)])


def interval(values: Float[np.ndarray, " M"]) -> tuple[float, float]:
    """The middle 95 % of the values: their lowest and highest after a fortieth is cut off at both ends."""
    cut = len(values) // 40
    ordered = np.sort(values)
    return float(ordered[cut]), float(ordered[len(values) - cut - 1])
