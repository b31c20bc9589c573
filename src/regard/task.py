"""A task is three choices, source x target x goal, and these are their protocols.

A side reads one column of a corpus and makes what a model is fed; a goal says what is minimised, how an answer is made
and what it is measured by. Training, validation and use all go through the same `Side.encode`. The training loop sees
`Batch` and `Objective`, and imports no task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn

from regard.registry import Maker, maker, part
from regard.types import Batch

Role = Literal["source", "target"]
Cells = Sequence[Any]  # of one column of a corpus, or items made of them


@dataclass(frozen=True)
class Spec:
    """What a model is built with for one side: how many pieces, classes or channels; of an image its shape too."""

    size: int
    shape: tuple[int, ...] = ()

    def to_json(self) -> Any:
        """As weights keep it: a number where that is all."""
        return {"size": self.size, "shape": list(self.shape)} if self.shape else self.size

    @classmethod
    def of(cls, value: Any) -> Spec:
        """From what `to_json` wrote, from a number, or as it is."""
        if isinstance(value, Spec):
            return value
        return cls(value["size"], tuple(value["shape"])) if isinstance(value, Mapping) else cls(int(value))


@dataclass(frozen=True)
class Example:
    """One example between encoding and batching: what each side made of its cell.

    `row` is its place in the corpus, `weight` how many predictions it asks for; `extra` holds further columns, or what
    a goal made of them.
    """

    source: Any
    target: Any
    row: int = 0
    weight: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Side(Protocol):
    """One end of a task, as a recipe describes it and a corpus has taught it."""

    role: Role

    def spec(self) -> Spec:
        """What a model is built with."""

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn from the training cells what must be known before any is encoded: pieces, classes, sizes."""

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """An item for each cell. With `random`, drawn anew where the side draws; `given` are the source's items."""

    def positions(self, item: Any) -> int:
        """How many positions of a batch an item takes."""

    def predictions(self, item: Any) -> int:
        """How many predictions an item asks for, as a target."""

    def fits(self, item: Any) -> bool:
        """Is it short enough to be learnt from?"""

    def collate(self, items: Sequence[Any]) -> Any:
        """Items as one input of a model; None where there is nothing."""

    def files(self) -> dict[str, str]:
        """What a model folder keeps of it, by file name."""

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> Any:
        """As it was kept in a model folder."""


@runtime_checkable
class Examples(Protocol):
    """What examples are made of the encoded rows of a pool (kind `examples`)."""

    def __call__(self, pool: list[Example], random: Random) -> list[Example]: ...


@part("examples", "rows")
class Rows:
    """Every row is an example."""

    def __call__(self, pool: list[Example], random: Random) -> list[Example]:
        """As they are."""
        return pool


@dataclass(frozen=True)
class Loss:
    """`total` is what to minimise, a mean over predictions; `nll` is their mean -log p, what to report.

    Of an objective without likelihoods, `nll` is what it reports in their place. `count` is how many predictions.
    """

    total: Float[Tensor, ""]
    nll: Float[Tensor, ""]
    count: int


def every_parameter(model: nn.Module) -> Iterable[nn.Parameter]:
    """All that a model learns."""
    return model.parameters()


@dataclass(frozen=True)
class Objective:
    """Something to minimise, and the weights that move for it. One update minimises each objective of a goal in turn.

    `loss` is given the model, a batch and the number of the update. `rate` is a factor of the learning rate; `repeat`
    is how often it is minimised in one update, each time with batches of its own.
    """

    name: str
    loss: Callable[[Any, Batch, int], Loss]
    parameters: Callable[[Any], Iterable[nn.Parameter]] = every_parameter
    rate: float = 1.0
    repeat: int = 1


