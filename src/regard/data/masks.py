"""Masks: images whose pixels are classes. How a file is read, and how a mask is written as a line of text.

A mask is an image in grey, in a palette or in colours, of the size of the image that it belongs to. What its pixels
hold are values: a number of grey or of a palette, or a colour (#ff0000).

As text a mask is its height and width, how many classes there are, and runs of equal classes, row by row:
`2x3/2 0*4 1 -` is 0 0 0 / 0 1 and a pixel that no class is told of. So a mask is an answer like any other, which
metrics, comparisons and files of outputs take a line each.

Letters: H rows and W columns of pixels.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int, UInt8
from PIL import Image as Pillow
from PIL import ImageOps

from regard.data.labelled.images import UnreadableImage, check_pixels, opened_image, shorten_reason

NO_CLASS = 255  # the number of a pixel that is neither learnt nor measured
MOST_CLASSES = 64
_HEAD = re.compile(r"(\d+)x(\d+)/(\d+)")
_RUN = re.compile(r"(\d+|-)(?:\*(\d+))?")

Values = Int[np.ndarray, "H W"]  # below 0 for colours


def read_values(cell: Any) -> Int[np.ndarray, "H W"]:
    """The values of a mask's pixels, from its file, an open image or an array; raises `UnreadableImage`.

    Grey and palette give their numbers; colours -1 - (red * 65536 + green * 256 + blue), what is clear being black.
    """
    if isinstance(cell, np.ndarray):
        return _of_array(cell)
    if isinstance(cell, Pillow.Image):
        check_pixels(cell)
        return _of_image(cell)
    if not isinstance(cell, str | Path):
        raise UnreadableImage(f"expected the path of a file, an open image or an array; found {type(cell).__name__}")
    with opened_image(cell) as image:
        return _of_image(image)


def name_of(value: int) -> str:
    """A value as people write it: a number, or a colour."""
    return str(value) if value >= 0 else f"#{-1 - value:06x}"


def value_of(name: str) -> int | None:
    """The value that people write so; None where it is none."""
    if re.fullmatch(r"#[0-9a-fA-F]{6}", name):
        return -1 - int(name[1:], 16)
    return int(name) if name.isdecimal() else None


def mask_text(classes: UInt8[np.ndarray, "H W"], count: int) -> str:
    """A mask of so many classes, in a line."""
    height, width = classes.shape
    flat = classes.ravel()
    starts = np.flatnonzero(np.diff(flat, prepend=flat[:1] + np.uint8(1)))
    lengths = np.diff(starts, append=len(flat))
    names = ("-" if number == NO_CLASS else str(number) for number in flat[starts].tolist())
    runs = (name if times == 1 else f"{name}*{times}" for name, times in zip(names, lengths.tolist(), strict=True))
    return " ".join((f"{height}x{width}/{count}", *runs))


def is_mask_text(text: str) -> bool:
    """Whether a text is a mask."""
    return bool(_HEAD.match(text))


@lru_cache(maxsize=4)
def mask_of(text: str) -> tuple[UInt8[np.ndarray, "H W"], int]:
    """The mask that a text is, and how many classes there are; a ValueError where it is none."""
    head, *runs = text.split()
    told = _HEAD.fullmatch(head)
    parts = [_RUN.fullmatch(run) for run in runs]
    if told is None or not all(parts):
        raise ValueError(f"expected a mask such as 2x3/2 0*4 1*2; found {text[:40]!r}")
    height, width, count = (int(number) for number in told.groups())
    found = [part for part in parts if part is not None]
    numbers = [NO_CLASS if part[1] == "-" else int(part[1]) for part in found]
    flat = np.repeat(np.array(numbers, np.uint8), [int(part[2] or 1) for part in found])
    if len(flat) != height * width:
        raise ValueError(f"expected {height * width} pixels in a mask of {height} x {width}; found {len(flat)}")
    classes = flat.reshape(height, width)
    classes.setflags(write=False)
    return classes, count


def _of_array(cell: np.ndarray) -> Values:
    if cell.ndim == 2 and cell.size and (cell.dtype == bool or np.issubdtype(cell.dtype, np.integer)):
        return cell.astype(np.int64)
    if cell.ndim == 3 and cell.shape[2] == 3 and cell.size and cell.dtype == np.uint8:
        return _colours(cell)
    told = f"{' x '.join(map(str, cell.shape)) or 'a number'} of {cell.dtype}"
    raise UnreadableImage(f"expected whole numbers (height, width), or colours of 8 bits; found {told}")


def _of_image(image: Pillow.Image) -> Values:
    try:
        image.load()
        image = ImageOps.exif_transpose(image)
        if image.mode == "1":
            return np.asarray(image.convert("L")).astype(np.int64)
        if image.mode in ("L", "P") or image.mode.startswith("I"):
            return np.asarray(image).astype(np.int64)
        if image.mode == "LA":
            return np.asarray(image.getchannel("L")).astype(np.int64)
        pixels = np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError, EOFError, KeyError, TypeError) as failure:
        raise UnreadableImage(shorten_reason(failure)) from failure
    return _colours(pixels)


def _colours(pixels: UInt8[np.ndarray, "H W 3"]) -> Values:
    red, green, blue = (pixels[..., channel].astype(np.int64) for channel in range(3))
    return -1 - (red * 65536 + green * 256 + blue)
