"""Scores of outputs against references, and the difference between two systems.

`references[n]` is the right answer to `outputs[n]`, or several of them. Both are raw text as people write it:
each metric cuts it into words or characters in its own, fixed way, which its signature names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.evaluate.bootstrap import DRAWS, SEED, interval
from regard.evaluate.counts import (
    Count,
    Reference,
    Score,
    count_bleu,
    count_chrf,
    count_exact,
    equal_counts,
)
from regard.evaluate.metrics import counting

SEEN = 0.05  # from which on a difference is not written as zero
ROUNDING = 1e-9  # what the same difference, computed twice, may differ by


def bleu(
    outputs: Sequence[str],
    references: Sequence[Reference],
    *,
    lower: bool = False,
    tokenize: str = "13a",
    seed: int = SEED,
) -> Score:
    """BLEU of a corpus (Papineni et al. 2002), by sacreBLEU: n-grams of words in common, short outputs punished."""
    return count_bleu(outputs, references, lower=lower, tokenize=tokenize).score(seed)


def chrf(outputs: Sequence[str], references: Sequence[Reference], *, lower: bool = False, seed: int = SEED) -> Score:
    """chrF2 of a corpus (Popović 2015), by sacreBLEU: n-grams of characters in common, recall counting twice."""
    return count_chrf(outputs, references, lower=lower).score(seed)


def exact_match(
    outputs: Sequence[str], references: Sequence[Reference], *, lower: bool = False, seed: int = SEED
) -> Score:
    """How many outputs of a hundred are their reference, letter by letter, white space at both ends aside."""
    return count_exact(outputs, references, lower=lower).score(seed)


def scores_of(
    metrics: Sequence[str],
    answers: Sequence[str],
    references: Sequence[Reference],
    probabilities: Sequence[float] | None = None,
    *,
    seed: int = SEED,
) -> tuple[Score, ...]:
    """The scores of answers by several metrics of the table, as a task names them."""
    return tuple(counting(name, probabilities)(answers, references).score(seed) for name in metrics)


@dataclass(frozen=True)
class Difference:
    """How far the score of the first of two systems lies above that of the second, and whether chance would do as well.

    `value` is the first score less the second (where less is better, it is negative if the first wins); `low` and
    `high` bound the middle 95 % of its draws. `p` is the share of draws in which two equally good systems would lie
    this far apart or farther, either way; of a single sentence, which every draw repeats, it is 1: nothing is known of
    others.
    """

    value: float
    p: float
    low: float
    high: float
    name: str
    signature: str

    def __str__(self) -> str:
        return f"{self.name}|{self.signature}: difference {self.told()}"

    def told(self) -> str:
        """The difference, its interval and its p; without them where all of it is rounded to nothing."""
        if max(abs(self.value), abs(self.low), abs(self.high)) < SEEN:
            return f"+0.0 (less than {SEEN:g} apart)"
        return f"{self.value:+.1f} [{self.low:+.1f}, {self.high:+.1f}], p = {self.p:.3f}"


def compare(
    outputs_a: Sequence[str],
    outputs_b: Sequence[str],
    references: Sequence[Reference],
    metric: str | Count = "bleu",
    *,
    probabilities: tuple[Sequence[float], Sequence[float]] | None = None,
    seed: int = SEED,
) -> Difference:
    """Paired bootstrap: both systems are scored on the same draws of sentences, so what is hard is hard for both.

    `metric` is the name of any that counts answers (`bleu`, `accuracy`, `macro_f1` ...), or a function such as
    `partial(count_bleu, lower=True)`; `ece` needs the `probabilities` of both systems' answers. The draws' differences
    are moved to lie around zero, as if neither system were better (Riezler & Maxwell 2005).
    """
    equal_counts(outputs_a=len(outputs_a), outputs_b=len(outputs_b))
    sure = probabilities or (None, None)
    first, second = (
        counting(metric, each)(outputs, references) for outputs, each in zip((outputs_a, outputs_b), sure, strict=True)
    )
    value = first.value() - second.value()
    drawn = first.drawn(seed) - second.drawn(seed)
    as_far = int(np.sum(np.abs(drawn - drawn.mean()) >= abs(value) - ROUNDING))
    p = (as_far + 1) / (DRAWS + 1) if len(references) > 1 else 1.0
    low, high = interval(drawn)
    return Difference(value, p, low, high, first.name, first.sign(seed))
