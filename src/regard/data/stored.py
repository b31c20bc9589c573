"""Tensors that stay in a safetensors file until they are read.

A file that is mapped into memory counts as memory of the process as far as it was looked at: after an epoch, as a
whole. What is read by itself is gone with its batch, and the pages that the system keeps of the file are its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

import torch
from torch import Tensor

LENGTH = 8  # bytes of the number that says how long the header is
LONGEST = 2**27  # bytes of a header; a longer one is none
HALF = "F16"


class _Opened:
    """A file that stays open: who deletes it takes it from nobody who reads it already."""

    def __init__(self, path: Path) -> None:
        self.file: FileIO = path.open("rb", buffering=0)
        self.lock = Lock()
        finalize(self, self.file.close)

    def read(self, start: int, into: Tensor) -> bool:
        """Fill a tensor; whether there was enough for all of it."""
        wanted = into.view(-1).numpy().data.cast("B")
        with self.lock:
            self.file.seek(start)
            while wanted and (count := self.file.readinto(wanted)):
                wanted = wanted[count:]
        return not wanted


@dataclass(frozen=True)
class Stored:
    """A tensor of half precision: its shape, and where it lies."""

    shape: tuple[int, ...]
    start: int
    opened: _Opened = field(repr=False)

    def read(self) -> Tensor:
        """Its numbers."""
        found = torch.empty(self.shape, dtype=torch.half)
        if not self.opened.read(self.start, found):
            raise EOFError(f"{self.opened.file.name} ends before byte {self.start + 2 * found.numel()}")
        return found


def stored_in(path: Path) -> dict[str, Stored]:
    """The tensors of a file by their names; OSError or ValueError where it is none, or breaks off."""
    opened = _Opened(path)
    size, start = path.stat().st_size, LENGTH + int.from_bytes(opened.file.read(LENGTH), "little")
    if start > min(size, LONGEST):
        raise ValueError(f"{path} has no header of safetensors")
    header: dict[str, Any] = json.loads(opened.file.read(start - LENGTH))
    found = {}
    for name, told in header.items():
        if name == "__metadata__":
            continue
        if told["dtype"] != HALF or start + told["data_offsets"][1] > size:
            raise ValueError(f"{path}: {name} is of other numbers, or breaks off")
        found[name] = Stored(tuple(told["shape"]), start + told["data_offsets"][0], opened)
    return found
