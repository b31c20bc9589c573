"""Writing a text: the right pieces are made likely in training, and searched for in use.

Where nothing is read, what is written is a text of its own: a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.data.pairs import Pairs
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.learn.guide import guide_of
from regard.learn.loss import sequence_loss
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Loss, Objective, Side
from regard.types import AtLeastZero, Batch, Count, Probability, Share, Whole

if TYPE_CHECKING:
    from regard.data.corpus import Corpus
    from regard.tasks.language_model import LanguageModel
    from regard.tasks.writer import Writer
    from regard.translate.translator import Translator

WIDEST = 40  # words of a source whose alignment is still drawn in a terminal
SHOWN = 40  # pieces of a text that a language model draws for a validation


@part("goal", "write")
class Write(Pairs):
    """Write the target, piece by piece; after nothing but itself, where there is no source.

    Settings:
        smoothing: share of the aim that is spread over the whole vocabulary (label smoothing).
        forcing: "full" always feeds the right piece; "scheduled" feeds the model's own ever more often.
        sampling_rate: share of its own pieces that "scheduled" reaches.
        sampling_ramp: updates over which "scheduled" reaches it.
        sampled: of a vocabulary numbered from the commonest piece on, how many are scored at every update; others are
            drawn, the rarer the more seldom, and count the more (see docs/training.md). 0 scores all of them.
        guide: "links" draws one head to the corpus' word links, "reference" to those of a statistical aligner.
        guide_weight: how much that counts beside the negative log-likelihood of a piece.
        guide_layer: the layer that is guided, counted from 1; 0 for the last but one, or the only one.
        guide_head: the head that is guided, counted from 1.
        guide_step: which look is drawn to a piece's links: of the step "writing" it, or of the one "after", which
            is fed it and so knows it (refused for decoders that ask before they read: "bahdanau", "google" as usual).
    """

    predicts: ClassVar[str] = "teach"
    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact_match")
    opens: ClassVar[str] = "regard.tasks.writer:Writer"
    opens_by: ClassVar[Mapping[str, str]] = {
        "text": "regard.translate.translator:Translator",
        "image": "regard.tasks.captioner:Captioner",
        "nothing": "regard.tasks.language_model:LanguageModel",
    }

    def __init__(
        self,
        source: Side,
        target: Side,
        *,
        smoothing: Share = 0.0,
        forcing: Literal["full", "scheduled"] = "full",
        sampling_rate: Probability = 0.25,
        sampling_ramp: Count = 5000,
        sampled: Whole = 0,
        guide: Literal["none", "links", "reference"] = "none",
        guide_weight: AtLeastZero = 0.1,
        guide_layer: Whole = 0,
        guide_head: Count = 1,
        guide_step: Literal["writing", "after"] = "writing",
    ) -> None:
        # People write links between the words that spaces part; the aligner counts as tokenizers do.
        super().__init__(source, target, guide != "none", True if guide == "links" else None)
        if sampled and smoothing:
            raise UsageError(
                "smoothing spreads over the whole vocabulary, of which sampled scores some pieces only.",
                hint="Write sampled = 0, or smoothing = 0.0.",
            )
        self.smoothing, self.forcing, self.sampled = smoothing, forcing, sampled
        self.sampling_rate, self.sampling_ramp = sampling_rate, sampling_ramp
        self.guide, self.guide_weight, self.guide_layer = guide, guide_weight, guide_layer
        self.guide_head, self.guide_step = guide_head, guide_step
        if isinstance(source, Nothing) and isinstance(target, Text):
            target.framed = True

    def for_validation(self) -> BaseGoal:
        """Without links: what is right is known by itself."""
        return Pairs(self.source, self.target)

    def objectives(self, model: Model) -> Sequence[Objective]:
        """The likelihood of the right pieces, and what draws an attention to links."""
        guide = guide_of(model, self)

        def loss(model: Model, batch: Batch, number: int) -> Loss:
            own = self.own_share(number)
            return sequence_loss(model, batch, smoothing=self.smoothing, own=own, guide=guide, sampled=self.sampled)

        return [Objective("loss", loss)]

    def own_share(self, number: int) -> float:
        """How often update `number` feeds the model's own piece instead of the right one."""
        return self.sampling_rate * min(1.0, number / self.sampling_ramp) if self.forcing == "scheduled" else 0.0

    def nll(self, model: Model, batch: Batch) -> Loss:
        """Of the right pieces."""
        return sequence_loss(model, batch)

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Any]:
        """What it writes, greedily; with what it looked at in an image, which is little."""
        if isinstance(self.source, Nothing):
            return list(self.generator(model).answer(cells))
        from regard.search import Options

        record = not isinstance(self.source, Text)
        return [best[0] for best in self.person(model).search(cells, Options(beam=1), record=record)]

    def drawn(self, model: Model, cell: Any) -> str:
        """The text, and its alignment where it is not too wide; of a language model some text that it draws."""
        if isinstance(self.source, Nothing):
            return self.generator(model).generate("", max_length=SHOWN, seed=0).drawn()
        from regard.show.terminal import draw
        from regard.translate.translator import Translator

        writer = self.person(model)
        if not isinstance(writer, Translator):
            return str(self.answer(model, [cell])[0].drawn())
        found = writer.translate(cell, beam=1)
        head = f"{cell}  ->  {found.text}"
        if found.alignment is None or len(found.alignment.source) > WIDEST:
            return head
        labels = [f"{word} " for word in found.alignment.source]
        return f"{head}\n{draw(found.alignment.matrix[:-1], labels, found.alignment.target[:-1])}\n"

    def finish(self, folder: Path, corpus: Corpus, say: Callable[[str], None]) -> dict[str, str]:
        """The heads that align, and how much the length of outputs counts; nothing of a language model."""
        if isinstance(self.source, Nothing):
            return {}
        from regard.tasks.finish import finish_writing

        return finish_writing(folder, corpus, say)

    def generator(self, model: Model) -> LanguageModel:
        """A model without a source as a person uses it."""
        from regard.tasks.language_model import LanguageModel

        return LanguageModel(model, self.source, self.target)

    def person(self, model: Model) -> Translator | Writer:
        """The model as a person uses it."""
        if isinstance(self.source, Text) and isinstance(self.target, Text):
            from regard.translate.translator import Translator

            return Translator(model, self.source.tokenizer, self.target.tokenizer)
        from regard.tasks.captioner import Captioner
        from regard.tasks.writer import Writer

        return (Captioner if getattr(self.source, "is_image", False) else Writer)(model, self.source, self.target)
