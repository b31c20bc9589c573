"""Filling: pieces of the source are hidden and must be found; so a model learns a language from its text alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from regard.data.hiding import SEEN, Hiding, Vocabulary
from regard.data.holes import mask_of, with_holes
from regard.data.padding import pad
from regard.data.sides.nothing import Nothing
from regard.data.sides.segments import Segments
from regard.data.sides.text import Text, ids_of
from regard.errors import UsageError
from regard.hooks import loss_terms
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Example, Loss, Objective, Side, Spec
from regard.types import AtLeastZero, Batch, Count, Memory, Probability, Whole

if TYPE_CHECKING:
    from regard.tasks.filler import Filler
    from regard.tasks.filling import Filling

ASKED = 48  # pieces of a text that a validation or an evaluation asks about, from its beginning


@part("goal", "fill")
class Fill(BaseGoal):
    """Find the pieces that are hidden; of two texts, where the model has a head for it, whether the second follows.

    Settings:
        hide: share of the pieces that are asked for.
        masked: share of these in whose place [MASK] is shown.
        swapped: share of these in whose place any other piece is shown; the rest is shown as it is.
        copies: how many masks a row has, drawn once for all epochs (static); 0 draws anew in every epoch (dynamic).
        whole_words: hide all pieces of a word or none.
        longest_run: up to so many pieces, or words, in a row are hidden at once, n of them in proportion to 1 / n.
        pair_weight: what is known of two texts counts as much as so many hidden pieces.
    """

    predicts: ClassVar[str] = "fill"
    metrics: ClassVar[tuple[str, ...]] = ("fill_accuracy",)
    opens: ClassVar[str] = "regard.tasks.filler:Filler"

    def __init__(
        self,
        source: Side,
        target: Side,
        *,
        hide: Probability = 0.15,
        masked: Probability = 0.8,
        swapped: Probability = 0.1,
        copies: Whole = 0,
        whole_words: bool = False,
        longest_run: Count = 1,
        pair_weight: AtLeastZero = 10.0,
    ) -> None:
        super().__init__(source, target)
        if not isinstance(source, Text) or not isinstance(target, Nothing):
            raise UsageError(
                "the goal 'fill' reads text and wants nothing else.",
                hint='Write source = "segments" (or "text") and target = "nothing" in [task], or another goal.',
            )
        if masked + swapped > 1:
            raise UsageError(
                f"masked and swapped are shares of the hidden pieces; together they are {masked + swapped:g}.",
                hint="Write masked = 0.8 and swapped = 0.1, say.",
            )
        source.masked = True
        self.text, self.copies, self.pair_weight = source, copies, pair_weight
        self.hiding = Hiding(hide, masked, swapped, whole_words, longest_run)

    def specs(self) -> tuple[Spec, Spec]:
        """What is predicted is what the source is made of."""
        return self.source.spec(), self.source.spec()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What is known of the pieces."""
        tokenizer = self.text.tokenizer
        return Vocabulary(len(tokenizer), mask_of(tokenizer), tokenizer.begins_word)

    def prepare(self, example: Example, random: Random) -> Example:
        """Hide pieces. What is asked for stands at its place in the batch, the special pieces counted."""
        random = self._dice(example, random)
        texts = self._texts(example.source)
        flat = [piece for text in texts for piece in text]
        hidden = set(self.hiding.places(flat, self.vocabulary, random))
        shown, asked, place = [], [SEEN] * self.text.lead, 0
        for text in texts:
            places = range(place, place + len(text))
            shown.append([self._shown(flat[each], each in hidden, random) for each in places])
            asked += [*(flat[each] if each in hidden else SEEN for each in places), SEEN]
            place += len(text)
        source = tuple(shown) if len(shown) > 1 else shown[0]
        return replace(example, source=source, target=asked, weight=len(hidden))

    def _dice(self, example: Example, random: Random) -> Random:
        """What draws for this example; of a row that several are made of, each has its own."""
        own = example.extra.get("part", 0)
        if self.copies:
            return Random(f"row {example.row} part {own} copy {random.randrange(self.copies)}")
        return Random(f"{random.getrandbits(64)} part {own}")

    def _texts(self, item: Any) -> list[list[int]]:
        """The pieces of the texts of an example, cut to what it may take."""
        texts = self.text.cut(item) if isinstance(self.text, Segments) else (item,)
        return [list(ids_of(text)) for text in texts]

    def _shown(self, piece: int, hidden: bool, random: Random) -> int:
        return self.hiding.shown(piece, self.vocabulary, random) if hidden else piece

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Texts with holes, what is asked for at each position, and whether the second text follows the first."""
        known = [each.extra["follows"] for each in examples if "follows" in each.extra]
        return Batch(
            self.source.collate([each.source for each in examples]),
            pad([each.target for each in examples], SEEN),
            tuple(each.row for each in examples),
            weights=tuple(each.weight for each in examples),
            extra={"follows": torch.tensor(known)} if len(known) == len(examples) else {},
        )

    def objectives(self, model: Model) -> Sequence[Objective]:
        """The likelihood of the hidden pieces, and of what is known of two texts."""
        return [Objective("loss", self._loss)]

    def _loss(self, model: Model, batch: Batch, number: int) -> Loss:
        with loss_terms() as extra:
            memory = model.read(batch.source)
            each, asked = hidden_nll(model, batch, memory)
        count, mean = batch.count, each.sum() / batch.count
        likelihood = -each.new_zeros(len(batch)).index_add(0, asked.nonzero()[:, 0], each.detach())
        total = (
            mean + extra(likelihood) * len(batch) / count + self.pair_weight * pair_nll(model, batch, memory) / count
        )
        return Loss(total, mean.detach(), count)

    def nll(self, model: Model, batch: Batch) -> Loss:
        """Of the hidden pieces."""
        mean = hidden_nll(model, batch, model.read(batch.source))[0].sum().detach() / batch.count
        return Loss(mean, mean, batch.count)

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[list[str], list[str]]:
        """Texts with holes, whole words drawn by their row, and what stood there: a corpus has no other answers."""
        tokenizer, hiding = self.text.tokenizer, replace(self.hiding, whole_words=True, longest_run=1)
        sources, wanted = [], []
        for row, item in enumerate(self.source.encode(cells)):
            ids = self._texts(item)[0][:ASKED]
            hidden = hiding.places(ids, self.vocabulary, Random(f"question {row}"))
            sources.append(with_holes(tokenizer, ids, set(hidden)))
            wanted.append(" ".join(told_piece(tokenizer.said(ids[place])) for place in hidden))
        return sources, wanted

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Filling]:
        """The likeliest pieces for the holes of each."""
        return self.person(model).answer(cells)

    def drawn(self, model: Model, cell: Any) -> str:
        """The text, its holes filled, and how likely the pieces are."""
        return self.person(model).answer([cell], record=False)[0].drawn()

    def person(self, model: Model) -> Filler:
        """The model as a person uses it."""
        from regard.tasks.filler import Filler

        return Filler(model, self.source, self.target)


def told_piece(text: str) -> str:
    """A piece as one word: without the space before it; one of white space alone by its name."""
    return "".join(text.split()) or "_"


def hidden_nll(model: Model, batch: Batch, memory: Memory) -> tuple[Float[Tensor, " N"], Bool[Tensor, "B S"]]:
    """-log p of each hidden piece, and where they stand. Only these positions are scored."""
    asked = batch.target.data != SEEN
    logits = model.predict.fill(memory, asked).logits.float()
    return F.cross_entropy(logits, batch.target.data[asked], reduction="none"), asked


def pair_nll(model: Model, batch: Batch, memory: Memory) -> Float[Tensor, ""]:
    """The sum over examples of -log p of what is known of their two texts; zero of a model without that head."""
    head = getattr(model.predict, "follows", None)
    if head is None:
        return memory.summary.new_zeros(())
    if "follows" not in batch.extra:
        raise UsageError(
            "pair = true in [predict] asks whether a second text follows the first, and the examples do not say.",
            hint='Write examples = { part = "documents", pairs = "next" } in [task], or pair = false.',
        )
    return F.cross_entropy(head(memory.summary).float(), batch.extra["follows"], reduction="sum")
