"""A mask as one side of a task: the class of every pixel of an image, whichever way the image was read.

Letters: H rows and W columns of pixels of a file; h and w of what is learnt from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image as Pillow

from regard.data.decoded import DecodedImages
from regard.data.framing import Framed
from regard.data.labelled.images import UnreadableImage
from regard.data.masks import MOST_CLASSES, NO_CLASS, Values, name_of, read_values, value_of
from regard.data.sides.label import Classes
from regard.errors import BrokenData, UsageError, did_you_mean
from regard.registry import part
from regard.task import Role
from regard.types import UNLABELLED, Masks

_NAMED = 8  # values named in one message


@part("side", "mask")
class Mask(Classes):
    """The class of every pixel: an image of numbers (grey or palette) or colours, as large as the one it belongs to.

    Settings:
        classes: the value of each class, as numbers ("0", "255") or colours ("#ff0000"), the ground first; then every
            pixel takes the nearest of them. None for the values that the training masks have, and no other.
        ignore: a value whose pixels are neither learnt nor measured; "" for none.
    """

    decoded: DecodedImages | None = None  # what was read before, while a model is trained

    def __init__(self, role: Role, *, classes: tuple[str, ...] = (), ignore: str = "") -> None:
        super().__init__(role)
        wrong = [each for each in (*classes, *filter(None, (ignore,))) if value_of(each) is None]
        if wrong or len(classes) == 1:
            found = f"'{wrong[0]}'" if wrong else "one class"
            raise UsageError(
                f"a mask has two classes or more, each a number or a colour such as #ff0000; found {found}.",
                hint='Write classes = ["0", "255"], or leave it out: the training masks tell.',
            )
        self.near, self.ignore = bool(classes), ignore
        if classes:
            self.names = classes

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn which values there are, where the recipe does not say."""
        if self.near:
            return
        found: set[int] = set()
        for cell in cells:
            found |= set(np.unique(self.values(cell)).tolist())
            if len(found) > MOST_CLASSES + 1:
                raise BrokenData(
                    f"{named(cell)}: expected masks of at most {MOST_CLASSES} values; found {len(found)}: "
                    f"{_told(found)}.",
                    hint='Say which are meant, and the nearest is taken: -s task.target.classes=["0","255"]. '
                    "Masks as JPEG are blurred: save them as PNG.",
                )
        if self.ignore:
            found.discard(_value(self.ignore))
        if len(found) < 2:
            raise BrokenData(
                f"expected masks of at least two values; found {_told(found) or 'none'}.",
                hint="There is something to learn where pixels differ: look at the masks.",
            )
        vars(self).pop("_table", None)
        self.names = tuple(map(name_of, sorted(found, key=lambda value: value if value >= 0 else -1 - value)))

    def values(self, cell: Any) -> Values:
        """The values of a mask's pixels."""
        try:
            return read_values(cell)
        except UnreadableImage as why:
            raise BrokenData(f"{named(cell)}: the mask cannot be read: {why}.", hint="Save it again as PNG.") from why

    def classes(self, cell: Any) -> UInt8[np.ndarray, "H W"]:
        """The number of each pixel's class, in the size of the mask; `NO_CLASS` where none is told."""
        values = self.values(cell)
        known, numbers = self._table
        places = np.searchsorted(known, values).clip(max=len(known) - 1)
        strange = known[places] != values
        if not strange.any():
            return numbers[places]
        if not self.near:
            found = set(np.unique(values[strange]).tolist())
            raise BrokenData(
                f"{named(cell)}: expected the values {', '.join(self.names[:_NAMED])}; found {_told(found)} too.",
                hint=did_you_mean(name_of(min(found)), self.names)
                or 'Say which are meant, and the nearest is taken: -s task.target.classes=["0","255"].',
            )
        return self._nearest(values)

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """Classes of pixels. What was done with an image whose framing is `given` is done with its mask."""
        found = [self._kept(cell) for cell in cells]
        for place, item in enumerate(given or ()):
            if isinstance(item, Framed):
                found[place] = item.framing.of_classes(found[place], NO_CLASS)
        return [torch.from_numpy(np.ascontiguousarray(each)) for each in found]

    def _kept(self, cell: Any) -> UInt8[np.ndarray, "H W"]:
        """Classes, as they were read before where they are kept."""
        if self.decoded is None:
            return self.classes(cell)
        return self.decoded.of(cell, lambda: torch.from_numpy(self.classes(cell))).numpy()

    def positions(self, item: Any) -> int:
        """None: those of a batch are its image's."""
        return 0

    def predictions(self, item: Any) -> int:
        """Its pixels, but for those without a class."""
        return int((item != NO_CLASS).sum())

    def collate(self, items: Sequence[Any]) -> Masks:
        """A number for each pixel, in the upper left corner of one frame for all."""
        height, width = (max(item.shape[axis] for item in items) for axis in (0, 1))
        data = torch.full((len(items), height, width), UNLABELLED, dtype=torch.long)
        for row, item in enumerate(items):
            data[row, : item.shape[0], : item.shape[1]] = item.long().masked_fill(item == NO_CLASS, UNLABELLED)
        return Masks(data)

    def image(self, classes: UInt8[np.ndarray, "H W"]) -> Pillow.Image:
        """A mask as a file has it, in the values that those of the training had."""
        values = [_value(name) for name in self.names]
        if min(values) >= 0 and max(values) <= 255:
            table = np.zeros(256, np.uint8)
            table[: len(values)] = values
            return Pillow.fromarray(table[classes])
        colours = np.zeros((256, 3), np.uint8)
        for number, value in enumerate(values):
            plain = -1 - value if value < 0 else value
            colours[number] = (plain >> 16 & 255, plain >> 8 & 255, plain & 255)
        return Pillow.fromarray(colours[classes])

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """All known values in order, and the number of each."""
        pairs = [(_value(name), number) for number, name in enumerate(self.names)]
        pairs += [(_value(self.ignore), NO_CLASS)] if self.ignore else []
        pairs.sort()
        return np.array([value for value, _ in pairs]), np.array([number for _, number in pairs], np.uint8)

    def _nearest(self, values: Values) -> UInt8[np.ndarray, "H W"]:
        known, numbers = self._table
        found, back = np.unique(values, return_inverse=True)
        apart = np.abs(_channels(found)[:, None] - _channels(known)[None]).sum(-1)
        return numbers[apart.argmin(1)][back.reshape(values.shape)]


def _value(name: str) -> int:
    """The value of a class, whose name was looked at before."""
    found = value_of(name)
    if found is None:
        raise BrokenData(f"expected the value of a class, a number or a colour; found '{name}'.")
    return found


def _channels(values: np.ndarray) -> np.ndarray:
    """Each value as red, green and blue."""
    plain = np.where(values < 0, -1 - values, values)
    colours = np.stack((plain >> 16 & 255, plain >> 8 & 255, plain & 255), -1)
    return np.where((values < 0)[:, None], colours, plain[:, None])


def named(cell: Any) -> str:
    """A mask, as messages call it."""
    return str(cell) if isinstance(cell, str | Path) else f"an {type(cell).__name__.lower()} of pixels"


def _told(values: set[int]) -> str:
    names = [name_of(value) for value in sorted(values)]
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
