"""Images that we draw ourselves: where their files lie, and how one is written."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from regard.data.files import cache_folder
from regard.errors import DataError

Image = npt.NDArray[np.uint8]  # height, width, channels


def image_folder(name: str, folder: Path | None, *code: str) -> Path:
    """Where the images of a corpus lie. The name changes whenever the files of code that draw them do."""
    return (folder or cache_folder()).resolve() / "images" / f"{name}-{_version(code)}"


@cache
def _version(code: tuple[str, ...]) -> str:
    return blake2b(b"".join(Path(each).read_bytes() for each in code), digest_size=4).hexdigest()


def save_image(image: Image, path: Path) -> None:
    """Write a file to a temporary name and rename it: two processes may draw the same one."""
    from PIL import Image as Pillow

    scratch = path.with_name(f".{path.stem}-{uuid4().hex[:8]}.png")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Pillow.fromarray(image).save(scratch, "PNG")
        scratch.replace(path)
    except OSError as failure:
        hint = "Set REGARD_CACHE to a folder you may write to."
        raise DataError(f"{path}: cannot be written: {failure.strerror}.", hint=hint) from None
