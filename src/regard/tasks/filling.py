"""What a filler gives back: what fills the holes of a text and what each looked at; how likely a text is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from regard.align.alignment import Alignment
from regard.align.record import Tokenized
from regard.data.tokenizer import MASK
from regard.errors import UsageError
from regard.show.document import MOST, record_document
from regard.show.shaded import Shaded
from regard.tasks.goals.fill import told_piece
from regard.tasks.reader import KIND, NOTHING, SelfLooked


@dataclass(frozen=True)
class Hole:
    """One hole: its position, and the likeliest pieces with their probabilities, the likeliest first."""

    position: int
    pieces: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def piece(self) -> str:
        """The likeliest."""
        return self.pieces[0]

    @property
    def probability(self) -> float:
        """That of the likeliest."""
        return self.probabilities[0]


@dataclass(frozen=True)
class Filling(SelfLooked):
    """One answer: a text with holes, what fills them, and what every position looked at."""

    source: str
    filled: str
    holes: tuple[Hole, ...]
    attention: tuple[Tensor, ...] = field(default=(), repr=False)
    read: Tokenized = field(default=NOTHING, repr=False)
    model: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        """The likeliest piece of each hole, with spaces between them."""
        return " ".join(told_piece(hole.piece) for hole in self.holes)

    @property
    def probability(self) -> float:
        """The mean over the holes."""
        return sum(hole.probability for hole in self.holes) / max(1, len(self.holes))

    def views(
        self, right: str | None = None, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> list[Shaded]:
        """For each hole the words, shaded by what it looked at, and its likeliest pieces.

        Of a layer (else the last) the mean of `heads` (else of all), counted from 0.
        """
        wanted = right.split() if right is not None else []
        if right is not None and len(wanted) != len(self.holes):
            raise UsageError(
                f"expected a piece for each of {len(self.holes)} holes; found {len(wanted)}.",
                hint="Write them with spaces between.",
            )
        seen = None if self.record is None else self.record.alignment(KIND, layer, heads)
        return [self._view(number, wanted[number] if wanted else None, seen) for number in range(len(self.holes))]

    def _view(self, number: int, right: str | None, seen: Alignment | None) -> Shaded:
        hole, names = self.holes[number], tuple(map(told_piece, self.holes[number].pieces))
        row = self.owners[hole.position]
        count = f"Hole {number + 1} of {len(self.holes)}: {self.filled}" if len(self.holes) > 1 else self.filled
        return Shaded(
            self.words,
            np.zeros((0, len(self.words)), np.float32) if seen is None else seen.numpy()[row : row + 1],
            names[0],
            hole.probability,
            right,
            classes=names,
            probabilities=hole.probabilities,
            note=count if seen is None else f"{count} (read from {seen.note})",
        )

    def figure(
        self, layer: int | None = None, heads: Sequence[int] | None = None, *, most: int = MOST
    ) -> dict[str, Any] | None:
        """Every layer and head for a page, opened at the first hole; None where that was not kept."""
        if self.record is None:
            return None
        told = record_document(self.record, self.source, self.record.reader(KIND, layer, heads), most=most)
        first = {"row": self.owners[self.holes[0].position]} if self.holes else {}
        return {**told, "chosen": {**told["chosen"], **first}}

    def compared(self, right: str | None) -> Shaded:
        """The first hole, beside the right piece."""
        if not self.holes:
            raise UsageError(f"{self.source!r} has no hole.", hint=f"Write {MASK} where a piece is hidden.")
        return self.views(right)[0]

    @property
    def seen(self) -> list[Shaded]:
        """What is drawn: a picture a hole."""
        return self.views()

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the text with its holes, what fills them, and how likely it is."""
        told = [f"{told_piece(hole.piece)} ({hole.probability:.0%})" for hole in self.holes]
        return f"{self.source}  ->  {', '.join(told)}"

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write what each hole looked at: a .html page (every head), a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        figure = self.figure()
        return save_answers(self.views(right), path, title, [figure] if figure else ())

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers(self.views())


@dataclass(frozen=True)
class Scored:
    """How likely a text is, piece by piece: each hidden in its turn while all others are seen (Salazar et al. 2020).

    `total` is the pseudo-log-likelihood, the sum over pieces. It is no likelihood of the text, but orders texts.
    """

    text: str
    pieces: tuple[str, ...]
    each: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum."""
        return sum(self.each)
