"""Images that were decoded before, in memory: of small ones reading the files takes longer than learning from them.

They are found by the file's name, size and date, so that a file that has changed is read anew. As much is kept as fits
into so many bytes, and what was there first stays: an epoch reads all images once, so that to give up the oldest for
the newest would give up each just before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

MOST = 2**28  # bytes
AROUND = 1024  # bytes that an image takes beside its pixels
Decoded = TypeVar("Decoded")
Stamp = tuple[int, int]  # size and date of a file


class DecodedImages:
    """Pixels, or pictures that are yet to be cut, of image files; at most `most` bytes of them."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.bytes = most, 0
        self._kept: dict[str, tuple[Stamp, Any]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, cell: Any, decode: Callable[[], Decoded]) -> Decoded:
        """What `decode` makes of an image; what it made before, if the image is a file and the file is the same."""
        stamp = _stamp(cell)
        if stamp is None:
            return decode()
        name = str(cell)
        known = self._kept.get(name)
        if known is not None and known[0] == stamp:
            found: Decoded = known[1]
            return found
        made = decode()
        self._keep(name, stamp, made)
        return made

    def _keep(self, name: str, stamp: Stamp, made: Any) -> None:
        if (old := self._kept.pop(name, None)) is not None:
            self.bytes -= _size(old[1])
        size = _size(made)
        if self.bytes + size <= self.most:
            self._kept[name] = stamp, made
            self.bytes += size


def _stamp(cell: Any) -> Stamp | None:
    """By what a file is known; None of what is no file."""
    if not isinstance(cell, str | Path):
        return None
    try:
        status = os.stat(cell)  # noqa: PTH116 a Path takes longer to be made than the file to be asked
    except (OSError, ValueError):
        return None  # who reads it says why
    return status.st_size, status.st_mtime_ns


def _size(made: Any) -> int:
    """The bytes that pixels or a picture take."""
    pixels = made.nbytes if isinstance(made, Tensor) else made.width * made.height * len(made.getbands())
    return AROUND + int(pixels)
