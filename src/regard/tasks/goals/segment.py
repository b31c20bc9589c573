"""Segmenting: one class for every pixel of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard.data.framing import Framed
from regard.data.masks import is_mask_text, mask_text
from regard.data.sides.image import Image
from regard.data.sides.mask import Mask
from regard.errors import UsageError
from regard.model import Model
from regard.registry import part
from regard.task import BaseGoal, Example, Loss, Objective, Side
from regard.types import UNLABELLED, AtLeastZero, Batch, Positive

if TYPE_CHECKING:
    from regard.tasks.segmentation import Segmentation
    from regard.tasks.segmenter import Segmenter


@part("goal", "segment")
class Segment(BaseGoal):
    """Find the class of each pixel, by cross-entropy and by Dice, the overlap of what is found with what is right.

    Settings:
        dice: weight of 1 - Dice beside the cross-entropy; 0 for the cross-entropy alone.
        smooth: pixels that are added to an overlap and to what it is a share of: so that a class that is neither there
            nor found overlaps wholly, and a few pixels do not decide all.
        ground: whether the first class, the ground, has an overlap too.
        deep: weight of the scores of each coarser size against those of the one above, of a model that has such.
    """

    predicts: ClassVar[str] = "segment"
    metrics: ClassVar[tuple[str, ...]] = ("dice", "iou", "pixel_recall", "pixel_precision", "boundary_f1")
    opens: ClassVar[str] = "regard.tasks.segmenter:Segmenter"
    source: Image
    target: Mask

    def __init__(
        self,
        source: Side,
        target: Side,
        *,
        dice: AtLeastZero = 1.0,
        smooth: Positive = 1.0,
        ground: bool = False,
        deep: AtLeastZero = 0.5,
    ) -> None:
        super().__init__(source, target)
        if not isinstance(source, Image) or not isinstance(target, Mask):
            raise UsageError(
                "the goal 'segment' reads images and finds masks.",
                hint='Write source = "image" and target = "mask" in [task], or another goal.',
            )
        source.framed = True  # so that a mask is cut, mirrored and moved as its image was
        self.dice, self.smooth, self.ground, self.deep = dice, smooth, ground, deep

    def prepare(self, example: Example, random: Random) -> Example:
        """With the pixels alone: its mask knows by now how they were read."""
        return replace(example, source=_pixels(example.source))

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Images, and their masks as texts, in the size that they have."""
        return cells, [mask_reference(self.target, each) for each in references]

    def objectives(self, model: Model) -> Sequence[Objective]:
        """Cross-entropy and Dice, at every size that has scores."""
        return [Objective("loss", lambda model, batch, number: self.loss(model, batch))]

    def loss(self, model: Model, batch: Batch) -> Loss:
        """What is minimised of a batch, and -log p of a pixel."""
        found, wanted = model.segment(batch.source), batch.target.data
        nll = pixel_nll(found.logits, wanted)
        total, weight, all_weights = self._total(found.logits, wanted), 1.0, 1.0
        for scores in found.deep:
            wanted = wanted[:, ::2, ::2]
            weight *= self.deep
            all_weights += weight
            total = total + weight * self._total(scores, wanted)
        return Loss(total / all_weights, nll.detach(), batch.count)

    def nll(self, model: Model, batch: Batch) -> Loss:
        """-log p of the right class of a pixel."""
        nll = pixel_nll(model.segment(batch.source).logits, batch.target.data)
        return Loss(nll, nll.detach(), batch.count)

    def _total(self, logits: Float[Tensor, "B N h w"], wanted: Int[Tensor, "B h w"]) -> Float[Tensor, ""]:
        nll = pixel_nll(logits, wanted)
        if not self.dice:
            return nll
        first = 0 if self.ground else 1
        lost = 1 - soft_dice(logits.float().softmax(1), wanted, self.smooth, first)
        pixels = (wanted != UNLABELLED).sum((1, 2))  # an image counts by its pixels, in whichever batch it is
        return nll + self.dice * (lost.mean(1) * pixels).sum() / pixels.sum().clamp(min=1)

    def answer(self, model: Model, cells: Sequence[Any]) -> list[Segmentation]:
        """The likeliest class of each pixel."""
        return self.person(model).answer(cells)

    def drawn(self, model: Model, cell: Any) -> str:
        """The image's name, and how much of it each class takes."""
        return self.person(model).answer([cell], record=False)[0].drawn()

    def person(self, model: Model) -> Segmenter:
        """The model as a person uses it."""
        from regard.tasks.segmenter import Segmenter

        return Segmenter(model, self.source, self.target)


def _pixels(item: Any) -> Any:
    return item.pixels if isinstance(item, Framed) else item


def mask_reference(side: Mask, cell: Any) -> str:
    """A mask as a text, from wherever it comes; one that is a text already stays it."""
    if isinstance(cell, str) and is_mask_text(cell):
        return cell
    return mask_text(side.classes(cell), len(side.names))


def pixel_nll(logits: Float[Tensor, "B N h w"], wanted: Int[Tensor, "B h w"]) -> Float[Tensor, ""]:
    """The mean of -log p over the pixels that have a class; 0 where none has."""
    total = F.cross_entropy(logits.float(), wanted, ignore_index=UNLABELLED, reduction="sum")
    return total / (wanted != UNLABELLED).sum().clamp(min=1)


def soft_dice(
    chances: Float[Tensor, "B N h w"], wanted: Int[Tensor, "B h w"], smooth: float, first: int = 0
) -> Float[Tensor, "B M"]:
    """Twice the overlap of the probability of each class with where it is, by the size of both (Milletari 2016).

    Of the classes from `first` on.
    """
    known = (wanted != UNLABELLED).unsqueeze(1)
    chances = chances[:, first:]
    classes = torch.arange(first, first + chances.shape[1], device=wanted.device).view(1, -1, 1, 1)
    right = (wanted.unsqueeze(1) == classes).to(chances.dtype)
    both = (chances * right).sum((2, 3))
    sizes = (chances * known).sum((2, 3)) + right.sum((2, 3))
    return (2 * both + smooth) / (sizes + smooth)
