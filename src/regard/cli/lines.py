"""Lines in, lines out: UTF-8 whatever the locale, as they come, and no traceback when the reader goes away."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread

from regard.chunks import one_line
from regard.data.files import BOM, CodingGuess, open_bytes
from regard.errors import BrokenData, MissingData

TOGETHER = 256  # lines handed on at once when they come fast; a slow writer gets each as soon as it is there


@dataclass(frozen=True)
class End:
    """There are no more lines, or none that can be read."""

    error: Exception | None = None


def read_lines(path: Path | None) -> Iterator[list[str]]:
    """The lines of a file (plain or .gz), or of standard input, in groups: whatever has come when it is asked for."""
    if path is None or str(path) == "-":
        yield from _grouped(_standard_input(), "standard input")
        return
    if not path.is_file():
        raise MissingData(f"{path} is not a file.", hint="Give a text file, or pipe text into the command.")
    with open_bytes(path) as file:
        yield from _grouped(file, str(path))


def _standard_input() -> Iterable[bytes]:
    """A reader of our own: at its end Python takes that of `sys.stdin`, and dies where a thread still waits in it."""
    try:
        return os.fdopen(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # no real file, as in a test or a notebook
        return sys.stdin.buffer


def _grouped(file: Iterable[bytes], name: str) -> Iterator[list[str]]:
    lines: Queue[bytes | End] = Queue(maxsize=4 * TOGETHER)

    def fill() -> None:
        try:
            for line in file:
                lines.put(line)
        except (OSError, EOFError, zlib.error) as error:
            lines.put(End(error))
        else:
            lines.put(End())

    Thread(target=fill, daemon=True).start()
    coding = CodingGuess()
    number, following = 0, lines.get()
    while isinstance(following, bytes):
        group = [following]
        while len(group) < TOGETHER and not lines.empty() and isinstance(following := lines.get(), bytes):
            group.append(following)
        yield [_text(line, name, number + place, coding) for place, line in enumerate(group, 1)]
        number += len(group)
        if isinstance(following, bytes):
            following = lines.get()
    if following.error is not None:
        raise BrokenData(
            f"{name}: after {number:,} lines it cannot be read: {following.error}.",
            hint="Copy or pack it again; `gzip -t` tells whether a .gz file is whole.",
        ) from following.error


def _text(line: bytes, name: str, number: int, coding: CodingGuess) -> str:
    if number == 1:
        line = line.removeprefix(BOM)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        coding.see_bad(line)
        raise BrokenData(
            f"{name}, line {number}: expected UTF-8; found byte {line[error.start]:#04x} at place {error.start + 1}.",
            hint=coding.advice(),
        ) from error
    coding.see_good(line)
    return text.rstrip("\r\n")


def write_line(text: str) -> None:
    """One line to standard output, as UTF-8."""
    sys.stdout.buffer.write(one_line(text).encode("utf-8") + b"\n")
