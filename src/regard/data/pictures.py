"""One picture as pixels: upright, on white, in grey or in colours, of a given size or in proportion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image as Pillow
from PIL import ImageOps
from torch import Tensor

from regard.data.labelled.images import UnreadableImage, check_pixels, opened_image, shorten_reason

CHANNELS = {1: "L", 3: "RGB"}
Box = tuple[float, float, float, float]


def read_picture(cell: Any, channels: int, size: tuple[int, int]) -> Pillow.Image:
    """A picture from the path of its file, an open image or an array; raises `UnreadableImage`.

    A JPEG much larger than `size` (height and width) is decoded to a half, a quarter or an eighth, which is quicker.
    """
    if isinstance(cell, np.ndarray):
        return _plain(_of_array(cell), channels)
    if isinstance(cell, Pillow.Image):
        check_pixels(cell)
        return _plain(cell, channels)
    with opened_image(_path(cell)) as image:
        side = 2 * max(size)  # either way round: the picture may have to be turned yet
        image.draft(None, (side, side))
        image.load()
        return _plain(image, channels)


def framed(image: Pillow.Image, size: tuple[int, int], proportion: bool, box: Box | None) -> UInt8[Tensor, "C h w"]:
    """The pixels of a picture, or of a box in it: brought to `size`, or as large as fits into it in `proportion`."""
    height, width = size
    left, top, right, bottom = box or (0, 0, image.width, image.height)
    if proportion:
        scale = min(height / (bottom - top), width / (right - left))
        height, width = (max(1, round(scale * length)) for length in (bottom - top, right - left))
    if image.size != (width, height) or box:
        image = image.resize((width, height), Pillow.Resampling.BILINEAR, box)
    found = torch.from_numpy(np.array(image))
    return found.unsqueeze(0) if found.dim() == 2 else found.permute(2, 0, 1).contiguous()


def _path(cell: Any) -> str | Path:
    if isinstance(cell, str | Path):
        return cell
    raise UnreadableImage(f"expected the path of a file, an open image or an array; found {type(cell).__name__}")


def _of_array(cell: np.ndarray) -> Pillow.Image:
    """Pixels of 8 or 16 bits: height, width, and 3 or 4 channels if there are more than one."""
    shape = cell.shape[:2] if cell.ndim == 3 and cell.shape[2] == 1 else cell.shape
    fits = len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4) and cell.dtype == np.uint8)
    if not fits or cell.dtype not in (np.uint8, np.uint16) or 0 in shape:
        found = f"{' x '.join(map(str, cell.shape)) or 'a number'} of {cell.dtype}"
        raise UnreadableImage(f"expected whole numbers from 0 to 255 (uint8): height, width, channels; found {found}")
    image = Pillow.fromarray(np.ascontiguousarray(cell.reshape(shape)))
    check_pixels(image)
    return image


def _plain(image: Pillow.Image, channels: int) -> Pillow.Image:
    """Upright, what is clear on white, 8 bits of each channel."""
    try:
        image = ImageOps.exif_transpose(image)
        if image.mode.startswith("I"):  # 16 bits: Pillow would cut off what is above 255
            return Pillow.fromarray((np.asarray(image).clip(0, 65535) // 257).astype(np.uint8)).convert(
                CHANNELS[channels]
            )
        if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
            clear = image.convert({"La": "LA"}.get(image.mode, "RGBA")).convert("RGBA")
            image = Pillow.alpha_composite(Pillow.new("RGBA", clear.size, "white"), clear)
        return image.convert(CHANNELS[channels])
    except (OSError, ValueError, SyntaxError, EOFError, KeyError, TypeError) as failure:
        raise UnreadableImage(shorten_reason(failure)) from failure
