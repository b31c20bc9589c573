"""A segmenter as a person uses it: images in; the class of every pixel, and how far gates were open, out.

Letters: C channels, h rows and w columns of pixels as they are read, H and W as the image has them; N classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, overload

import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional as F

from regard.data.pictures import read_picture
from regard.data.sides.image import Image
from regard.data.sides.mask import Mask
from regard.errors import UsageError
from regard.evaluate.masks import dice, overlaps
from regard.evaluate.metrics import SEGMENTED
from regard.model import Model
from regard.task import Side
from regard.tasks.classifier import images_of
from regard.tasks.goals.segment import mask_reference
from regard.tasks.segmentation import Segmentation
from regard.tasks.tiles import Blend, Tiling
from regard.tasks.using import TaskModel

WHOLE = Tiling()


class Segmenter(TaskModel):
    """A trained model that finds the class of every pixel.

    An image is the path of its file, an open Pillow image, or an array of pixels (height, width, channels).
    """

    verb: ClassVar[str] = "segment"
    wants: ClassVar[str] = "mask"
    usual: ClassVar[tuple[str, ...]] = SEGMENTED
    source: Image
    target: Mask

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(source, Image) or not isinstance(target, Mask):
            raise UsageError("a segmenter has an image as its source and a mask as its target.")
        super().__init__(model, source, target, name)

    @property
    def classes(self) -> tuple[str, ...]:
        """The values of all classes that it tells apart, the ground first."""
        return self.target.names

    @overload
    def segment(self, images: list[Any], tiling: Tiling = WHOLE) -> list[Segmentation]: ...
    @overload
    def segment(self, images: Any, tiling: Tiling = WHOLE) -> Segmentation: ...
    def segment(self, images: Any, tiling: Tiling = WHOLE) -> Segmentation | list[Segmentation]:
        """The class of each pixel of an image, or of each of many, in order; large images by tiles."""
        many = isinstance(images, list | tuple)
        found = self._every(images if many else [images], tiling, gates=True, probabilities=True)
        return found if many else found[0]

    def answer(self, cells: Any, *, record: bool = True, tiling: Tiling = WHOLE) -> list[Segmentation]:
        """The likeliest class of each pixel of each image. `record` keeps gates; `segment` keeps probabilities too."""
        return self._every(cells, tiling, gates=record, probabilities=False)

    def _every(self, cells: Any, tiling: Tiling, *, gates: bool, probabilities: bool) -> list[Segmentation]:
        tiling.check(self.unit)
        with torch.inference_mode():
            found = [self._answered(cell, tiling, probabilities) for cell in images_of(cells)]
        return found if gates else [replace(each, gates=()) for each in found]

    @property
    def gated(self) -> bool:
        """Whether its skips pass gates."""
        return any(rung.gate is not None for rung in getattr(self.model.predict, "rungs", ()))

    @property
    def unit(self) -> int:
        """Pixels of a side of the coarsest cell."""
        return 1 << max(0, len(self.model.encode.widths.levels) - 1)

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Images, and the texts of their masks."""
        return cells, [mask_reference(self.target, each) for each in references]

    def measured(self, answers: Sequence[Segmentation], references: Sequence[str]) -> dict[str, Any]:
        """Dice of each class over all pixels, where there are several."""
        if len(self.classes) < 3:
            return {}
        sums = torch.tensor([overlaps(each.text, right) for each, right in zip(answers, references, strict=True)])
        every = [(both, found, right) for both, found, right in sums.sum(0).tolist()]
        told = [f"{name} {100 * (dice(each) or 0):.1f} %" for name, each in zip(self.classes[1:], every, strict=True)]
        return {"notes": (f"Dice of each class over all pixels: {', '.join(told)}",)}

    def _answered(self, cell: Any, tiling: Tiling, probabilities: bool) -> Segmentation:
        pixels = self.source.pixels(cell)
        logits, gates = self.scores(pixels, tiling)
        size = (pixels.shape[1], pixels.shape[2]) if self.source.windows else _size_of(cell, self.source)
        if logits.shape[1:] != size:  # it was read smaller or larger than it is
            logits = F.interpolate(logits[None], size=size, mode="bilinear", align_corners=False)[0]
        chances = logits.softmax(0)
        best, found = chances.max(0)
        return Segmentation(
            found.to(torch.uint8).numpy(),
            self.classes,
            float(best.mean()),
            cell,
            gates,
            chances.numpy() if probabilities else None,
            (self.source, self.target),
        )

    def scores(
        self, pixels: UInt8[Tensor, "C h w"], tiling: Tiling = WHOLE
    ) -> tuple[Float[Tensor, "N h w"], tuple[Float[Tensor, "_ _"], ...]]:
        """The score of every class at every pixel, and how far each gate was open; at once, or tile by tile."""
        _, height, width = pixels.shape
        blend = Blend(len(self.classes), height, width)
        gates: list[Blend] = []
        for place in tiling.places(height, width, self.unit):
            found = self.model.segment(self.source.collate([pixels[:, *place]]))
            weights = tiling.weights(place, height, width)
            if weights.shape == (height, width):
                return found.logits[0].float(), tuple(each[0].float() for each in found.gates)
            blend.add(place, found.logits[0].float(), weights)
            for number, gate in enumerate(found.gates):
                step = -(-weights.shape[0] // gate.shape[1])
                if number == len(gates):
                    gates.append(Blend(1, -(-height // step), -(-width // step)))
                inside = tuple(slice(each.start // step, -(-each.stop // step)) for each in place)
                gates[number].add((inside[0], inside[1]), gate.float(), weights[::step, ::step])
        return blend.whole(), tuple(each.whole()[0] for each in gates)

    def __repr__(self) -> str:
        return self._repr(f"{len(self.classes)} classes")


def _size_of(cell: Any, side: Image) -> tuple[int, int]:
    """Height and width of an image as people see it."""
    picture = read_picture(cell, side.channels, (2**15, 2**15))
    return picture.height, picture.width
