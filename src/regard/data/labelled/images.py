"""Images as files: which files are some, and how one is read, or refused in words.

What somebody else's file may do is limited before it does it. Only formats that need no other program are opened. The
header says the size, so that a file of a few bytes which unfolds to gigabytes is refused before it does. Of an animated
GIF the first frame is read, which is what it has always shown where it does not move; other animations are refused. A
corpus decodes every image once, at the smallest scale the format offers: a file that breaks off is found before a
training needs it.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
MOST_PIXELS = 50_000_000
_SMALL = 8  # a JPEG can be decoded to an eighth of its width and height
# What Pillow raises on files that are broken or made to break it.
_FAILURES = (
    *(OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, struct.error),
    *(MemoryError, ZeroDivisionError, OverflowError),
)


class UnreadableImage(Exception):
    """Why an image cannot be read, in words; whoever asked for it knows its name."""


def is_image(path: Path) -> bool:
    """Whether a file is called as images are; a leading dot hides one."""
    return path.suffix.lower() in IMAGES and not path.name.startswith(".")


def fault_of_image(path: Path) -> str | None:
    """Why an image cannot be read, in words; nothing where it can."""
    try:
        with opened_image(path) as image:
            width, height = image.size
            image.draft(image.mode, (max(width // _SMALL, 1), max(height // _SMALL, 1)))
            image.load()
    except UnreadableImage as why:
        return str(why)
    return None


@contextmanager
def opened_image(path: str | Path) -> Iterator[Image]:
    """An image whose header was looked at, and whose pixels are yet to be decoded; raises `UnreadableImage`."""
    from PIL import Image, UnidentifiedImageError  # here, since most corpora have none

    try:
        if not Path(path).is_file():
            raise UnreadableImage("there is no such file")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own warning about size: ours is stricter
            with Image.open(path, formats=FORMATS) as image:
                check_pixels(image)
                frames = getattr(image, "n_frames", 1)
                if frames > 1 and image.format != "GIF":
                    raise UnreadableImage(f"an animation of {frames} frames; expected a single image, or a GIF")
                yield image
    except UnidentifiedImageError:
        raise UnreadableImage(f"expected one of {', '.join(FORMATS)}; it is none") from None
    except Image.DecompressionBombError:
        raise UnreadableImage(f"more than {MOST_PIXELS // 10**6} million pixels") from None
    except _FAILURES as failure:
        raise UnreadableImage(shorten_reason(failure)) from failure


def check_pixels(image: Image) -> None:
    """Refuse an image that is too large to be decoded."""
    if image.width * image.height > MOST_PIXELS:
        told = f"{image.width} x {image.height} pixels"
        raise UnreadableImage(f"{told}; at most {MOST_PIXELS // 10**6} million are read")


def shorten_reason(failure: BaseException) -> str:
    """Pillow's reason in one line."""
    return " ".join(str(failure).split())[:100] or type(failure).__name__
