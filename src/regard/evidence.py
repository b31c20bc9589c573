"""How far an alignment is to be believed, told from the weights alone (Rikters & Fishel 2017, SoftAlignments).

With a_ij the weight of target word i on source word j, J source words and I target words:

    coverage     −1/J Σ_j log(1 + |1 − Σ_i a_ij|^6)     was each source word looked at about once?
    focus out    −1/I Σ_i H(a_i·)                       does each target word look at few source words?
    focus in     −1/J Σ_j H(a_·j / Σ_i a_ij)            is each source word looked at by few target words?
    confidence   coverage + focus out + focus in

H is the entropy in nats, of weights that are first made to sum to one. i and j run over words alone, since the end
of a sentence is under no duty to be translated; the sums and entropies inside include it, since it may look and
may be looked at. A row or column without any weight has entropy 0: that it was left out, coverage says.

Every value is 0 at best and falls without bound. As a percentage, for people, it is 100 · exp(−x²) for coverage
and 100 · exp(−0.05 x²) for the others, as in SoftAlignments, whose exponent 6 we keep too (the paper writes 2): it
forgives a word that was looked at half as much again, and not one that was looked at three times or never.

Nothing here knows what is right: a wrong translation may be confident. Letters: T target, S source words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import torch
from jaxtyping import Float
from torch import Tensor

POWER = 6  # of the distance from being looked at once
STRICT, MILD = 1.0, 0.05  # how fast the percentages fall


@dataclass(frozen=True)
class Measure:
    """One figure: its raw value, 0 at best; the same as a share from 0 to 1; and what it says."""

    value: float
    share: float
    meaning: str

    def __str__(self) -> str:
        return f"{100 * self.share:.0f} % ({round(self.value, 2) + 0:.2f})"  # and never "-0.00"


@dataclass(frozen=True)
class Evidence:
    """Coverage, focus both ways, and the confidence that sums them up."""

    coverage: Measure
    focus_out: Measure
    focus_in: Measure
    confidence: Measure

    @classmethod
    def of(cls, matrix: Float[Tensor, "T S"]) -> Evidence:
        """The evidence of an alignment matrix whose last row and column are the ends of the sentences."""
        weights = matrix.double()
        covered = weights.sum(0)[:-1]
        coverage = -_mean((1 + (1 - covered).abs() ** POWER).log())
        focus_out, focus_in = -_mean(_entropy(weights[:-1])), -_mean(_entropy(weights.T[:-1]))
        confidence = coverage + focus_out + focus_in
        return cls(
            _measure(coverage, STRICT, "each source word is looked at about once"),
            _measure(focus_out, MILD, "each target word looks at few source words"),
            _measure(focus_in, MILD, "each source word is looked at by few target words"),
            _measure(confidence, MILD, "the sum of coverage and focus, out and in"),
        )

    def named(self) -> dict[str, Measure]:
        """Each figure by the name that people read."""
        return {
            "confidence": self.confidence,
            "coverage": self.coverage,
            "focus out": self.focus_out,
            "focus in": self.focus_in,
        }

    def __str__(self) -> str:
        return ", ".join(f"{name} {measure}" for name, measure in self.named().items())


def _measure(value: float, fall: float, meaning: str) -> Measure:
    return Measure(value, exp(-fall * value * value), meaning)


def _mean(values: Float[Tensor, " N"]) -> float:
    """The mean; of no words at all, 0: nothing was missed."""
    return float(values.mean()) if len(values) else 0.0


def _entropy(rows: Float[Tensor, "N K"]) -> Float[Tensor, " N"]:
    totals = rows.sum(-1, keepdim=True)
    shares = rows / totals.where(totals > 0, torch.ones(()))
    return -torch.special.xlogy(shares, shares).sum(-1)
