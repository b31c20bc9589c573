"""Tagging: one class for each word of the source (the aligned many-to-many shape)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from torch.nn import functional as F

from regard.data.sides.tags import NONE, Tags
from regard.data.sides.text import Text, ids_of
from regard.data.tokenizer import Pieces
from regard.errors import BrokenData, UsageError
from regard.hooks import loss_terms
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Example, Loss, Objective, Side
from regard.types import Batch

if TYPE_CHECKING:
    from regard.tasks.tagger import Tagger, Tagging


@part("goal", "tag")
class Tag(BaseGoal):
    """Find the class of each word. A word of many pieces has its tag at the first of them."""

    predicts: ClassVar[str] = "tag"
    metrics: ClassVar[tuple[str, ...]] = ("tag_accuracy",)
    opens: ClassVar[str] = "regard.tasks.tagger:Tagger"

    def __init__(self, source: Side, target: Side) -> None:
        super().__init__(source, target)
        if not isinstance(source, Text) or not isinstance(target, Tags):
            raise UsageError(
                "the goal 'tag' reads text and finds tags.",
                hint='Write source = "text" and target = "tags" in [task], or another goal.',
            )
        source.places = True
        self.text = source

    def prepare(self, example: Example, random: Random) -> Example:
        """With a tag at the first piece of each word, and none elsewhere."""
        firsts = first_pieces(self.text, example.source)
        if len(firsts) != len(example.target):
            raise BrokenData(
                f"row {example.row + 1}: expected a tag for each word; found {len(firsts)} words and "
                f"{len(example.target)} tags.",
                hint="Words and tags are what stands between spaces.",
            )
        ids = ids_of(example.source)
        lead = self.text.lead
        tags = [NONE] * (lead + len(ids) + 1)  # the end has none, nor has a special piece before the text
        for first, tag in zip(firsts, example.target, strict=True):
            tags[lead + first] = tag
        return replace(example, source=ids, target=tags)

    def objectives(self, model: Model) -> Sequence[Objective]:
        """The likelihood of the right tags."""
        return [Objective("loss", lambda model, batch, number: tag_loss(model, batch))]

    def nll(self, model: Model, batch: Batch) -> Loss:
        """Of the right tags."""
        return tag_loss(model, batch)

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Tagging]:
        """The likeliest tag of each word."""
        return self.person(model).answer(cells)

    def drawn(self, model: Model, cell: Any) -> str:
        """Words and tags, one under the other."""
        return self.person(model).answer([cell])[0].drawn()

    def person(self, model: Model) -> Tagger:
        """The model as a person uses it."""
        from regard.tasks.tagger import Tagger

        return Tagger(model, self.source, self.target)


def first_pieces(text: Text, pieces: Pieces) -> list[int]:
    """The place of the first piece of each word between spaces."""
    words = text.tokenizer.words(pieces, spaced=True)
    owners = text.tokenizer.piece_to_word(pieces, words)
    return [owners.index(word) for word in range(len(words)) if word in owners]


def tag_loss(model: Model, batch: Batch) -> Loss:
    """The mean over words of -log p of their tag, and the terms that parts add (those count by the sentence)."""
    with loss_terms() as extra:
        logits = model.tag(batch.source).logits.float()
    wanted = batch.target.data
    each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=NONE, reduction="none")
    plain, count = each.view_as(wanted), batch.count
    total = plain.sum() / count + extra(-plain.detach().sum(1)) * len(wanted) / count
    return Loss(total, plain.detach().sum() / count, count)
