"""A classifier as a person uses it: inputs in; a class, its probability and what was looked at out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import torch
from torch import Tensor

from regard.data.sides.label import Label
from regard.engine.home import describe, model_home, named_folder
from regard.errors import UsageError
from regard.model import Model
from regard.task import Side
from regard.tasks.seen import Seen, seen_by_label
from regard.tasks.using import batched, load_parts

TOKENS = 16_384  # padded positions that are read at a time


@dataclass(frozen=True)
class Classification:
    """One answer: the class, its probability, that of every class, and what was looked at to find it."""

    label: str
    probability: float
    probabilities: Mapping[str, float]
    source: Any
    attention: tuple[Tensor, ...] = field(default=(), repr=False)
    seen: Seen | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The class, as every answer has a text."""
        return self.label

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the words that were looked at, and the class."""
        if self.seen is None:
            return f"{self.source}  ->  {self.label} ({self.probability:.0%})"
        return f"{self.seen.text()}  ->  {self.label} ({self.probability:.0%})"


class Classifier:
    """A trained model that finds classes."""

    folder: Path | None = None

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(target, Label):
            raise UsageError("a classifier has a label as its target.")
        self.model, self.source, self.target, self.name = model.eval(), source, target, name

    @classmethod
    def load(cls, folder: str | Path) -> Classifier:
        """Read a model folder, or the best model of a run folder."""
        home = model_home(folder)
        model, parts = load_parts(home)
        found = cls(model, parts.source, parts.target, named_folder(folder).name)
        found.folder = home
        return found

    @property
    def classes(self) -> tuple[str, ...]:
        """All that it tells apart."""
        return self.target.names

    @overload
    def classify(self, inputs: str) -> Classification: ...
    @overload
    def classify(self, inputs: list[str]) -> list[Classification]: ...
    def classify(self, inputs: str | list[str]) -> Classification | list[Classification]:
        """The class of a text or image, or of each of many, in order."""
        found = self.answer([inputs] if isinstance(inputs, str | Path) else inputs)
        return found[0] if isinstance(inputs, str | Path) else found

    def answer(self, cells: Sequence[Any], *, record: bool = True) -> list[Classification]:
        """The likeliest class of each cell. `record` keeps what was looked at."""
        found: dict[int, Classification] = {}
        items = self.source.encode(cells)
        for rows in batched([self.source.positions(item) for item in items], TOKENS):
            with torch.inference_mode():
                labelled = self.model.label(self.source.collate([items[row] for row in rows]))
                chances = labelled.logits.float().softmax(-1)
            for place, row in enumerate(rows):
                looked = tuple(each.weights[place].float() for each in labelled.looked) if record else ()
                seen = seen_by_label(self.source, cells[row], labelled.looked, place) if record else None
                found[row] = self._told(cells[row], chances[place], looked, seen)
        return [found[row] for row in range(len(cells))]

    def _told(self, cell: Any, chances: Tensor, looked: tuple[Tensor, ...], seen: Seen | None) -> Classification:
        best = int(chances.argmax())
        every = dict(zip(self.target.names, chances.tolist(), strict=True))
        return Classification(self.target.names[best], float(chances[best]), every, cell, looked, seen)

    def look(self, cell: Any) -> Classification:
        """One cell, with all that was looked at."""
        return self.answer([cell])[0]

    def __repr__(self) -> str:
        told = describe(self.folder) if self.folder else "a model in memory"
        return f"<Classifier {self.name}: {told}; {len(self.classes)} classes; classify, answer, look>"
