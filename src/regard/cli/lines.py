"""Lines in, lines out: UTF-8 whatever the locale, as they come, and no traceback when the reader goes away."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Queue
from threading import Thread

from regard.errors import BrokenData, MissingData

TOGETHER = 256  # lines handed on at once when they come fast; a slow writer gets each as soon as it is there


def read_lines(path: Path | None) -> Iterator[list[str]]:
    """The lines of a file, or of standard input, in groups: whatever has come by the time it is asked for."""
    if path is None or str(path) == "-":
        yield from _grouped(_standard_input(), "standard input")
        return
    if not path.is_file():
        raise MissingData(f"{path} is not a file.", hint="Give a text file, or pipe text into the command.")
    with path.open("rb") as file:
        yield from _grouped(file, str(path))


def _standard_input() -> Iterable[bytes]:
    """A reader of our own: at its end Python takes that of `sys.stdin`, and dies where a thread still waits in it."""
    try:
        return os.fdopen(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # no real file, as in a test or a notebook
        return sys.stdin.buffer


def _grouped(file: Iterable[bytes], name: str) -> Iterator[list[str]]:
    lines: Queue[bytes | None] = Queue(maxsize=4 * TOGETHER)

    def fill() -> None:
        for line in file:
            lines.put(line)
        lines.put(None)

    Thread(target=fill, daemon=True).start()
    number = 0
    while (first := lines.get()) is not None:
        group = [first]
        while len(group) < TOGETHER and not lines.empty():
            following = lines.get()
            if following is None:
                lines.put(None)
                break
            group.append(following)
        yield [_text(line, name, number + place) for place, line in enumerate(group, 1)]
        number += len(group)


def _text(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BrokenData(
            f"{name}, line {number}: expected UTF-8; found byte {line[error.start]:#04x} at place {error.start + 1}.",
            hint="Convert it first: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW",
        ) from error


def write_line(text: str) -> None:
    """One line to standard output, as UTF-8."""
    sys.stdout.buffer.write(text.replace("\n", " ").encode("utf-8") + b"\n")
