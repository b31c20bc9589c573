"""Images of formulas as one side of a task: cut to their ink, as large as they are, on white."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from PIL import Image as Pillow
from torch import Tensor

from regard.data.sides.image import Image
from regard.registry import part
from regard.task import Role, Spec
from regard.types import Count, Grid, Whole

CELL = 8  # pixels: frames are made of whole cells, so that like formulas have frames of one size
WHITE = 255
_INK = 0.35  # how far between ground and the darkest grey a pixel lies that is ink for certain
_BLANK = 16.0  # between ground and the darkest grey of an image with nothing on it
_ORIENTATION, _UPRIGHT = 0x0112, 4  # the tag of a photograph that says how it is turned; above, it lies on its side


@dataclass(frozen=True)
class Framed:
    """What was read of an image: its pixels, and which part of the image they show."""

    pixels: UInt8[Tensor, "1 h w"]
    left: float
    top: float
    scale: float  # pixels of the image for one that was read

    def place(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """A box in what was read (left, top, right, bottom; in shares of it), in pixels of the image."""
        height, width = self.pixels.shape[1:]
        left, top, right, bottom = box
        across, down = width * self.scale, height * self.scale
        return self.left + left * across, self.top + top * down, self.left + right * across, self.top + bottom * down


@part("side", "formula")
class FormulaImage:
    """Pictures of formulas, in grey: cut to the ink, as large as they are; what is too large is made smaller.

    Settings:
        size: the height and width that an image has at most.
        margin: pixels of ground that are kept around the ink.
        shift: pixels that a formula is moved by at most in training, down and to the right.
    """

    column: ClassVar[str] = "image"  # what a corpus calls its cells
    is_image = True

    def __init__(
        self, role: Role, *, size: tuple[Count, Count] = (96, 384), margin: Whole = 2, shift: Whole = 0
    ) -> None:
        self.role, self.size, self.margin, self.shift = role, size, margin, shift

    def spec(self) -> Spec:
        """One channel, and the largest frame."""
        return Spec(1, tuple(self.size))

    def fit(self, cells: Iterable[Any]) -> None:
        """There is nothing to learn."""

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The pixels of each image, from its file, an open image or an array."""
        return [self.framed(cell, random).pixels for cell in cells]

    def pixels(self, cell: Any) -> UInt8[Tensor, "1 h w"]:
        """One image as it is read."""
        return self.framed(cell).pixels

    def framed(self, cell: Any, random: Random | None = None) -> Framed:
        """One image as it is read, and where that lies in it."""
        ink = _contrasted(self._grey(cell))
        left, top, right, bottom = _inked(ink)
        scale = max(1.0, *self._times(bottom - top, right - left))
        cut = Pillow.fromarray(ink[top:bottom, left:right])
        if scale > 1.0:
            small = (max(1, int(cut.width / scale)), max(1, int(cut.height / scale)))
            cut = cut.resize(small, Pillow.Resampling.BOX)  # the mean of what it stands for: no line is lost
        down, across = (self.margin + (random.randint(0, self.shift) if random else 0) for _ in range(2))
        frame = np.full((_whole(cut.height + down + self.margin), _whole(cut.width + across + self.margin)), WHITE)
        frame[down : down + cut.height, across : across + cut.width] = np.array(cut)
        pixels = torch.from_numpy(frame.astype(np.uint8)).unsqueeze(0)
        return Framed(pixels, left - across * scale, top - down * scale, scale)

    def _times(self, height: int, width: int) -> tuple[float, float]:
        """How many times larger than it may be the ink is."""
        around = 2 * self.margin + self.shift
        return height / max(1, self.size[0] - around), width / max(1, self.size[1] - around)

    def _grey(self, cell: Any) -> UInt8[np.ndarray, "h w"]:
        """The image in grey, in its own size."""
        return Image(self.role, size=_size_of(cell), channels=1).pixels(cell)[0].numpy()

    def frame(self, item: Any) -> tuple[int, ...]:
        """Its height and width: images of like frames are batched together."""
        return tuple(item.shape[1:])

    def positions(self, item: Any) -> int:
        """Its pixels."""
        return int(item.shape[1] * item.shape[2])

    def predictions(self, item: Any) -> int:
        """One image."""
        return 1

    def fits(self, item: Any) -> bool:
        """What is too large was made smaller."""
        return True

    def collate(self, items: Sequence[Any]) -> Grid:
        """Numbers between 0 and 1, each image in the upper left corner of one frame for all."""
        height, width = (max(item.shape[axis] for item in items) for axis in (1, 2))
        data = torch.full((len(items), 1, height, width), WHITE, dtype=torch.uint8)
        mask: Bool[Tensor, "B h w"] = torch.zeros(len(items), height, width, dtype=torch.bool)
        for row, item in enumerate(items):
            data[row, :, : item.shape[1], : item.shape[2]] = item
            mask[row, : item.shape[1], : item.shape[2]] = True
        return Grid(data.float() / 255, mask)

    def files(self) -> dict[str, str]:
        """None: the recipe says all."""
        return {}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> FormulaImage:
        """As the recipe has it."""
        return cls(role, **settings)


def _size_of(cell: Any) -> tuple[int, int]:
    """Height and width of an image as people see it; of one that cannot be read anything: who reads it says why."""
    if isinstance(cell, np.ndarray):
        return (max(1, cell.shape[0]), max(1, cell.shape[1])) if cell.ndim > 1 else (1, 1)
    try:
        with nullcontext(cell) if isinstance(cell, Pillow.Image) else Pillow.open(cell) as image:
            turned = image.getexif().get(_ORIENTATION, 1) > _UPRIGHT
            return (image.width, image.height) if turned else (image.height, image.width)
    except (OSError, ValueError, SyntaxError, AttributeError, TypeError, Pillow.DecompressionBombError):
        return 1, 1


def _contrasted(grey: UInt8[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w"]:
    """Black on white, whatever ink and ground are: most of an image of a formula is ground."""
    ground = float(np.median(grey))
    if ground < WHITE / 2:
        grey, ground = WHITE - grey, WHITE - ground
    darkest = float(grey.min())
    if ground - darkest < _BLANK:
        return np.full_like(grey, WHITE)
    return ((grey - darkest) / (ground - darkest) * WHITE).clip(0, WHITE).astype(np.uint8)


def _inked(image: UInt8[np.ndarray, "h w"]) -> tuple[int, int, int, int]:
    """The box around the ink: left, top, right and bottom; one pixel where there is none."""
    ink = image < (1 - _INK) * WHITE
    rows, columns = (np.flatnonzero(ink.any(axis)) for axis in (1, 0))
    if not len(rows):
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _whole(length: int) -> int:
    """As many pixels as whole cells have."""
    return -(-length // CELL) * CELL
