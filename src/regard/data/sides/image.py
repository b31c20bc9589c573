"""Images as one side of a task: pixels in [0, 1], turned, cut and coloured a little in training.

What is drawn is drawn with the `Random` that `encode` is given, and only there. While a model is trained, `decoded`
keeps in memory what was read of small images before. Where a frozen network reads the images, `features` keeps what it
made of each (see `data.features`), and items are that in the place of pixels.

Letters: C channels, h rows and w columns of pixels; D numbers of each of i x j cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, UInt8
from PIL import Image as Pillow
from torch import Tensor

from regard.data.decoded import DecodedImages
from regard.data.framing import Framed, Framing
from regard.data.labelled.images import UnreadableImage
from regard.data.pictures import CHANNELS, Box, framed, read_picture
from regard.data.stored import Stored
from regard.errors import BrokenData
from regard.registry import part
from regard.task import Role, Spec
from regard.types import AtLeastZero, Count, Features, Grid, Share, Whole

HELD = 2**28  # bytes of pixels that may wait to be batched: so many images are a pool
MOST = 2**15  # pixels of a side that are read as they are: a JPEG larger than that may be decoded to a part
GREY = (0.299, 0.587, 0.114)  # how much of red, green and blue is seen as light (ITU-R BT.601)


@runtime_checkable
class Keeps(Protocol):
    """What gives the features of images in the place of their pixels."""

    @property
    def cells(self) -> tuple[int, int]:
        """Rows and columns of an image of the largest size."""

    def of(self, cells: Sequence[Any], side: Image) -> list[Stored]:
        """Where those of each image lie, computed if nobody has yet."""


@part("side", "image")
class Image:
    """Pictures from files (JPEG, PNG, WebP, GIF, BMP): of the same channels, and of one size or in proportion.

    Settings:
        size: height and width that every image is brought to.
        channels: 3 for colours, 1 for grey.
        proportion: keep the proportions of each image, which is made as large as `size` allows; a batch is as large as
            its largest, and knows which pixels are real.
        flip: whether an image is mirrored, left for right, every other time in training.
        shift: pixels that an image is moved by at most in training, in both directions; what is left free is black.
        crop: share of height and of width that is cut off at most in training, anywhere around what is left.
        colour: how much brightness, contrast and saturation change at most in training; 0.2 makes them 0.8 to 1.2 fold.
        windows: images keep the size that they have. In training a window of `size` is cut out of each, anywhere, drawn
            anew each time; in use it is read whole.
    """

    is_image = True
    framed = False  # whether items say what was done with an image, for a target that is read alike
    features: Keeps | None = None  # of a frozen network, while it is trained with
    decoded: DecodedImages | None = None  # what was read before, while a model is trained

    def __init__(
        self,
        role: Role,
        *,
        size: tuple[Count, Count] = (32, 32),
        channels: Count = 3,
        proportion: bool = False,
        flip: bool = False,
        shift: Whole = 0,
        crop: Share = 0.0,
        colour: AtLeastZero = 0.0,
        windows: bool = False,
    ) -> None:
        if channels not in CHANNELS:
            raise BrokenData(f"an image has 1 or 3 channels; found channels = {channels}.", hint="Write channels = 3.")
        if windows and proportion:
            raise BrokenData(
                "windows keep images at their own size, and proportion = true brings them to another.",
                hint="Write proportion = false.",
            )
        self.role, self.size, self.channels, self.proportion = role, size, channels, proportion
        self.flip, self.shift, self.crop, self.colour = flip, shift, crop, colour
        self.windows = windows

    @property
    def draws(self) -> bool:
        """Whether an image is another one each time in training."""
        return bool(self.flip or self.shift or self.crop or self.colour or self.windows)

    @property
    def pool(self) -> int:
        """How many images may wait to be batched: features lie on the disk, pixels in memory."""
        height, width = self.size
        return HELD if self._keeps(Random()) else max(1, HELD // (self.channels * height * width))

    def spec(self) -> Spec:
        """Its channels, and its height and width at most."""
        return Spec(self.channels, tuple(self.size))

    def fit(self, cells: Iterable[Any]) -> None:
        """There is nothing to learn: the recipe says the size."""

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The pixels of each image, from its file, an open image or an array; or its features, where they are kept."""
        if self._keeps(random) and self.features is not None:
            return list(self.features.of(cells, self))
        found = [self.read(cell, random) for cell in cells]
        return found if self.framed else [each.pixels for each in found]

    def _keeps(self, random: Random | None) -> bool:
        """Whether features are given: what is drawn anew each time cannot be kept."""
        return self.features is not None and (random is None or not self.draws)

    def pixels(self, cell: Any, random: Random | None = None) -> UInt8[Tensor, "C h w"]:
        """One image, upright, in the channels and the size of this side; with `random`, drawn as in training."""
        return self.read(cell, random).pixels

    def read(self, cell: Any, random: Random | None = None) -> Framed:
        """The same, with what was done with it."""
        if random is not None and (self.crop or self.windows):
            picture = self._read(cell) if self.decoded is None else self.decoded.of(cell, lambda: self._read(cell))
            return self._drawn(self._part(picture, self._window(picture, random)), random)
        found = self._whole(cell) if self.decoded is None else self.decoded.of(cell, lambda: self._whole(cell))
        whole = Framed(found, Framing((found.shape[1], found.shape[2])))
        return whole if random is None else self._drawn(whole, random)

    def _whole(self, cell: Any) -> UInt8[Tensor, "C h w"]:
        """All of an image."""
        picture = self._read(cell)
        size = (picture.height, picture.width) if self.windows else (self.size[0], self.size[1])
        return framed(picture, size, self.proportion, None)

    def _part(self, picture: Pillow.Image, box: Box) -> Framed:
        """What lies in a box of an image, which may reach over its edges where windows are cut."""
        edges = (picture.width, picture.height) * 2
        left, top, right, bottom = (edge / length for edge, length in zip(box, edges, strict=True))
        wide, place = _reaching(picture, box) if self.windows else (picture, box)
        found = framed(wide, (self.size[0], self.size[1]), self.proportion, place)
        return Framed(found, Framing((found.shape[1], found.shape[2]), (left, top, right, bottom)))

    def _read(self, cell: Any) -> Pillow.Image:
        """An image in the channels of this side."""
        try:
            return read_picture(cell, self.channels, (MOST, MOST) if self.windows else (self.size[0], self.size[1]))
        except UnreadableImage as why:
            named = cell if isinstance(cell, str | Path) else f"an {type(cell).__name__.lower()} of pixels"
            raise BrokenData(
                f"{named}: the image cannot be read: {why}.", hint="Save it again, or take it out."
            ) from why

    def _window(self, picture: Pillow.Image, random: Random) -> Box:
        """What is left of an image that is cut: left, top, right and bottom, in its pixels."""
        share = 1 - self.crop * random.random()  # of height and width alike: nothing is stretched
        across, down = (self.size[1], self.size[0]) if self.windows else picture.size
        width, height = share * across, share * down
        left, top = random.random() * (picture.width - width), random.random() * (picture.height - height)
        if self.windows and not self.crop:  # whole pixels: nothing is mixed of two
            left, top = float(round(left)), float(round(top))
        return left, top, left + width, top + height

    def _drawn(self, read: Framed, random: Random) -> Framed:
        pixels, framing = read.pixels, read.framing
        if self.flip and random.random() < 0.5:
            pixels, framing = pixels.flip(-1), replace(framing, flip=True)
        if self.shift:
            down, right = (random.randint(-self.shift, self.shift) for _ in range(2))
            pixels, framing = _shifted(pixels, down, right), replace(framing, down=down, right=right)
        if self.colour:
            light, contrast, saturation = (max(0.0, 1 + self.colour * random.uniform(-1, 1)) for _ in range(3))
            pixels = _coloured(pixels, light, contrast, saturation)
        return Framed(pixels, framing)

    def positions(self, item: Any) -> int:
        """Its pixels, whether they are there or their features."""
        cells = int(item.shape[1] * item.shape[2])
        if not isinstance(item, Stored) or self.features is None:
            return cells
        rows, columns = self.features.cells
        return round(cells * self.size[0] * self.size[1] / (rows * columns))

    def frame(self, item: Any) -> tuple[int, ...]:
        """Its height and width, where they differ: images of like frames are batched together."""
        return tuple(item.shape[1:]) if self.proportion or self.windows else ()

    def predictions(self, item: Any) -> int:
        """One image."""
        return 1

    def fits(self, item: Any) -> bool:
        """All are made to."""
        return True

    def collate(self, items: Sequence[Any]) -> Grid:
        """Numbers between 0 and 1, or features, which are read now; what is real lies in the upper left corner."""
        if all(isinstance(item, Tensor) and item.shape == items[0].shape for item in items):
            return Grid(torch.stack(list(items)) / 255, torch.ones(len(items), *items[0].shape[1:], dtype=torch.bool))
        height, width = (max(item.shape[axis] for item in items) for axis in (1, 2))
        data = torch.zeros(len(items), items[0].shape[0], height, width)
        mask: Bool[Tensor, "B h w"] = torch.zeros(len(items), height, width, dtype=torch.bool)
        for row, item in enumerate(items):
            data[row, :, : item.shape[1], : item.shape[2]] = item.read() if isinstance(item, Stored) else item
            mask[row, : item.shape[1], : item.shape[2]] = True
        return Features(data, mask) if isinstance(items[0], Stored) else Grid(data / 255, mask)

    def files(self) -> dict[str, str]:
        """None: the recipe says all."""
        return {}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> Image:
        """As the recipe has it."""
        return cls(role, **settings)


