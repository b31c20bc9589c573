"""Reconstruction: the source is made again from a short vector; what is predicted is what was read.

Of images the pixels are predicted, of texts the pieces, one after the other, by search. With noise the model is given a
damaged image and the target stays clean, so that it learns what images are like (Vincent et al. 2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.data.image_noise import Kind, Noise
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text, ids_of
from regard.errors import UsageError
from regard.learn.loss import sequence_loss
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Example, Loss, Objective, Side, Spec
from regard.types import Batch, Count, Grid, Positive, Rendered

if TYPE_CHECKING:
    from regard.tasks.autoencoder import AutoEncoder
    from regard.tasks.sentence_autoencoder import SentenceAutoEncoder

LossName = Literal["auto", "squared", "cross_entropy"]


@part("goal", "reconstruct")
class Reconstruct(BaseGoal):
    """Make the source again from the vector that the encoder makes of it.

    Settings:
        loss: of pixels: "squared" error, or "cross_entropy" of light between 0 and 1; "auto" is the squared error of
            images, and the likelihood of the pieces of texts.
        noise: what images are damaged with before they are read: "gaussian", "salt" (pixels black or white),
            "patches" (squares black), or "none".
        strength: of the noise: its standard deviation (white is 1), or the share of pixels or squares.
        patch: pixels of a side of the squares of "patches".
    """

    predicts: ClassVar[str] = "image"
    predicts_by: ClassVar[Mapping[str, str]] = {"text": "teach"}
    opens: ClassVar[str] = "regard.tasks.autoencoder:AutoEncoder"
    opens_by: ClassVar[Mapping[str, str]] = {"text": "regard.tasks.sentence_autoencoder:SentenceAutoEncoder"}
    metrics: ClassVar[tuple[str, ...]] = ("mse", "psnr")

    def __init__(
        self,
        source: Side,
        target: Side,
        *,
        loss: LossName = "auto",
        noise: Kind = "none",
        strength: Positive = 0.2,
        patch: Count = 7,
    ) -> None:
        super().__init__(source, target)
        self.is_text = isinstance(source, Text)
        if not isinstance(target, Nothing) or not (self.is_text or getattr(source, "is_image", False)):
            raise UsageError(
                "the goal 'reconstruct' reads images or text, and its target is what it read.",
                hint='Write source = "image" (or "text") and target = "nothing" in [task], or another goal.',
            )
        if self.is_text and (noise != "none" or loss != "auto"):
            raise UsageError(
                "noise and loss are those of images; a text is made again by the likelihood of its pieces.",
                hint='Take loss and noise out of [task.goal], or write source = "image".',
            )
        if noise in ("salt", "patches") and strength >= 1:
            raise UsageError(
                f'the strength of noise = "{noise}" is a share below 1; found {strength:g}.', hint="Write 0.2, say."
            )
        self.loss, self.noise = loss, Noise(noise, strength, patch)
        if self.is_text:
            self.metrics = ("exact_match", "bleu")  # type: ignore[misc]  # what it is measured by is what it makes

    @property
    def prepares(self) -> bool:
        """A text is written too, and noise is drawn; else nothing is done."""
        return self.is_text or self.noise.kind != "none"

    @property
    def writes(self) -> Text:
        """The text that is written: cut as the one that is read."""
        return writing_side(self.source)

    def specs(self) -> tuple[Spec, Spec]:
        """What is predicted is what the source is made of."""
        return self.source.spec(), self.source.spec()

    def prepare(self, example: Example, random: Random) -> Example:
        """With its noise, where there is some; a text as it is to be written too."""
        if self.is_text:
            return replace(example, target=ids_of(example.source), weight=len(example.source) + 1)
        if self.noise.kind == "none":
            return example
        noisy = self.noise(example.source, random.getrandbits(63))
        return replace(example, source=noisy, extra={**example.extra, "clean": example.source})

    def collate(self, examples: Sequence[Example]) -> Batch:
        """What is read, and what is to be made of it; the same where there is no noise."""
        source = self.source.collate([each.source for each in examples])
        target = source
        if self.is_text:
            target = self.writes.collate([each.target for each in examples])
        elif any("clean" in each.extra for each in examples):
            target = self.source.collate([each.extra["clean"] for each in examples])
        weights = tuple(each.weight for each in examples)
        return Batch(source, target, tuple(each.row for each in examples), weights=weights)

    def objectives(self, model: Model) -> Sequence[Objective]:
        """The error of the pixels, or the likelihood of the pieces; of a model that has but one vector to go by."""
        if self.is_text and model.predict.attends:
            raise UsageError(
                "a decoder that attends copies the text word by word: there would be no vector that it is made from.",
                hint='Write part = "plain" in [predict], and attend = "none".',
            )
        if not self.is_text and self.loss == "cross_entropy" and getattr(model.predict, "output", "") != "sigmoid":
            raise UsageError(
                'loss = "cross_entropy" is of light between 0 and 1, which output = "linear" does not keep to.',
                hint='Write output = "sigmoid" in [predict], or loss = "squared".',
            )
        return [Objective("loss", lambda model, batch, number: self._loss(model, batch))]

    def _loss(self, model: Model, batch: Batch) -> Loss:
        if self.is_text:
            return sequence_loss(model, batch)
        error = image_loss(model.image(batch.source), batch.target, likely=self.loss == "cross_entropy")
        return Loss(error, error.detach(), batch.count)

    def nll(self, model: Model, batch: Batch) -> Loss | None:
        """Of the pieces of texts; light is no chance, so that images have none."""
        return sequence_loss(model, batch) if self.is_text else None

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """What is right is what is read; of images their pixels, and with noise it is a damaged one that is asked."""
        if self.is_text:
            return cells, cells
        items = self.source.encode(cells)
        right = [item.permute(1, 2, 0).numpy() for item in items]
        if self.noise.kind == "none":
            return cells, right
        seeds = [Random(f"question {row}").getrandbits(63) for row in range(len(items))]
        noisy = [self.noise(item, seed) for item, seed in zip(items, seeds, strict=True)]
        return [each.permute(1, 2, 0).numpy() for each in noisy], right

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Any]:
        """What is made of each."""
        return self.person(model).answer(cells, record=False)

    def drawn(self, model: Model, cell: Any) -> str:
        """The cell, and what was made of it."""
        told: str = self.person(model).answer([cell], record=False)[0].drawn()
        return f"{cell}  ->  {told}" if self.is_text else told

    def person(self, model: Model) -> AutoEncoder | SentenceAutoEncoder:
        """The model as a person uses it."""
        from regard.tasks.autoencoder import AutoEncoder
        from regard.tasks.sentence_autoencoder import SentenceAutoEncoder

        return (SentenceAutoEncoder if self.is_text else AutoEncoder)(model, self.source, self.target)


def writing_side(source: Any) -> Text:
    """The side of a text that is written with the pieces of the one that is read."""
    return Text.of(source.tokenizer, "target", longest=source.longest)


def image_loss(made: Rendered, right: Grid, *, likely: bool = False) -> Float[Tensor, ""]:
    """The error of a number of an image, as a mean over the real ones of each image, and over images.

    It is squared, or (`likely`) the cross-entropy of light between 0 and 1.
    """
    height, width = right.data.shape[2:]
    numbers = made.numbers[..., :height, :width]  # what is made has the whole frame, a batch that of its largest image
    reduction = "mean" if bool(right.mask.all()) else "none"
    if likely:
        error = F.binary_cross_entropy_with_logits(numbers, right.data, reduction=reduction)
    else:
        error = F.mse_loss(numbers.sigmoid() if made.squashed else numbers, right.data, reduction=reduction)
    if reduction == "mean":
        return error
    real = right.mask.flatten(1)
    each = (error.mean(1).flatten(1) * real).sum(1) / real.sum(1)
    return each.mean()
