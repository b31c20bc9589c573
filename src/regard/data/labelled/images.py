"""Images as files: which files are some, and whether one can be read, found out before a training needs it.

The header says the size, so that a file of a few bytes which unfolds to gigabytes is refused before it does. Then the
pixels are decoded once, at the smallest scale the format offers: a file that breaks off is found now.
"""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
MOST_PIXELS = 50_000_000
_SMALL = 8  # a JPEG can be decoded to an eighth of its width and height


def is_image(path: Path) -> bool:
    """Whether a file is called as images are; a leading dot hides one."""
    return path.suffix.lower() in IMAGES and not path.name.startswith(".")


def fault_of_image(path: Path) -> str | None:
    """Why an image cannot be read, in words; nothing where it can."""
    from PIL import Image, UnidentifiedImageError  # here, since most corpora have none

    try:
        if not path.is_file():
            return "there is no such file"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own warning about size: ours is stricter
            with Image.open(path, formats=FORMATS) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    return f"{width} x {height} pixels; at most {MOST_PIXELS // 10**6} million are read"
                image.draft(image.mode, (max(width // _SMALL, 1), max(height // _SMALL, 1)))
                image.load()
    except UnidentifiedImageError:
        return f"expected one of {', '.join(FORMATS)}; it is none"
    except Image.DecompressionBombError:
        return f"more than {MOST_PIXELS // 10**6} million pixels"
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, ZeroDivisionError) as failure:
        return shorten_reason(failure)
    return None


def shorten_reason(failure: BaseException) -> str:
    """Pillow's reason in one line."""
    return " ".join(str(failure).split())[:100] or type(failure).__name__
