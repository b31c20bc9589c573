"""What a model looked at while it found a label: weights over the words of a text, or the cells of an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from regard.data.sides.text import Text
from regard.task import Side
from regard.types import Attended

END = "</s>"
SHADES = " ░▒▓█"


@dataclass(frozen=True)
class Seen:
    """How much each query looked at each word; the last is the end of the text. `gates` say which were open."""

    words: tuple[str, ...]
    weights: Float[np.ndarray, "Q S"]
    gates: Bool[np.ndarray, " S"] | None = None

    def most(self, count: int = 3) -> list[int]:
        """The words that were looked at most, by their places, the end left out."""
        mean = self.weights.mean(0)[: len(self.words) - 1]
        return [int(place) for place in np.argsort(-mean, kind="stable")[:count]]

    def text(self) -> str:
        """Words, each after a block that is the darker the more it was looked at."""
        mean = self.weights.mean(0)
        top = max(float(mean.max()), 1e-9)
        shades = [SHADES[round(float(weight) / top * (len(SHADES) - 1))] for weight in mean]
        return " ".join(f"{shade}{word}" for shade, word in zip(shades[:-1], self.words[:-1], strict=True))


def seen_by_label(source: Side, cell: Any, looked: tuple[Attended, ...], place: int) -> Seen | None:
    """What the queries of a label looked at in one text of a batch; None where none looks, or it is no text."""
    if not looked or not isinstance(source, Text):
        return None
    pieces = source.tokenizer.encode(cell)
    spans = source.tokenizer.words(pieces)
    owners = [*source.tokenizer.piece_to_word(pieces, spans), len(spans)]
    weights = looked[-1].weights[place].detach().float().numpy()
    weights = weights.reshape(-1, weights.shape[-1])[:, : len(owners)]  # heads are queries too
    words = np.zeros((len(weights), len(spans) + 1), dtype=np.float32)
    for piece, owner in enumerate(owners):
        words[:, owner if owner >= 0 else len(spans)] += weights[:, piece]
    return Seen((*(pieces.text[start:end] for start, end in spans), END), words)
