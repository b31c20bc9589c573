"""A classified text: its words, shaded by how much each was looked at, and what was answered.

What the terminal, a page and a figure need to know of it is said here once, so that they show the same.

Letters: Q queries, S words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Shaped

from regard.data.words import has_unspaced
from regard.errors import ShapeError, UsageError

EVEN = 3.0  # a weight of so many even shares is shaded fully where none is larger: looking everywhere stays pale
STRONGEST = 5  # words, and classes, that are told by name
FAINT = 0.1  # of the fully shaded weight: what is below is not told by name
RIGHT, WRONG = "✓", "✗"


class Answered:
    """What is told of every answer that is a class, whatever was read to find it."""

    answer: str
    probability: float | None
    right: str | None
    classes: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is right; nothing where that is not known."""
        return None if self.right is None else self.answer == self.right

    def heading(self) -> list[str]:
        """The answer, how sure it is, and whether it is right: parts, of which each has a direction of its own."""
        sure = [] if self.probability is None else [percent(self.probability)]
        verdict = {None: [], True: [RIGHT], False: [f"{WRONG} right:", str(self.right)]}[self.is_right]
        return [self.answer, *sure, *verdict]

    def likeliest(self, most: int = STRONGEST) -> list[tuple[str, float]]:
        """The classes of highest probability, and the right one if it is not among them."""
        ranked = sorted(zip(self.classes, self.probabilities, strict=True), key=lambda each: -each[1])
        missed = [each for each in ranked[most:] if each[0] == self.right]
        return ranked[:most] + missed


@dataclass(frozen=True)
class Shaded(Answered):
    """The words of a text, what each query looked at, and the answer.

    weights: of every query over the words; no query where a model does not attend.
    gates: which words were open (1) and which were closed (0), where gates chose them.
    right: the right answer, where it is known.  classes, probabilities: all of them, for a small list of bars.
    """

    words: tuple[str, ...]
    weights: Float[np.ndarray, "Q S"]
    answer: str
    probability: float | None = None
    right: str | None = None
    gates: Shaped[np.ndarray, " L"] | None = None
    classes: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        if self.weights.shape[1] != len(self.words):
            raise ShapeError(
                f"weights: expected one for each of {len(self.words)} words; found {self.weights.shape[1]}."
            )
        if self.gates is not None and len(self.gates) != len(self.words):
            raise ShapeError(f"gates: expected one for each of {len(self.words)} words; found {len(self.gates)}.")
        if len(self.classes) != len(self.probabilities):
            raise UsageError(f"classes: expected a probability for each of {len(self.classes)}; "
                             f"found {len(self.probabilities)}.")  # fmt: skip
        if not np.isfinite(self.weights).all():
            raise UsageError("weights: expected numbers; found values that are not finite.")

    @property
    def is_open(self) -> Bool[np.ndarray, " S"]:
        """Which words were open to be looked at: all, where there are no gates."""
        return np.ones(len(self.words), bool) if self.gates is None else np.asarray(self.gates) > 0.5

    def full(self, query: int) -> float:
        """The weight that is shaded fully: the query's largest, but at least some even shares of the open words."""
        even = EVEN / max(1, int(self.is_open.sum()))
        return float(max(self.weights[query].max(initial=0.0), min(1.0, even)))

    def shades(self, query: int) -> Float[np.ndarray, " S"]:
        """How dark each word is, from 0 to 1."""
        return np.clip(self.weights[query].astype(np.float64) / self.full(query), 0, 1) * self.is_open

    def strongest(self, query: int, most: int = STRONGEST) -> list[tuple[str, float]]:
        """The words that a query looked at most, and their weights; for those who see no shades."""
        row = self.weights[query]
        least = max(FAINT * self.full(query), 1.01 / max(1, int(self.is_open.sum())))  # an even share says nothing
        order = np.argsort(-row, kind="stable")[:most]
        return [(self.words[place], float(row[place])) for place in order if row[place] > least]

    def key(self, query: int) -> list[str]:
        """What the shades of a query mean and the words that it looked at most: parts, as of the heading."""
        name = f"query {query + 1}: " if len(self.weights) > 1 else ""
        told = self.strongest(query)
        parts = [
            f"{name}full shade is a weight of {self.full(query):.2g};",
            "strongest:" if told else "nothing stands out",
        ]
        for number, (word, weight) in enumerate(told, 1):
            parts += [word, f"{weight:.2g}{',' if number < len(told) else ''}"]
        return parts

    def remarks(self) -> list[str]:
        """What else is to be said below the words."""
        told = [self.note] if self.note else []
        if not len(self.weights):
            told.append("This model does not attend: its words have no weights.")
        if self.gates is not None:
            open_words = int(self.is_open.sum())
            told.append(f"Gates: {open_words} of {len(self.words)} words are open, those in boxes.")
            if not open_words:
                told.append("All gates are closed: nothing was looked at.")
        return told


def percent(share: float) -> str:
    """A probability as people read it."""
    return f"{100 * share:.1f} %"


def gaps(words: Sequence[str]) -> list[bool]:
    """Is there a space before each word? Not before the first, nor between letters of scripts written without."""
    return [
        bool(place) and not (_unspaced(words[place - 1][-1:]) and _unspaced(word[:1]))
        for place, word in enumerate(words)
    ]


def broken(widths: Sequence[float | int], before: Sequence[float | int], room: float | int) -> list[list[int]]:
    """Words as lines of at most `room`: their numbers, given how wide each is and what stands before it."""
    lines: list[list[int]] = []
    taken = 0.0
    for place, width in enumerate(widths):
        if lines and taken + before[place] + width <= room:
            lines[-1].append(place)
            taken += before[place] + width
        else:
            lines.append([place])
            taken = width
    return lines


def is_leftward(words: Sequence[str]) -> bool:
    """Is a text written from right to left? Its first letter that has a direction decides."""
    return next((way for word in words if (way := _direction(word)) is not None), False)


def seen_order(words: Sequence[str], leftward: bool) -> list[int]:
    """The words of a line in the order in which they stand from left to right.

    Words of the other direction keep their own order among themselves, and words without letters (numbers, stops) go
    with those around them: what Unicode's rules say, word by word.
    """
    ways = [_direction(word) for word in words]
    for place, way in enumerate(ways):
        if way is None:
            before = next((each for each in reversed(ways[:place]) if each is not None), leftward)
            after = next((each for each in ways[place + 1 :] if each is not None), leftward)
            ways[place] = before if before == after else leftward
    order: list[list[int]] = []
    for place, way in enumerate(ways):
        if order and way != leftward and ways[place - 1] != leftward:
            order[-1].append(place)
        else:
            order.append([place])
    if leftward:
        return [place for run in reversed(order) for place in run]
    return [place for run in order for place in reversed(run)]


def _direction(word: str) -> bool | None:
    """Is a word written from right to left, by its first letter that says so?"""
    kinds = map(unicodedata.bidirectional, word)
    return next((kind != "L" for kind in kinds if kind in ("L", "R", "AL")), None)


def _unspaced(letter: str) -> bool:
    """Is it a letter, or a full stop, of a script that is written without spaces?"""
    wide = letter != "" and unicodedata.east_asian_width(letter) in ("W", "F")
    return has_unspaced(letter) or (wide and unicodedata.category(letter).startswith("P"))
