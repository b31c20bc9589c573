"""Which classes are taken for which: a table of right answers against answers, and what follows for each class.

Letters: K classes; rows are right answers, columns what was answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int
from rich.cells import cell_len, set_cell_size

from regard.errors import UsageError
from regard.evaluate.counts import Reference
from regard.evaluate.labels import numbered, one_right

WIDTH = 80  # cells of a line
CELL = 3  # cells that a column takes at least
LONGEST = 24  # cells of a class name that are shown
MEAN = "mean of the classes"
MIXED = 5  # of the confusions, how many are told where the whole table is too wide


@dataclass(frozen=True)
class ClassScore:
    """One class: how often it occurs and is answered, and, as shares from 0 to 1, how well it is found."""

    name: str
    occurs: int
    answered: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Confusion:
    """How often each class (a row) was answered by each (a column)."""

    classes: tuple[str, ...]
    counts: Int[np.ndarray, "K K"]

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return float(self.counts.trace() / max(1, self.counts.sum()))

    def by_class(self) -> list[ClassScore]:
        """Precision, recall and F1 of each class; 0 where a class was never answered, or never occurs."""
        right, occurs, answered = self.counts.diagonal(), self.counts.sum(1), self.counts.sum(0)
        shares = zip(
            right / np.maximum(answered, 1),
            right / np.maximum(occurs, 1),
            2 * right / np.maximum(occurs + answered, 1),
            strict=True,
        )
        return [
            ClassScore(name, int(there), int(given), *map(float, each))
            for name, there, given, each in zip(self.classes, occurs, answered, shares, strict=True)
        ]

    def mixed(self, most: int = MIXED) -> list[tuple[str, str, int]]:
        """The most frequent confusions: the right class, the one answered, how often."""
        wrong = self.counts - np.diag(self.counts.diagonal())
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        places = [divmod(int(each), len(self.classes)) for each in order]
        told = [(self.classes[row], self.classes[column], int(wrong[row, column])) for row, column in places]
        return [each for each in told if each[2]]

    def as_text(self, width: int = WIDTH) -> str:
        """Each class with its scores; below, the whole table where it has room, else the most frequent confusions."""
        names = _labels(self.classes)
        table = self._table(names) if CELL * len(names) <= width else []  # of a thousand classes nobody asks for it
        if not table or max(map(cell_len, table)) > width:
            told = [f"  {_cut(right)} was called {_cut(answer)}: {count:,}" for right, answer, count in self.mixed()]
            table = ["most often taken for another", *told] if told else ["no class is taken for another"]
        return "\n".join([*self._scores(names), "", *table])

    def as_dict(self) -> dict[str, Any]:
        """Plain values: the classes, and [right class, answered class, how often] by number, where that is not zero."""
        cells = [[int(row), int(column), int(self.counts[row, column])] for row, column in np.argwhere(self.counts)]
        return {"classes": list(self.classes), "cells": cells}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Confusion:
        """What `as_dict` wrote."""
        size = len(found["classes"])
        counts = np.zeros((size, size), np.int64)
        for row, column, count in found["cells"]:
            counts[row, column] = count
        return cls(tuple(found["classes"]), counts)

    def _scores(self, names: Sequence[str]) -> list[str]:
        rows = self.by_class()
        margin = max(map(cell_len, (*names, MEAN)))
        lines = [
            f"{_fill('class', margin)}  {'occurs':>7}  {'answered':>8}  {'precision':>9}  {'recall':>6}  {'F1':>5}"
        ]
        for name, each in zip(names, rows, strict=True):
            counts = f"{each.occurs:>7,}  {each.answered:>8,}"
            lines.append(f"{_fill(name, margin)}  {counts}  {_shares(each.precision, each.recall, each.f1)}")
        there = [each for each in rows if each.occurs + each.answered] or rows
        means = np.mean([(each.precision, each.recall, each.f1) for each in there], axis=0).tolist()
        return [*lines, f"{_fill(MEAN, margin)}  {'':>7}  {'':>8}  {_shares(*means)}"]

    def _table(self, names: Sequence[str]) -> list[str]:
        head = "right answer, below; answered:"
        margin = max(map(cell_len, (*names, head)))
        cell = max(len(f"{self.counts.max(initial=0):,}"), len(str(len(names)))) + 2
        lines = [_fill(head, margin) + "".join(f"{number:>{cell}}" for number in range(1, len(names) + 1))]
        for name, row in zip(names, self.counts.tolist(), strict=True):
            cells = (f"{count:,}" if count else "." for count in row)
            lines.append(_fill(name, margin) + "".join(each.rjust(cell) for each in cells))
        return lines


def confusion(
    answers: Sequence[str], references: Sequence[Reference], classes: Sequence[str] | None = None
) -> Confusion:
    """Count which class was answered for which; `classes` says their order and names those that never occur."""
    found, wanted = one_right(answers, references)
    known, columns = numbered(found, wanted)
    names = list(known if classes is None else classes)
    if len(set(names)) < len(names):
        raise UsageError("classes: expected each class once; found one twice.")
    strange = [label for label in known if label not in set(names)]
    if strange:
        raise UsageError(
            f"classes: expected all that occur; {len(strange)} are missing, first '{strange[0]}'.",
            hint="Leave classes out to count whatever occurs.",
        )
    place = np.array([names.index(label) for label in known], np.int64)
    answered, right = (place[column] for column in columns)
    counts = np.bincount(right * len(names) + answered, minlength=len(names) ** 2).reshape(len(names), -1)
    return Confusion(tuple(names), counts)


def _labels(classes: Sequence[str]) -> list[str]:
    """Names with their numbers, which stand above the columns."""
    digits = len(str(len(classes)))
    return [f"{number:>{digits}} {_cut(name)}" for number, name in enumerate(classes, 1)]


def _cut(name: str) -> str:
    """A name in one line that a terminal only shows, and no longer than there is room for."""
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(name.split())) or "␠"
    return name if cell_len(name) <= LONGEST else set_cell_size(name, LONGEST - 1) + "…"


def _fill(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _shares(precision: float, recall: float, f1: float) -> str:
    return f"{100 * precision:>9.1f}  {100 * recall:>6.1f}  {100 * f1:>5.1f}"