def _reaching(picture: Pillow.Image, box: Box) -> tuple[Pillow.Image, Box]:
    """An image with black around it, as far as a box reaches over its edges, and the box in that."""
    left, top = (max(0, -math.floor(edge)) for edge in box[:2])
    right, bottom = max(0, math.ceil(box[2]) - picture.width), max(0, math.ceil(box[3]) - picture.height)
    if not any((left, top, right, bottom)):
        return picture, box
    wide = Pillow.new(picture.mode, (picture.width + left + right, picture.height + top + bottom))
    wide.paste(picture, (left, top))
    return wide, (box[0] + left, box[1] + top, box[2] + left, box[3] + top)


def _shifted(pixels: Tensor, down: int, right: int) -> Tensor:
    """Moved by so many pixels; what is left free is black."""
    height, width = pixels.shape[1:]
    down, right = max(-height, min(height, down)), max(-width, min(width, right))
    found = torch.zeros_like(pixels)
    rows, columns = height - abs(down), width - abs(right)
    top, left = max(0, down), max(0, right)
    found[:, top : top + rows, left : left + columns] = pixels[
        :, max(0, -down) : max(0, -down) + rows, max(0, -right) : max(0, -right) + columns
    ]
    return found


def _coloured(
    pixels: UInt8[Tensor, "C h w"], light: float, contrast: float, saturation: float
) -> UInt8[Tensor, "C h w"]:
    """Every number times `light`; its distance from the mean grey, and then from its own grey, so many fold."""
    lit = pixels.float() * light
    middle = _grey(lit).mean()
    found = middle + (lit - middle) * contrast
    own = _grey(found)
    return (own + (found - own) * saturation).round().clamp(0, 255).to(torch.uint8)


def _grey(pixels: Float[Tensor, "C h w"]) -> Float[Tensor, "1 h w"]:
    """How light each pixel is."""
    shares = pixels.new_tensor(GREY if len(pixels) == len(GREY) else (1.0,))
    return (pixels * shares[:, None, None]).sum(0, keepdim=True)


def keep_decoded(side: Any) -> None:
    """Let a side of images or masks keep what it reads of them in memory, as far as there is room, for later."""
    if getattr(side, "decoded", side) is None:
        side.decoded = DecodedImages()
