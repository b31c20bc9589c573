"""What the objects that people use have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.engine.home import model_home
from regard.model import Model, load, recipe_of
from regard.task import TaskParts


def batched(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Rows of like length together, longest first, at most `tokens` padded positions (or one row) at a time."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if rows and (len(rows) + 1) * lengths[rows[0]] > tokens:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def load_parts(home: Path) -> tuple[Model, TaskParts]:
    """The model of a model folder, and the parts of its task."""
    return load(home), TaskParts.load(recipe_of(home).task(), home)


class Answerer:
    """A trained model whose goal has no object of its own: it answers, as its goal says."""

    def __init__(self, model: Model, parts: TaskParts) -> None:
        self.model, self.parts = model.eval(), parts

    @classmethod
    def load(cls, folder: str | Path) -> Answerer:
        """Read a model folder, or the best model of a run folder."""
        return cls(*load_parts(model_home(folder)))

    def answer(self, cells: Sequence[Any]) -> list[Any]:
        """An answer for each cell, each with its `text`."""
        found: list[Any] = self.parts.goal.answer(self.model, cells)
        return found

    def __repr__(self) -> str:
        return f"<a model to {self.parts.task.verb}: answer>"
