"""An auto-encoder of images as a person uses it: images in; images, and the codes that they were made from, out.

Letters: N images, h rows and w columns of pixels, C channels, Z numbers of a code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, UInt8

from regard.data.sides.nothing import Nothing
from regard.errors import UsageError
from regard.evaluate.images import WHITE, squared_error
from regard.model import Model
from regard.show.reconstructed import Reconstructed
from regard.task import Side
from regard.tasks.classifier import images_of
from regard.tasks.codes import checked_codes, nearest_others, steps_between
from regard.tasks.using import TaskModel, batched
from regard.types import Codes

PIXELS = 2**21  # numbers of images that go through the model at a time
IMAGES = ("mse", "psnr")


@dataclass(frozen=True)
class Reconstruction:
    """One answer: the image that was made, the one that was read, and the code between them.

    `values` are the light of each number, from 0 (none) to 1 (all), unrounded; `image` has them as pixels.
    """

    values: Float[np.ndarray, "h w C"] = field(repr=False)
    read: UInt8[np.ndarray, "h w C"] = field(repr=False)
    code: Float[np.ndarray, " Z"] = field(repr=False)
    source: Any

    @property
    def image(self) -> UInt8[np.ndarray, "h w C"]:
        """The pixels that were made."""
        return as_pixels(self.values)

    @property
    def error(self) -> float:
        """How far a number is from what was read, squared, on average; white is 1."""
        return squared_error(self.values, self.read) / self.read.size

    @property
    def text(self) -> str:
        """The error, as every answer has a text."""
        return f"{self.error:.6f}"

    @property
    def name(self) -> str:
        """The file that was read, if it was one."""
        return Path(self.source).name if isinstance(self.source, str | Path) else "image"

    @property
    def seen(self) -> Reconstructed:
        """Both images, to be drawn."""
        return self.compared(None)

    def compared(self, right: str | None) -> Reconstructed:
        """The same: what is right is what was read."""
        return Reconstructed(self.read, self.image, self.error, self.name)

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the image's name, and the error."""
        return f"{self.name}  ->  error {self.error:.4f}"

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write both images side by side: a .html page, a .png, .svg, .pdf or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.seen], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])


class AutoEncoder(TaskModel):
    """A trained model that makes images again from short codes.

    An image is the path of its file, an open Pillow image, or an array of pixels (height, width, channels).
    """

    verb: ClassVar[str] = "reconstruct"
    wants: ClassVar[str] = "nothing"
    usual: ClassVar[tuple[str, ...]] = IMAGES

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not getattr(source, "is_image", False) or not isinstance(target, Nothing):
            raise UsageError("an auto-encoder of images reads images and has nothing as its target.")
        super().__init__(model, source, target, name)

    @property
    def width(self) -> int:
        """How many numbers a code has."""
        return int(self.model.predict.width)

    def reconstruct(self, inputs: Any) -> Any:
        """What is made of an image, or of each of a list, in order."""
        many = isinstance(inputs, list | tuple)
        found = self.answer(inputs if many else [inputs])
        return found if many else found[0]

    def answer(self, cells: Any, *, record: bool = True) -> list[Reconstruction]:
        """What is made of each image."""
        cells = images_of(cells)
        items, found = self.source.encode(cells), dict[int, Reconstruction]()
        for rows in self._batches(items):
            grid = self.source.collate([items[row] for row in rows])
            with torch.inference_mode():
                memory = self.model.read(grid)
                pixels = self.model.predict.image(memory).pixels.float().permute(0, 2, 3, 1).numpy()
                codes = memory.summary.float().numpy()
            for place, row in enumerate(rows):
                height, width = items[row].shape[1:]
                read = items[row].permute(1, 2, 0).numpy()
                found[row] = Reconstruction(pixels[place, :height, :width], read, codes[place], cells[row])
        return [found[row] for row in range(len(cells))]

    def encode(self, inputs: Any) -> Any:
        """The code of an image; of a list the codes, a row each, in order."""
        many = isinstance(inputs, list | tuple)
        items = self.source.encode(images_of(list(inputs) if many else [inputs]))
        found = np.zeros((len(items), self.width), np.float32)
        for rows in self._batches(items):
            with torch.inference_mode():
                found[rows] = self.model.read(self.source.collate([items[row] for row in rows])).summary.float().numpy()
        return found if many else found[0]

    def decode(self, codes: Any) -> UInt8[np.ndarray, "*N h w C"]:
        """The image that a code stands for; of several codes, a row each, the images in order."""
        given = checked_codes(codes, self.width)
        rows = torch.from_numpy(given.reshape(-1, self.width))
        step = max(1, PIXELS // max(1, int(np.prod(self.model.predict.frame))))
        with torch.inference_mode():
            made = [self.model.image(Codes.of(some)).pixels.float() for some in rows.split(step)]
        images = as_pixels(torch.cat(made).permute(0, 2, 3, 1).numpy())
        return images if given.ndim > 1 else images[0]

    def interpolate(self, one: Any, other: Any, count: int = 8) -> UInt8[np.ndarray, "N h w C"]:
        """So many images, from what is made of the one to what is made of the other, by codes in equal steps."""
        first, last = self.encode([one, other])
        return self.decode(steps_between(first, last, count))

    def nearest(self, codes: Float[np.ndarray, "N Z"]) -> list[int]:
        """For each of many codes the place of the other one that is nearest to it."""
        return nearest_others(codes)

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Images, damaged where the model was trained to mend them, and the pixels that are right."""
        from regard.tasks.goals.reconstruct import Reconstruct

        goal = self.parts.goal if self.parts is not None else Reconstruct(self.source, self.target)
        asked: tuple[Sequence[Any], Sequence[Any]] = goal.questions(cells, references)
        return asked

    def _batches(self, items: Sequence[Any]) -> list[list[int]]:
        return list(batched([max(1, self.source.positions(item)) for item in items], PIXELS))

    def __repr__(self) -> str:
        return self._repr(f"codes of {self.width} numbers")


def as_pixels(values: Float[np.ndarray, "*N h w C"]) -> UInt8[np.ndarray, "*N h w C"]:
    """Light as numbers from 0 to 255."""
    return np.rint(values.clip(0, 1) * WHITE).astype(np.uint8)
