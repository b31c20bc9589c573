"""What the objects that people use have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from regard.engine.home import describe, model_home, named_folder
from regard.engine.pytorch.direct import direct_products
from regard.model import Model, load, recipe_of
from regard.task import Side, TaskParts

if TYPE_CHECKING:
    from regard.evaluate import Report

# What models are asked for by, whatever their task: who asks one for another's is told the right one.
VERBS = (
    "translate", "summarise", "caption", "latex", "generate", "code", "classify", "tag", "fill", "encode",
    "segment", "reconstruct", "sample", "align", "score",
)  # fmt: skip


class TaskModel:
    """A trained model with the sides of its task, as a person uses it; what depends on the task is added by each."""

    verb: ClassVar[str]  # the method that is its own
    wants: ClassVar[str]  # what a corpus has as its target
    usual: ClassVar[tuple[str, ...]] = ()  # metrics, where nobody chose others; others are measured before them
    folder: Path | None = None
    parts: TaskParts | None = None  # of its task, where it was read from a folder

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        self.model, self.source, self.target, self.name = model.eval(), source, target, name
        self.metrics = self.usual

    @classmethod
    def load(cls, folder: str | Path) -> Any:
        """Read a model folder, or the best model of a run folder."""
        home = model_home(folder)
        parts = TaskParts.load(recipe_of(home).task(), home)
        found = cls(load(home, cls.arrange), parts.source, parts.target, named_folder(folder).name)
        found.metrics = tuple(dict.fromkeys((*parts.metrics, *cls.usual)))
        found.folder, found.parts = home, parts
        return found

    @staticmethod
    def arrange(model: Model) -> None:
        """Make a model ready to be used, before its weights are read: how they lie, and what multiplies with them."""
        direct_products(model)

    @property
    def reads(self) -> str:
        """What a corpus has as its source."""
        return "image" if getattr(self.source, "is_image", False) else "text"

    def answer(self, cells: Any, *, record: bool = True) -> list[Any]:
        """An answer for each cell, in order, each with its `text`. `record` keeps what was looked at."""
        raise TypeError(f"{type(self).__name__} does not say how it answers.")

    def look(self, cell: Any) -> Any:
        """The answer to one cell, with all that was looked at."""
        return self.answer([cell])[0]

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """What an evaluation asks of the rows of a corpus, and what is right: as the corpus has them."""
        return cells, references

    def measured(self, answers: Sequence[Any], references: Sequence[str]) -> dict[str, Any]:
        """What a report has of some answers beside their scores, by the names of its fields."""
        return {}

    def evaluate(self, data: Any, **asked: Any) -> Report:
        """Measure it on a corpus; `regard.evaluate` says what can be asked."""
        from regard import evaluate

        return evaluate(self, data, **asked)

    def __getattr__(self, name: str) -> Any:
        if name in VERBS:
            raise AttributeError(
                f"a {type(self).__name__} cannot {name}: it was trained to {self.verb}. Write model.{self.verb}(...)."
            )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _repr(self, size: str) -> str:
        told = describe(self.folder) if self.folder else "a model in memory"
        return f"<{type(self).__name__} {self.name}: {told}; {size}; {self.verb}, answer, look, evaluate>"


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


class Answerer:
    """A trained model whose goal has no object of its own: it answers, as its goal says."""

    def __init__(self, model: Model, parts: TaskParts) -> None:
        self.model, self.parts = model.eval(), parts

    @classmethod
    def load(cls, folder: str | Path) -> Answerer:
        """Read a model folder, or the best model of a run folder."""
        home = model_home(folder)
        return cls(load(home), TaskParts.load(recipe_of(home).task(), home))

    def answer(self, cells: Sequence[Any]) -> list[Any]:
        """An answer for each cell, each with its `text`."""
        found: list[Any] = self.parts.goal.answer(self.model, cells)
        return found

    def __repr__(self) -> str:
        return f"<a model to {self.parts.task.verb}: answer>"
