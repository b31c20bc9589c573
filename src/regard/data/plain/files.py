"""Reading plain text: a row a line.

In a file of lines each line is a text by itself. A document is one text: its rows keep their line feeds, all but the
last, so that the lines go on from row to row (see `data.running`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from regard.data.files import Lines, count_marks
from regard.data.plain.wanted import NOTHING
from regard.data.report import Finding
from regard.data.rows import Reader, Row

STRETCH = 64  # lines of a document that are held out together, where documents are few
_LOOKED_AT = 2_000  # lines in which an empty one is looked for


class TextFile(Reader):
    """One file: a text a line, or one document.

    `whole` documents are held out as they are, others in stretches of lines. `sides` are what a row has on either.
    """

    has_links = False

    def __init__(self, path: Path, split: str, sides: tuple[str, str], *, document: bool, whole: bool) -> None:
        self.path, self.sides, self.document, self.whole = path, sides, document, whole
        self.split: str = split
        self.paths = (path,)
        self._faults: list[Finding] = []

    def rows(self) -> Iterator[Row]:
        lines = Lines(self.path)
        texts = _with_feeds(lines) if self.document else lines
        for line, text in enumerate(texts, start=1):
            if self.document or text.strip():
                source, target = ("", text) if self.sides[0] == NOTHING else (text, "")
                yield Row(self.split, source, target, None, line)
        self._faults = lines.findings()

    def identity(self, row: Row) -> str:
        """A line by itself; a document by its file, or a stretch of it."""
        if not self.document:
            return row.target or row.source
        return self.path.name if self.whole else f"{self.path.name} {row.line // STRETCH}"

    def findings(self) -> list[Finding]:
        return self._faults

    def count(self) -> int:
        return count_marks(self.path, b"\n")

    @property
    def settings(self) -> str:
        name = self.path.name if self.document else ""
        return f"plain {self.split} {self.sides} {self.document} {self.whole} {name}"


def _with_feeds(lines: Iterable[str]) -> Iterator[str]:
    """Every line but the last with a line feed; empty lines at the end say nothing."""
    held = ""
    for line in lines:
        if line.strip():
            if held:
                yield from _parted(held)
            held = f"{line}\n"
        elif held:
            held += "\n"
    if held:
        yield held.rstrip("\n")


def _parted(held: str) -> Iterator[str]:
    """A line, and the empty ones after it as rows of their own."""
    first, _, empty = held.partition("\n")
    yield f"{first}\n"
    yield from "\n" * len(empty) if empty else ()


def has_empty_lines(path: Path) -> bool:
    """Whether an empty line stands between others: running text has them, a list of sentences does not."""
    seen = False
    for line in islice(Lines(path), _LOOKED_AT):
        if seen and not line.strip():
            return True
        seen = seen or bool(line.strip())
    return False
