"""A generator of images as a person uses it: a count and a seed in; images, and what their cells looked at, out.

Letters: C channels, h rows and w columns of pixels; Q cells that ask and K that are asked, of i rows and j columns.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image as Pillow
from torch import Tensor

from regard.data.sides.image import Image
from regard.data.sides.label import Label
from regard.data.sides.nothing import Nothing
from regard.errors import UsageError, did_you_mean
from regard.evaluate.metrics import SAMPLED
from regard.evaluate.samples import Features, Images
from regard.hooks import Looked, hook
from regard.model import Model, parameters
from regard.model.gan import Gan
from regard.show.sampled import POINTS, Sampled, mosaic, sampled_text, save_sampled
from regard.task import Side
from regard.tasks.goals.adversarial import BITS, drawn_noise
from regard.tasks.using import TaskModel

TOGETHER = 64  # images that are made at a time


@dataclass(frozen=True)
class Sample:
    """One image that was made: its pixels, its label if it was asked for one, and by what it can be made again.

    `attention` has the weights of every attention of the generator, each cell's in a row; none if nobody wanted them.
    """

    pixels: UInt8[Tensor, "C h w"]
    label: str | None
    seed: int
    number: int
    attention: tuple[Float[Tensor, "Q K"], ...] = ()

    @property
    def text(self) -> str:
        """What was asked for, as every answer has a text."""
        return self.label or ""

    @property
    def array(self) -> UInt8[np.ndarray, "h w C"]:
        """The pixels as a table of rows and columns."""
        return self.pixels.permute(1, 2, 0).contiguous().numpy()

    @property
    def image(self) -> Pillow.Image:
        """The image, for Pillow."""
        return Pillow.fromarray(self.array.squeeze(-1) if len(self.pixels) == 1 else self.array)

    @property
    def grid(self) -> tuple[int, int] | None:
        """Rows and columns of the cells that looked, in the last attention."""
        if not self.attention:
            return None
        height, width = self.pixels.shape[1:]
        rows = round((len(self.attention[-1]) * height / width) ** 0.5)
        return rows, len(self.attention[-1]) // rows

    def looked_at(self, points: Sequence[tuple[int, int]]) -> Float[np.ndarray, "P i j"] | None:
        """What the cells of some pixels (row, column) looked at, over the cells that were asked."""
        grid = self.grid
        if grid is None:
            return None
        height, width = self.pixels.shape[1:]
        for row, column in points:
            if not (0 <= row < height and 0 <= column < width):
                raise UsageError(
                    f"the image has {height} rows and {width} columns; row {row}, column {column} was asked for.",
                    hint="Rows and columns are counted from 0.",
                )
        weights = self.attention[-1]
        step = round((len(weights) / weights.shape[1]) ** 0.5)  # keys may be pooled
        places = [(row * grid[0] // height) * grid[1] + column * grid[1] // width for row, column in points]
        return weights[places].unflatten(1, (grid[0] // step, grid[1] // step)).float().numpy()

    def seen(self, points: Sequence[tuple[int, int]] | None = None) -> Sampled:
        """The image and what some pixels looked at, as pictures have it; without points, five of them."""
        chosen = tuple(points) if points is not None else POINTS.of(*self.pixels.shape[1:])
        return Sampled(self.array, chosen, self.looked_at(chosen), self.label, self.seed, self.number)

    def compared(self, right: Any = None) -> Sampled:
        """As pictures have it; there is no right one."""
        return self.seen()

    def drawn(self) -> str:
        """For a terminal."""
        return sampled_text([self.seen()])

    def save(self, path: str | Path) -> Path:
        """The image, and what five of its pixels looked at, as .html, .png, .svg, .pdf or .txt."""
        return save_sampled([self.seen()], path)

    def _repr_html_(self) -> str:
        from regard.show.sampled import sampled_html

        return sampled_html([self.seen()])


class Sampler(TaskModel):
    """A trained generator of images."""

    verb: ClassVar[str] = "sample"
    wants: ClassVar[str] = "image"
    usual: ClassVar[tuple[str, ...]] = SAMPLED
    model: Gan
    target: Image

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(model, Gan) or not isinstance(source, Nothing | Label) or not isinstance(target, Image):
            raise UsageError("a sampler has a generator, nothing or a label as its source and an image as its target.")
        super().__init__(model, source, target, name)

    @property
    def reads(self) -> str:
        """What a corpus has as its source."""
        return "label" if isinstance(self.source, Label) else "nothing"

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that an image can be asked for; none of a model that knows none."""
        return self.source.names if isinstance(self.source, Label) else ()

    @property
    def described(self) -> Features | None:
        """By what images are compared with others, where its recipe names a classifier."""
        return None if self.parts is None else self.parts.goal.described

    def sample(self, count: int = 1, seed: int = 0, label: str | None = None, *, record: bool = True) -> list[Sample]:
        """So many images. The same seed gives the same ones, and with a larger count the same ones first.

        Where there are labels and none is named, they take turns. `record` keeps what was looked at.
        """
        if count < 1:
            raise UsageError(f"count: expected 1 image or more; found {count}.")
        return self._made([self._labelled(label, number) for number in range(count)], seed, record)

    def answer(self, cells: Any, *, record: bool = True) -> list[Sample]:
        """A sample for each cell, of its label where it names one: the first ones of seed 0."""
        return self._made([self._labelled(cell or None, place) for place, cell in enumerate(cells)], 0, record)

    def look(self, cell: Any = None) -> Sample:
        """One sample, with all that was looked at."""
        return self.answer([cell])[0]

    def mosaic(self, count: int, seed: int = 0) -> bytes:
        """So many samples side by side, as a PNG file."""
        kept = io.BytesIO()
        mosaic([each.array for each in self.sample(count, seed, record=False)]).save(kept, "PNG")
        return kept.getvalue()

    def _labelled(self, label: str | None, number: int) -> int | None:
        names = self.classes
        if label is None:
            return number % len(names) if names else None
        if not names:
            raise UsageError(
                f"a sample of '{label}' was asked for; this model was trained without labels.",
                hint='Leave the class out, or train with source = "label".',
            )
        if label not in names:
            told = ", ".join(names[:10]) + (" ..." if len(names) > 10 else "")
            raise UsageError(f"no class is called '{label}'; there are {told}.", hint=did_you_mean(label, names))
        return names.index(label)

    @torch.no_grad()
    def _made(self, labels: Sequence[int | None], seed: int, record: bool) -> list[Sample]:
        """An image of each label, whose noise depends on the seed and its number alone."""
        found: list[Sample] = []
        self.model.eval()
        for first in range(0, len(labels), TOGETHER):
            some = labels[first : first + TOGETHER]
            seeds = [Random(f"{seed} sample {first + place}").getrandbits(BITS) for place in range(len(some))]
            classes = torch.tensor([each or 0 for each in some]) if self.classes else None
            looked: list[Tensor] = []
            with _listening(looked, record):
                images = self.model.generate(drawn_noise(seeds, self.model.generator.noise), classes)
            pixels = ((images.float() + 1) * 127.5).round().clamp(0, 255).to(torch.uint8).contiguous()
            for place, label in enumerate(some):
                named = None if label is None else self.classes[label]
                seen = tuple(each[place].clone() for each in looked)
                found.append(Sample(pixels[place], named, seed, first + place, seen))
        return found

    def __repr__(self) -> str:
        return self._repr(f"{parameters(self.model):,} parameters")