class Goal(Protocol):
    """How an answer is made, judged and drawn; built with both sides of its task."""

    predicts: ClassVar[str]  # the method that the part in [predict] must have, as in "teach"
    predicts_by: ClassVar[Mapping[str, str]]  # the same by what is read, where that makes a difference
    metrics: ClassVar[tuple[str, ...]]  # what it is measured by where the recipe does not say
    opens: ClassVar[str]  # the class that its models are used as, "module:name"; none for one that answers and no more
    opens_by: ClassVar[Mapping[str, str]]  # the same by what is read, where that makes a difference
    columns: tuple[str, ...]  # of the corpus that it wants beside source and target

    def specs(self) -> tuple[Spec, Spec]:
        """What a model is built with: for what is read, and for what is predicted."""

    def prepare(self, example: Example, random: Random) -> Example:
        """The example as it is learnt from; what is hidden or drawn is drawn here, before anything is counted."""

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples as one batch."""

    def for_validation(self) -> BaseGoal:
        """What prepares the examples of a validation."""

    def objectives(self, model: Any) -> Sequence[Objective]:
        """What is minimised; refuses a model that cannot be trained so."""

    def nll(self, model: Any, batch: Batch) -> Loss | None:
        """-log p of what is right, without what training adds; None where there is no likelihood."""

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """What a validation or an evaluation asks, and what is right."""

    def answer(self, model: Any, cells: Sequence[Any]) -> list[Any]:
        """An answer for each cell of the source, each with its `text`."""

    def drawn(self, model: Any, cell: Any) -> str:
        """A cell and its answer, and what was looked at, for a terminal."""

    def finish(self, folder: Path, corpus: Any, say: Callable[[str], None]) -> dict[str, str]:
        """What the folder of the best model of a run keeps beside it, chosen once the model is known."""


class BaseGoal:
    """What most goals do alike."""

    predicts_by: ClassVar[Mapping[str, str]] = {}
    opens: ClassVar[str] = ""
    opens_by: ClassVar[Mapping[str, str]] = {}
    columns: tuple[str, ...] = ()

    def __init__(self, source: Side, target: Side) -> None:
        self.source, self.target = source, target

    @property
    def prepares(self) -> bool:
        """Whether `prepare` does anything: to draw for every row takes its time."""
        return type(self).prepare is not BaseGoal.prepare

    def specs(self) -> tuple[Spec, Spec]:
        """Those of the sides. A goal that makes its target of the source predicts what the source is made of."""
        return self.source.spec(), self.target.spec()

    def prepare(self, example: Example, random: Random) -> Example:
        """As it is."""
        return example

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Those of the corpus. A goal that makes its target of the source makes its questions too."""
        return cells, references

    def finish(self, folder: Path, corpus: Any, say: Callable[[str], None]) -> dict[str, str]:
        """Nothing."""
        return {}

    def for_validation(self) -> BaseGoal:
        """What prepares the examples of a validation: the same, unless training wants more of them."""
        return self

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Each side by itself."""
        return Batch(
            self.source.collate([each.source for each in examples]),
            self.target.collate([each.target for each in examples]),
            tuple(each.row for each in examples),
            weights=tuple(each.weight for each in examples),
        )


@part("task", "standard")
@dataclass(frozen=True, kw_only=True)
class Task:
    """What is read, what is wanted, and how an answer is made, judged and drawn.

    Settings:
        verb: the command that uses the model.
        source: what is read.
        target: what is wanted.
        goal: how an answer is made and judged.
        examples: what examples are made of the rows of the corpus.
        metrics: what validations and evaluations measure, the deciding one first; none for the goal's usual ones.
        joint: "yes" for one tokenizer for both sides, "no" for one each; "auto" looks at their alphabets.
        pretrained: a model folder, or a run, whose embedding, encoder and tokenizer this training starts from; written
            `from` in recipes. The model that comes out stands alone.
    """

    verb: str = "translate"
    source: Annotated[Maker, "side"] = maker("side", "text")
    target: Annotated[Maker, "side"] = maker("side", "text")
    goal: Maker = maker("goal", "write")
    examples: Maker = maker("examples", "rows")
    metrics: tuple[str, ...] = ()
    joint: Literal["auto", "yes", "no"] = "auto"
    pretrained: str = ""


@dataclass(frozen=True)
class TaskParts:
    """The parts of a task, built: both sides, the goal that knows them, and what makes examples."""

    task: Task
    source: Side
    target: Side
    goal: Any
    examples: Any

    @classmethod
    def build(cls, task: Task, source: Side | None = None, target: Side | None = None) -> TaskParts:
        """New sides, which have yet to be fitted, or those that are given."""
        ours, theirs = source or task.source("source"), target or task.target("target")
        examples = task.examples()
        if hasattr(examples, "meet"):  # what is drawn may depend on what is read
            examples.meet(ours, theirs)
        return cls(task, ours, theirs, task.goal(ours, theirs), examples)

    @classmethod
    def load(cls, task: Task, folder: Path) -> TaskParts:
        """With the sides that a model folder keeps."""
        return cls.build(task, side_of(task.source, folder, "source"), side_of(task.target, folder, "target"))

    @property
    def metrics(self) -> tuple[str, ...]:
        """What answers are measured by, the deciding one first."""
        return self.task.metrics or self.goal.metrics

    @property
    def specs(self) -> tuple[Spec, Spec]:
        """What a model is built with."""
        found: tuple[Spec, Spec] = self.goal.specs()
        return found

    def files(self) -> dict[str, str]:
        """What a model folder keeps of the sides."""
        return {**self.source.files(), **self.target.files()}

    def example(self, source: Any, target: Any, row: int = 0, random: Random | None = None) -> Example:
        """One pair of cells as an example."""
        ours = self.source.encode([source], random)
        theirs = self.target.encode([target], random, ours)
        made = Example(ours[0], theirs[0], row, self.target.predictions(theirs[0]))
        return self.goal.prepare(made, random or Random(row))


def side_of(made: Maker, folder: Path, role: Role) -> Side:
    """The side that a maker describes, as a model folder keeps it."""
    from regard.registry import find

    return find("side", made.name).load(folder, role, **made.settings)  # type: ignore[attr-defined]


def with_weight(example: Example, target: Side) -> Example:
    """The example with as many predictions as its target asks for."""
    return replace(example, weight=target.predictions(example.target))
