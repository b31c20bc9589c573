"""Encoding: a vector for the whole source, which texts are compared by. It is not learnt, only asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Loss, Objective, Side
from regard.types import Batch

if TYPE_CHECKING:
    from regard.tasks.encoder import Encoder, Encoding


@part("goal", "encode")
class Encode(BaseGoal):
    """Make a vector of the source. What makes it was learnt elsewhere: by another goal, or by another toolkit."""

    predicts: ClassVar[str] = "vector"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    opens: ClassVar[str] = "regard.tasks.encoder:Encoder"

    def __init__(self, source: Side, target: Side) -> None:
        super().__init__(source, target)
        if not isinstance(source, Text) or not isinstance(target, Nothing):
            raise UsageError(
                "the goal 'encode' reads text and wants nothing else.",
                hint='Write source = "segments" (or "text") and target = "nothing" in [task], or another goal.',
            )

    def objectives(self, model: Model) -> Sequence[Objective]:
        """None: nothing says which vector is right."""
        raise UsageError(
            "the goal 'encode' is not trained: nothing says which vector is right.",
            hint="Import an encoder (regard import), or train 'fill' or 'classify', which may start from one.",
        )

    def nll(self, model: Model, batch: Batch) -> Loss | None:
        """None: a vector has no likelihood."""
        return None

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Encoding]:
        """The vector of each."""
        return self.person(model).answer(cells)

    def drawn(self, model: Model, cell: Any) -> str:
        """The text, and what was looked at."""
        return self.person(model).answer([cell])[0].drawn()

    def person(self, model: Model) -> Encoder:
        """The model as a person uses it."""
        from regard.tasks.encoder import Encoder

        return Encoder(model, self.source, self.target)
