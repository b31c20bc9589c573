"""How much the length of outputs should count: chosen at the end of a training, on validation pairs.

A beam prefers short outputs, and alpha, the exponent of the length penalty, takes that back; how much of it is right
differs from model to model and from corpus to corpus. A beam that is asked for as many outputs as it is wide finds the
same ones whatever alpha is, and alpha only ranks them: so one search is enough to try every value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from regard.data.words import are_spaced
from regard.evaluate import count_bleu
from regard.evaluate.counts import Reference
from regard.search import Options
from regard.search.hypothesis import penalty_of
from regard.search.options import ALPHA
from regard.tasks.references import texts_in

TRIED = tuple(round(0.2 * step, 1) for step in range(11))  # 0 to 2
FEWEST = 50  # pairs: by fewer nothing is decided


@runtime_checkable
class Searches(Protocol):
    """A model that writes: a `Translator`, a `Captioner` ..."""

    def search(self, given: Sequence[Any], options: Options, /, *, record: bool) -> list[list[Any]]:
        """The best outputs of each source, best first, each with its `text`, `likelihood` and `pieces`."""


@dataclass(frozen=True)
class Lengths:
    """The alpha of the best BLEU on so many pairs, that BLEU, and the one with the usual alpha."""

    alpha: float
    bleu: float
    usual: float
    pairs: int

    def to_json(self) -> dict[str, float]:
        """As a model folder keeps it."""
        return asdict(self)

    def __str__(self) -> str:
        told = f"outputs are ranked with alpha {self.alpha:g}: BLEU {self.bleu:.1f} on {self.pairs:,} validation pairs"
        return told if self.alpha == ALPHA else f"{told}, {self.usual:.1f} with {ALPHA:g}"


def choose_alpha(model: Searches, sources: Sequence[Any], references: Sequence[Reference]) -> Lengths | None:
    """The alpha that suits a model on given pairs; of equals the one nearest to the usual. None for too few pairs."""
    if len(sources) < FEWEST:
        return None
    beam = Options().beam
    found = model.search(sources, Options(beam=beam, nbest=beam), record=False)
    first = np.cumsum([0, *map(len, found)])[:-1]
    repeated = [reference for some, reference in zip(found, references, strict=True) for _ in some]
    # Characters where words have no spaces between them: BLEU would take a sentence for a word.
    counted = count_bleu(
        [each.text for some in found for each in some],
        repeated,
        tokenize="13a" if are_spaced(texts_in(references)) else "char",
    )
    scores = {
        alpha: counted.take(first + [best_by(alpha, some) for some in found]).value() for alpha in (*TRIED, ALPHA)
    }
    best = max(scores, key=lambda alpha: (round(scores[alpha], 2), -abs(alpha - ALPHA)))
    return Lengths(best, scores[best], scores[ALPHA], len(sources))


def best_by(alpha: float, outputs: Sequence[Any]) -> int:
    """The place of the output that is ranked first with this alpha."""
    scores = [each.likelihood / penalty_of(len(each.pieces) + 1, alpha) for each in outputs]
    return max(range(len(outputs)), key=scores.__getitem__)
