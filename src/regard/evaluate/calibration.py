"""Calibration: of answers that a model calls 80 % sure, are 80 % right? (Guo et al. 2017)

Answers are sorted by their probability into bins of equal width, (low, high] as in the paper, 0 in the first. With n
answers in a bin of N, the expected calibration error is the sum over bins of n/N |share right - mean probability|.

Letters: N answers, M bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from regard.errors import UsageError
from regard.evaluate.bootstrap import Sparse
from regard.evaluate.counts import Counted, Reference, equal_counts, signed
from regard.evaluate.labels import one_right

BINS = 15  # as most papers have
UNIT = 2**30  # probabilities are summed in whole billionths: sums of buckets are then those of the corpus, exactly
BAR = 40  # cells of a bar that says 100 %


@dataclass(frozen=True)
class Bin:
    """Answers of a probability above `low` and up to `high`: how many, how sure on average, and which share is right.

    An empty bin has nothing to say: both are None.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Calibration:
    """How sure a model was, and how often it was right, bin by bin."""

    bins: tuple[Bin, ...]

    @property
    def ece(self) -> float:
        """The expected calibration error in percent."""
        total = sum(each.count for each in self.bins)
        gaps = [each.count * abs(_number(each.accuracy) - _number(each.confidence)) for each in self.bins]
        return 100 * sum(gaps) / total if total else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as plain values."""
        return {"ece": self.ece, "bins": [asdict(each) for each in self.bins]}

    def as_text(self) -> str:
        """A line a bin that is not empty: how sure, how often right, and that as a bar, which should end at `|`."""
        lines = [f"{'sure':>13}  {'answers':>7}  {'right':>6}  mean probability: |"]
        for each in self.bins:
            if each.count:
                sure, right = _number(each.confidence), _number(each.accuracy)
                bar = ["█" if place < round(BAR * right) else " " for place in range(BAR + 1)]
                bar[round(BAR * sure)] = "|"
                span = f"{100 * each.low:.0f}-{100 * each.high:.0f} %"
                lines.append(f"{span:>13}  {each.count:>7,}  {100 * right:>4.0f} %  {''.join(bar).rstrip()}")
        return "\n".join(lines)


def calibration(
    answers: Sequence[str], references: Sequence[Reference], probabilities: Sequence[float], *, bins: int = BINS
) -> Calibration:
    """The bins of some answers, whose probabilities the model gave."""
    return calibration_of(count_ece(answers, references, probabilities, bins=bins))


def calibration_of(counted: Counted) -> Calibration:
    """The bins of what was counted for the calibration error."""
    rows = np.array(counted.totals()).reshape(3, -1)
    size = rows.shape[1]
    return Calibration(
        tuple(
            Bin(
                place / size,
                (place + 1) / size,
                count,
                confidence / UNIT / count if count else None,
                right / count if count else None,
            )
            for place, (count, confidence, right) in enumerate(rows.T.tolist())
        )
    )


def count_ece(
    answers: Sequence[str], references: Sequence[Reference], probabilities: Sequence[float], *, bins: int = BINS
) -> Counted:
    """The calibration error's counts, in the bin of each answer: a one, its probability (fixed point), is it right."""
    found, wanted = one_right(answers, references)
    place = _bins(_checked(probabilities, len(found)), bins)
    sure = np.rint(np.asarray(probabilities, np.float64) * UNIT).astype(np.int64)
    right = np.array([one == other for one, other in zip(found, wanted, strict=True)], np.int64)
    columns = np.stack([place, bins + place, 2 * bins + place], axis=1)

    def formula(sums: list[int]) -> float:
        count, confidence, hits = np.array(sums).reshape(3, bins)
        return float(100 * np.abs(hits - confidence / UNIT).sum() / count.sum())

    values = np.stack([np.ones_like(sure), sure, right], axis=1)
    return Counted("ECE", Sparse(columns, values, 3 * bins), formula, lambda seed: signed(seed, f"bins:{bins}"))


def _bins(probabilities: Float[np.ndarray, " N"], bins: int) -> Int[np.ndarray, " N"]:
    """The bin of each probability: the first whose upper end it does not exceed."""
    return np.searchsorted(np.arange(1, bins) / bins, probabilities, side="left")


def _checked(probabilities: Sequence[float], count: int) -> Float[np.ndarray, " N"]:
    """Probabilities that are some."""
    equal_counts(answers=count, probabilities=len(probabilities))
    values = np.asarray(probabilities, np.float64)
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1 + 1e-6)))
    if len(wrong):
        raise UsageError(
            f"probabilities: expected numbers from 0 to 1; row {wrong[0] + 1} has {values[wrong[0]]:g}.",
            hint="Give the probability of each answer, after the softmax, not its score.",
        )
    return values


def _number(value: float | None) -> float:
    return 0.0 if value is None else value
