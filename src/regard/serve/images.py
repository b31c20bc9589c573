"""Images as they come with a request: a data URI in JSON, or the bytes of a file."""

from __future__ import annotations

import base64
import binascii
import io
import warnings
from collections.abc import Callable

from PIL import Image

from regard.serve.refused import Refused

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


Hold = Callable[[int], None]  # hears how many pixels an image has before they are read, and may refuse it


def from_uri(text: str, hold: Hold) -> Image.Image:
    """The image of `data:image/png;base64,...`; other addresses are not fetched."""
    head, comma, body = text.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        raise Refused(400, "Expected an image as data:image/png;base64,...; addresses are not fetched.", "inputs")
    try:
        raw = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(400, "The image is not base64.", "inputs") from error
    return from_bytes(raw, hold)


def from_bytes(raw: bytes, hold: Hold) -> Image.Image:
    """The image of a file, read whole: its size is looked at before its pixels are."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own limit: ours is told in words
            image = Image.open(io.BytesIO(raw), formats=FORMATS)
            hold(image.width * image.height)
            return image.convert("RGB")
    except Refused:
        raise
    except Image.DecompressionBombError as error:
        raise Refused(413, "The image is too large.", "inputs") from error
    except Exception as error:
        told = f"Expected an image ({', '.join(FORMATS)}); the file cannot be read as one."
        raise Refused(400, told, "inputs") from error
