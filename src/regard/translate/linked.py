"""An output with its links to what it was written from: words of both by their places in the texts.

Letters: T words of the target, S words of the source; the ends of the sentences are not among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from regard.translate.translator import Translation

Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Linked:
    """A target text, where the words of both sides stand, and how much each target word looked at each source word.

    `best` is the source word of each target word, -1 where it has none.
    """

    text: str
    target: list[Span]
    source: list[Span]
    weights: Float[np.ndarray, "T S"]
    best: list[int]

    @classmethod
    def of(cls, line: str, found: Translation) -> Linked:
        """What a translation says; of a model that does not attend, words are linked by their order."""
        if found.alignment is None or found.sides is None:
            return cls.in_order(line, found.text)
        source, target = (word_spans(side.text, side.words[:-1]) for side in found.sides)
        best = [-1] * len(target)
        for s, t in found.alignment.links():
            best[t] = s
        return cls(found.text, target, source, found.alignment.numpy()[:-1, :-1], best)

    @classmethod
    def in_order(cls, line: str, text: str) -> Linked:
        """Each word of the target by the word in its place in the source."""
        source, target = word_spans(line, line.split()), word_spans(text, text.split())
        weights = np.zeros((len(target), len(source)), np.float32)
        best = [place * len(source) // len(target) if source else -1 for place in range(len(target))]
        if source:
            weights[range(len(target)), best] = 1.0
        return cls(text, target, source, weights, best)


def word_spans(text: str, words: Sequence[str]) -> list[Span]:
    """Where words stand in the text that they were cut from, in order: first character, and the one after the last."""
    found, at = list[Span](), 0
    for word in words:
        start = text.find(word, at)
        at = start + len(word)
        found.append((start, at))
    return found
