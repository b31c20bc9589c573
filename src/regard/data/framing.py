"""Which part of an image was read, and how it was brought to size, turned and moved: so that its mask is read alike.

An image of which only pixels are asked is a tensor. One whose `framing` is asked (`sides.image.Image.framed`) is a
`Framed`, and the target of its row, which is given it, does with its own cell what was done with the image.

Letters: C channels, h rows and w columns of what was read; H and W those of the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, UInt8
from PIL import Image as Pillow
from torch import Tensor

WHOLE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class Framing:
    """What was done with an image, in this order.

    `box` is the part that is read, in shares of width and height (left, top, right, bottom), brought to `size` (height
    and width); where it reaches over the image's edge, nothing is there. Then it is mirrored, left for right (`flip`),
    and moved by so many pixels.
    """

    size: tuple[int, int]
    box: tuple[float, float, float, float] = WHOLE
    flip: bool = False
    down: int = 0
    right: int = 0

    def of_classes(self, classes: UInt8[np.ndarray, "H W"], nothing: int) -> UInt8[np.ndarray, "h w"]:
        """The same done with the classes of an image's pixels: the nearest is taken, none is mixed of two."""
        found = _part(classes, self, nothing)
        found = found[:, ::-1] if self.flip else found
        return moved(found, self.down, self.right, nothing)


@dataclass(frozen=True)
class Framed:
    """The pixels of an image as they were read, and what was done with it."""

    pixels: UInt8[Tensor, "C h w"]
    framing: Framing

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its pixels."""
        return tuple(self.pixels.shape)


def moved(
    classes: Int[np.ndarray, "h w"] | UInt8[np.ndarray, "h w"], down: int, right: int, nothing: int
) -> UInt8[np.ndarray, "h w"]:
    """Moved by so many pixels; what is left free has no class."""
    height, width = classes.shape
    down, right = max(-height, min(height, down)), max(-width, min(width, right))
    found = np.full((height, width), nothing, np.uint8)
    rows, columns = height - abs(down), width - abs(right)
    found[max(0, down) : max(0, down) + rows, max(0, right) : max(0, right) + columns] = classes[
        max(0, -down) : max(0, -down) + rows, max(0, -right) : max(0, -right) + columns
    ]
    return found


def _part(classes: UInt8[np.ndarray, "H W"], framing: Framing, nothing: int) -> UInt8[np.ndarray, "h w"]:
    """The box, brought to size."""
    height, width = classes.shape
    left, top, right, bottom = framing.box
    box = (left * width, top * height, right * width, bottom * height)
    spare = (max(0, -int(np.floor(box[0]))), max(0, -int(np.floor(box[1]))))
    more = (max(0, int(np.ceil(box[2])) - width), max(0, int(np.ceil(box[3])) - height))
    if any((*spare, *more)):  # Pillow reads inside an image alone
        classes = np.pad(classes, ((spare[1], more[1]), (spare[0], more[0])), constant_values=nothing)
        box = (box[0] + spare[0], box[1] + spare[1], box[2] + spare[0], box[3] + spare[1])
    rows, columns = framing.size
    if box == (0, 0, columns, rows) == (0, 0, classes.shape[1], classes.shape[0]):
        return classes
    image = Pillow.fromarray(np.ascontiguousarray(classes))
    return np.asarray(image.resize((columns, rows), Pillow.Resampling.NEAREST, box))
