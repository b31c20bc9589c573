"""Which requests a process is answering, in a file that outlives it: if it is killed, what it was at can be told."""

from __future__ import annotations

import os
from pathlib import Path

WIDTH = 33  # bytes of a slot: the number of a request, and a line break
FREE = b" " * 32 + b"\n"


class Slots:
    """A line for each request that is being answered; without a folder nothing is written."""

    def __init__(self, folder: Path | None) -> None:
        self.folder, self._file, self._process = folder, -1, 0
        self._taken: dict[str, int] = {}
        self._free: list[int] = []

    def take(self, request: str) -> None:
        """A request has come."""
        if self.folder is None:
            return
        place = self._free.pop() if self._free else len(self._taken)
        self._taken[request] = place
        os.pwrite(self._opened(self.folder), request.encode().ljust(32)[:32] + b"\n", place * WIDTH)

    def free(self, request: str) -> None:
        """It was answered."""
        if self.folder is None:
            return
        place = self._taken.pop(request)
        self._free.append(place)
        os.pwrite(self._opened(self.folder), FREE, place * WIDTH)

    def _opened(self, folder: Path) -> int:
        if self._file < 0:
            self._file = os.open(path_of(folder, os.getpid()), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        return self._file


def path_of(folder: Path, process: int) -> Path:
    """The file of a process."""
    return folder / f"{process}.slots"


def left_of(folder: Path, process: int) -> list[str]:
    """The requests that a process had not answered when it ended."""
    path = path_of(folder, process)
    return path.read_text(encoding="ascii").split() if path.is_file() else []
