"""Rows: one pair of a corpus on its way from a file to wherever it is wanted, and those that read them.

A reader streams the rows of a file (or of two files side by side) and afterwards tells what was wrong with
them, so that one pass finds every fault.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from regard.data.files import Lines, count_marks
from regard.data.report import SHOWN, Finding, error, shorten

LINK = re.compile(r"(\d+)([-?p])(\d+)")


class Row(NamedTuple):
    """One pair: its split, its two lines, its gold links (if the corpus has any) and its line in the file."""

    split: str
    source: str
    target: str
    links: str | None
    line: int


class Reader(ABC):
    """Streams the rows of some files; afterwards `findings` tells the faults of that pass."""

    paths: tuple[Path, ...]
    split: str | None  # nothing where every row names its own
    has_links: bool

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Every pair, in order. A fault of the files does not stop the stream; it is told at the end."""

    @abstractmethod
    def findings(self) -> list[Finding]:
        """What was wrong in the last pass of `rows`."""

    @abstractmethod
    def count(self) -> int:
        """About how many rows there are, found out quickly."""

    def count_of(self, split: str) -> int:
        """About how many rows of one split there are."""
        return self.count() if self.split == split else 0

    def identity(self, row: Row) -> str:
        """What a row is known by when a split is cut off: its source, wherever the corpus lies."""
        return row.source

    @property
    @abstractmethod
    def settings(self) -> str:
        """How the files are read, as text: the same files read in the same way give the same rows."""


class Shape(ABC):
    """What a first look at a table found out: its languages, and how to read two of them."""

    @property
    @abstractmethod
    def languages(self) -> tuple[str, ...]:
        """The names of its texts, in the order of the file."""

    @property
    @abstractmethod
    def has_splits(self) -> bool:
        """Whether every row names its split."""

    @property
    def note(self) -> str:
        """What was found out about how it is written, where that is worth saying."""
        return ""

    @abstractmethod
    def reader(self, source: str, target: str, split: str) -> Reader:
        """Read these two languages; rows that name no split of their own belong to `split`."""


class Parallel(Reader):
    """Two files of which line n is the same sentence, and perhaps a third with the gold links of line n."""

    def __init__(
        self, split: str, source: Path, target: Path, links: Path | None = None, *, turned: bool = False
    ) -> None:
        self.split: str = split
        self.turned = turned  # the links were written for the other direction
        self.paths = (source, target) if links is None else (source, target, links)
        self.has_links = links is not None
        self._lines: tuple[Lines, ...] = ()

    def rows(self) -> Iterator[Row]:
        self._lines = tuple(Lines(path) for path in self.paths)
        streams = [iter(lines) for lines in self._lines]
        for line, texts in enumerate(zip(*streams, strict=False), start=1):
            links = texts[2] if self.has_links else None
            yield Row(self.split, texts[0], texts[1], turn(links) if links and self.turned else links, line)
        for stream in streams:  # so that every file is counted and looked at to its end
            for _ in stream:
                pass

    def findings(self) -> list[Finding]:
        found = [finding for lines in self._lines for finding in lines.findings()]
        if any(finding.code in ("unreadable", "empty-file") for finding in found):
            return found  # the counts would only repeat it
        if len({lines.count for lines in self._lines}) > 1:
            found.append(self._unequal())
        return found

    def _unequal(self) -> Finding:
        counts = ", ".join(f"{lines.path.name} has {lines.count:,}" for lines in self._lines)
        return error(
            "unequal-lines",
            f"expected as many lines in each file; {counts}.",
            self.paths[0].parent,
            advice="Line n of one must translate line n of the other: one is missing or cut in two.",
        )

    def count(self) -> int:
        return count_marks(self.paths[0], b"\n")

    @property
    def settings(self) -> str:
        return f"parallel {self.split} {self.turned}"


class BadLines:
    """Gathers the lines of a file that do not have the shape the others have: how many, and the first few."""

    def __init__(self, path: Path, code: str, expected: str) -> None:
        self.path, self.code, self.expected = path, code, expected
        self._count = 0
        self._first: list[tuple[int, str]] = []

    def add(self, line: int, found: str) -> None:
        """Note one bad line and what was found there."""
        self._count += 1
        if len(self._first) < SHOWN:
            self._first.append((line, found))

    def findings(self, advice: str) -> list[Finding]:
        """One finding for all of them, or none."""
        if not self._first:
            return []
        lines = "one line differs" if self._count == 1 else f"{self._count:,} lines differ"
        return [
            error(
                self.code,
                f"expected {self.expected}; {lines}.",
                f"{self.path}:{self._first[0][0]}",
                examples=(f"line {line}: {shorten(found)}" for line, found in self._first),
                advice=advice,
            )
        ]


def turn(links: str) -> str:
    """The same links for the other direction: `0-1 2?3` becomes `1-0 3?2`."""
    return LINK.sub(r"\3\2\1", links)


def wrong_links(row: Row) -> str | None:
    """What is wrong with the gold links of a row, or nothing."""
    source, target = len(row.source.split()), len(row.target.split())
    for item in (row.links or "").split():
        match = LINK.fullmatch(item)
        if match is None:
            return f"'{item}' is no link"
        if int(match[1]) >= source or int(match[3]) >= target:
            return f"'{item}' points outside {source} source and {target} target words"
    return None