def _listening(looked: list[Tensor], record: bool) -> Any:
    """Inside, the weights of every attention are noted, if they are wanted; of heads the mean."""
    from contextlib import nullcontext

    def hear(event: Looked) -> None:
        weights = event.weights.float()
        looked.append(weights if weights.dim() == 3 else weights.mean(1))

    return hook(Looked, hear) if record else nullcontext()


def features_of(folder: str | Path) -> Features:
    """What a trained classifier of images makes of an image before it names a class: the summary of its memory."""
    from regard.tasks.classifier import Classifier
    from regard.tasks.objects import open_model

    found = open_model(folder)
    if not isinstance(found, Classifier) or not isinstance(found.source, Image):
        raise UsageError(
            f"{folder}: expected a classifier of images, by whose features images are compared; it was made to "
            f"{getattr(found, 'verb', 'do something else')}.",
            hint="Train one, as in: regard train classify-images --data mirror --out runs/features --steps 500",
        )
    side = found.source

    @torch.no_grad()
    def of(images: Images) -> Float[Tensor, "N F"]:
        rows = []
        for some in images.split(TOGETHER):
            cells = [each.permute(1, 2, 0).contiguous().numpy() for each in some]
            rows.append(found.model.read(side.collate(side.encode(cells))).summary.float())
        return torch.cat(rows)

    return Features(Path(folder).name, of)
