"""Images as one side of a task: pixels in [0, 1] in frames of one size, turned and moved a little in training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image as Pillow
from PIL import ImageOps, UnidentifiedImageError
from torch import Tensor

from regard.errors import BrokenData
from regard.registry import part
from regard.task import Role, Spec
from regard.types import Count, Grid, Whole

MOST = 50_000_000  # pixels of one image: more are refused before they are decoded
MODES = {1: "L", 3: "RGB"}


@part("side", "image")
class Image:
    """Pictures from files: all are made of one size, and of the same channels.

    Settings:
        size: height and width that every image is brought to.
        channels: 3 for colours, 1 for grey.
        flip: whether an image is mirrored, left for right, every other time in training.
        shift: pixels that an image is moved by at most in training, in both directions; what is left free is black.
    """

    is_image = True

    def __init__(
        self,
        role: Role,
        *,
        size: tuple[Count, Count] = (32, 32),
        channels: Count = 3,
        flip: bool = False,
        shift: Whole = 0,
    ) -> None:
        if channels not in MODES:
            raise BrokenData(f"an image has 1 or 3 channels; found channels = {channels}.", hint="Write channels = 3.")
        self.role, self.size, self.channels, self.flip, self.shift = role, size, channels, flip, shift

    def spec(self) -> Spec:
        """Its channels, and its height and width."""
        return Spec(self.channels, tuple(self.size))

    def fit(self, cells: Iterable[Any]) -> None:
        """There is nothing to learn: the recipe says the size."""

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The pixels of each image, from its file, an open image or an array."""
        return [self._moved(self.pixels(cell), random) for cell in cells]

    def pixels(self, cell: Any) -> UInt8[Tensor, "C h w"]:
        """One image, upright, in the channels and the size of this side."""
        image = cell if isinstance(cell, Pillow.Image) else _opened(cell)
        image = ImageOps.exif_transpose(image)
        if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:  # on white, as people see it
            clear = image.convert("RGBA")
            image = Pillow.alpha_composite(Pillow.new("RGBA", clear.size, "white"), clear)
        image = image.convert(MODES[self.channels])
        height, width = self.size
        if image.size != (width, height):
            image = image.resize((width, height), Pillow.Resampling.BILINEAR)
        found = torch.from_numpy(np.array(image))
        return found.unsqueeze(0) if self.channels == 1 else found.permute(2, 0, 1).contiguous()

    def _moved(self, pixels: Tensor, random: Random | None) -> Tensor:
        if random is None:
            return pixels
        if self.flip and random.random() < 0.5:
            pixels = pixels.flip(-1)
        if self.shift:
            down, right = (random.randint(-self.shift, self.shift) for _ in range(2))
            pixels = _shifted(pixels, down, right)
        return pixels

    def positions(self, item: Any) -> int:
        """Its pixels."""
        return int(item.shape[1] * item.shape[2])

    def predictions(self, item: Any) -> int:
        """One image."""
        return 1

    def fits(self, item: Any) -> bool:
        """All are of one size."""
        return True

    def collate(self, items: Sequence[Any]) -> Grid:
        """Numbers between 0 and 1; every pixel is real."""
        data = torch.stack(list(items)).float() / 255
        return Grid(data, torch.ones(len(data), *data.shape[2:], dtype=torch.bool))

    def files(self) -> dict[str, str]:
        """None: the recipe says all."""
        return {}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> Image:
        """As the recipe has it."""
        return cls(role, **settings)


def _opened(cell: Any) -> Pillow.Image:
    """An image from a path or an array; what cannot be decoded is told by its name."""
    if isinstance(cell, np.ndarray):
        return Pillow.fromarray(cell)
    try:
        with Pillow.open(cell) as image:
            if image.width * image.height > MOST:
                raise BrokenData(
                    f"{cell}: an image of {image.width} x {image.height} pixels; at most {MOST:,} are read.",
                    hint="Make it smaller, or take it out.",
                )
            image.load()
            return image.copy()
    except FileNotFoundError as error:
        raise BrokenData(f"{cell}: expected an image; there is no such file.") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:
        raise BrokenData(
            f"{cell}: the image cannot be decoded: {error}.", hint="Save it again, or take it out."
        ) from error


def _shifted(pixels: Tensor, down: int, right: int) -> Tensor:
    """Moved by so many pixels; what is left free is black."""
    found = torch.zeros_like(pixels)
    height, width = pixels.shape[1:]
    rows, columns = height - abs(down), width - abs(right)
    top, left = max(0, down), max(0, right)
    found[:, top : top + rows, left : left + columns] = pixels[
        :, max(0, -down) : max(0, -down) + rows, max(0, -right) : max(0, -right) + columns
    ]
    return found
