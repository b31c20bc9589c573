"""How likely texts are to a language model: perplexity by word and by piece, and bits by byte.

Which of them is told makes a great difference: a model whose pieces are short finds each of them easy. By piece one
compares models that share a tokenizer; by word, and by byte, any that read the same text. What is divided is always
-log p of the whole text, its end included; the end of a line counts as one piece, one word and one byte.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from regard.evaluate.counts import Counted, signed

SCALE = 1_000_000  # of a nat: counts are whole numbers, which add up in any order
MOST = 700.0  # nats: beyond it there is no number for a perplexity


@dataclass(frozen=True)
class Likelihood:
    """Of one text: -log p in nats, and what it has been divided among."""

    nll: float
    pieces: int
    words: int
    bytes: int

    @classmethod
    def of(cls, text: str, nll: float, pieces: int) -> Likelihood:
        """Of a row of a corpus: one that ends with a line feed has no end of its own."""
        feeds, end = text.count("\n"), not text.endswith("\n")
        return cls(nll, pieces, len(text.split()) + feeds + end, len(text.encode()) + end)

    def __add__(self, other: Likelihood) -> Likelihood:
        return Likelihood(
            self.nll + other.nll, self.pieces + other.pieces, self.words + other.words, self.bytes + other.bytes
        )


def count_perplexity(texts: Sequence[Likelihood]) -> Counted:
    """Perplexity by word: exp of -log p over words and ends."""
    return _counted("perplexity", "word", texts, _perplexity)


def count_piece_perplexity(texts: Sequence[Likelihood]) -> Counted:
    """Perplexity by piece of the tokenizer."""
    return _counted("piece perplexity", "piece", texts, _perplexity)


def count_bits(texts: Sequence[Likelihood]) -> Counted:
    """Bits by byte: -log2 p over the bytes of the text and its ends."""
    return _counted("bits per byte", "byte", texts, _bits)


def _counted(name: str, unit: str, texts: Sequence[Likelihood], formula: Callable[[list[int]], float]) -> Counted:
    rows = [(round(SCALE * each.nll), getattr(each, f"{unit}s")) for each in texts]
    head = f"unit:{unit}|ends:counted"
    return Counted(name, np.array(rows, np.int64).reshape(-1, 2), formula, lambda seed: signed(seed, head))


def _perplexity(sums: list[int]) -> float:
    return math.exp(min(MOST, sums[0] / SCALE / max(1, sums[1])))


def _bits(sums: list[int]) -> float:
    return sums[0] / SCALE / max(1, sums[1]) / math.log(2)
