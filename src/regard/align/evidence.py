"""How far an alignment is to be believed, told from the weights alone.

With a_ij the weight of target word i on source word j, J source words and I target words:

    coverage     1/J Σ_j (1 − Π_i (1 − a_ij))           which share of the source words was looked at?
    focus out    −1/I Σ_i H(a_i·)                       does each target word look at few source words?
    focus in     −1/J Σ_j H(a_·j / Σ_i a_ij)            is each source word looked at by few target words?
    confidence   the product of the three, as shares

If every target word took one source word, drawn by its weights, coverage is the share of source words that somebody
would be expected to take. I target words take at most I: a full stop for a sentence of twenty words covers a twentieth
of it at best, wherever it looks, and a word that is repeated covers no more than it did the first time.

The focus is that of Rikters & Fishel (2017, SoftAlignments): H is the entropy in nats, of weights that are first made
to sum to one; 0 is best, and as a share it is exp(−0.05 x²). Their coverage is not used: it asks how far each word is
from being looked at once, and forgives one that never was nearly as much as one that was (a sentence that was left out
altogether has 62 %).

i and j run over words alone, since the end of a sentence is under no duty to be translated, and translates nothing; the
sums and entropies inside the focus include it, since it may look and may be looked at. A row or column without any
weight has entropy 0: that it was left out, coverage says.

Nothing here knows what is right: a wrong translation may be confident. Letters: T target, S source words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import torch
from jaxtyping import Float
from torch import Tensor

FALL = 0.05  # how fast the share falls with the square of an entropy


@dataclass(frozen=True)
class Measure:
    """One figure: a share from 0 to 1, 1 at best; the value it was made from; and what it says.

    Of coverage and confidence the value is the share itself; of focus it is minus an entropy in nats, 0 at best.
    """

    value: float
    share: float
    meaning: str

    def __str__(self) -> str:
        told = f"{100 * self.share:.0f} %"
        return told if self.value == self.share else f"{told} ({round(self.value, 2) + 0:.2f})"  # and never "-0.00"


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
        coverage = _share(_covered(weights[:-1, :-1]), "the share of source words that were looked at")
        focus_out = _focus(weights[:-1], "each target word looks at few source words")
        focus_in = _focus(weights.T[:-1], "each source word is looked at by few target words")
        product = coverage.share * focus_out.share * focus_in.share
        return cls(coverage, focus_out, focus_in, _share(product, "the product of coverage and focus, out and in"))

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


def _share(share: float, meaning: str) -> Measure:
    return Measure(share, share, meaning)


def _covered(weights: Float[Tensor, "T S"]) -> float:
    """The mean chance of a source word to be taken by somebody; where there is no source word, nothing was missed."""
    missed = (1 - weights.clamp(0, 1)).prod(0)
    return float(1 - missed.mean()) if len(missed) else 1.0


def _focus(rows: Float[Tensor, "N K"], meaning: str) -> Measure:
    """Minus the mean entropy of rows; of no rows at all, 0."""
    totals = rows.sum(-1, keepdim=True)
    shares = rows / totals.where(totals > 0, torch.ones(()))
    entropies = -torch.special.xlogy(shares, shares).sum(-1)
    value = -float(entropies.mean()) if len(entropies) else 0.0
    return Measure(value, exp(-FALL * value * value), meaning)
