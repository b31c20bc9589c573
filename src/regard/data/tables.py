"""Tables of pairs: `.tsv`, one pair a line in columns parted by tabs, and `.jsonl`, one JSON object a line.

A .tsv may open with a header that names its columns (languages, or `source` and `target`; `split`; `links`).
Without one, a column of split names and a column of links are recognised by their content, and exactly two
columns of text must remain. A .jsonl line holds its texts under such names, or inside `"translation"`.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.files import Lines, count_marks
from regard.data.languages import ANONYMOUS, is_language
from regard.data.names import split_named
from regard.data.report import Finding, shorten
from regard.data.rows import LINK, BadLines, Reader, Row, Shape, turn
from regard.errors import BrokenData

_LINKS = ("links", "alignment", "gold")
_LOOK = 200  # lines looked at to find out what the columns are


class Cells(NamedTuple):
    """What one line of a table holds for us."""

    source: str
    target: str
    split: str
    links: str | None


Parser = Callable[[str], Cells | None]  # nothing where the line has not the shape of the others


class TableShape(Shape):
    """What the lines of a table hold."""

    path: Path
    texts: Mapping[str, int | str]  # language -> column or key, in the order of the file
    split: int | str | None
    links: int | str | None
    header: bool

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    @property
    def has_splits(self) -> bool:
        return self.split is not None

    @property
    @abstractmethod
    def expected(self) -> str:
        """What every line should look like."""

    @abstractmethod
    def parser(self, source: str, target: str) -> Parser:
        """Takes a line apart into the two texts asked for."""

    def reader(self, source: str, target: str, split: str) -> Reader:
        return Table(self, source, target, split)


@dataclass(frozen=True)
class TabShape(TableShape):
    """What the columns of a .tsv hold."""

    path: Path
    texts: dict[str, int]  # language -> column, in the order of the file
    width: int
    split: int | None = None
    links: int | None = None
    header: bool = False

    def parser(self, source: str, target: str) -> Parser:
        width, split, links = self.width, self.split, self.links
        first, second = self.texts[source], self.texts[target]

        def parse(line: str) -> Cells | None:
            cells = line.split("\t")
            if len(cells) != width:
                return None
            return Cells(
                cells[first],
                cells[second],
                "" if split is None else cells[split],
                None if links is None else cells[links],
            )

        return parse

    @property
    def expected(self) -> str:
        return f"{self.width} columns parted by tabs"


@dataclass(frozen=True)
class JsonShape(TableShape):
    """Which keys of a .jsonl hold what."""

    path: Path
    texts: dict[str, str]  # language -> key
    split: str | None = None
    links: str | None = None
    header: bool = False
    nested: bool = False  # the texts stand inside "translation"

    def parser(self, source: str, target: str) -> Parser:
        keys = [self.texts[source], self.texts[target]]

        def parse(line: str) -> Cells | None:
            record = _record(line)
            inner = record.get("translation") if record and self.nested else record
            if record is None or not isinstance(inner, dict):
                return None
            texts: list[Any] = [inner.get(key) for key in keys]
            texts += [record.get(key, "") if key else "" for key in (self.split, self.links)]
            if not all(isinstance(text, str) and _is_text(text) for text in texts):
                return None
            source, target, split, links = (_BREAKS.sub(" ", text) for text in texts)
            return Cells(source, target, split, links if self.links else None)

        return parse

    @property
    def expected(self) -> str:
        return f"a JSON object with the texts {', '.join(repr(key) for key in self.texts.values())}"


def look_at_tsv(path: Path, pair: tuple[str, str] | None, asked: tuple[str, ...] = ()) -> TabShape:
    """Find out what the columns of a .tsv are, with what its name says and what the user asked for."""
    lines = Lines(path)
    head = [line.split("\t") for line in islice(lines, _LOOK)]
    if not head:
        raise BrokenData(str(lines.findings()[0]))
    if _is_header(head[0], asked):
        return _named_columns(path, head[0], pair)
    width = len(head[0])
    columns = list(zip(*(row for row in head if len(row) == width), strict=True))
    split = next((place for place, cells in enumerate(columns) if all(map(split_named, cells))), None)
    links = next((place for place, cells in enumerate(columns) if _are_links(cells)), None)
    texts = [place for place in range(width) if place not in (split, links)]
    if len(texts) != 2:
        raise BrokenData(
            f"{path}:1: expected two columns of text parted by a tab; found {len(texts)}: "
            + " | ".join(shorten(head[0][place], 30) for place in texts),
            hint="Name the columns in a first line, as in: split<TAB>en<TAB>fr<TAB>links",
        )
    return TabShape(path, dict(zip(pair or ANONYMOUS, texts, strict=True)), width, split, links)


def _is_header(cells: list[str], asked: tuple[str, ...]) -> bool:
    """A header names at least two texts; whatever else it names, no cell is empty or a sentence."""
    names = [cell.strip() for cell in cells]
    texts = {name for name in names if name in asked or name.lower() in ANONYMOUS or is_language(name)}
    return len(texts) >= 2 and all(name and " " not in name for name in names)


def _named_columns(path: Path, cells: list[str], pair: tuple[str, str] | None) -> TabShape:
    names = [cell.strip() for cell in cells]
    plain = [name.lower() for name in names]
    split = plain.index("split") if "split" in plain else None
    links = next((plain.index(name) for name in _LINKS if name in plain), None)
    texts = {name: place for place, name in enumerate(names) if place not in (split, links)}
    if pair and set(ANONYMOUS) <= set(plain):
        texts = {name: plain.index(column) for name, column in zip(pair, ANONYMOUS, strict=True)}
    return TabShape(path, texts, len(names), split, links, header=True)


def _are_links(cells: tuple[str, ...]) -> bool:
    """Whether the cells hold nothing but links, and some hold links."""
    items = [item for cell in cells for item in cell.split()]
    return bool(items) and all(LINK.fullmatch(item) for item in items)


def look_at_jsonl(path: Path, pair: tuple[str, str] | None, asked: tuple[str, ...] = ()) -> JsonShape:
    """Find out which keys of a .jsonl hold the texts, from its first line."""
    lines = Lines(path)
    first = next(iter(lines), None)
    if first is None:
        raise BrokenData(str(lines.findings()[0]))
    record = _record(first)
    if record is None:
        raise BrokenData(f"{path}:1: expected a JSON object a line; found {shorten(first)}", hint=_JSON_HINT)
    nested = isinstance(record.get("translation"), dict)
    inner: dict[str, Any] = record["translation"] if nested else record
    links = next((name for name in _LINKS if name in record), None)
    taken = ("split", "id", links)
    texts = [key for key, value in inner.items() if isinstance(value, str) and key not in taken]
    known = [key for key in texts if key in asked or key in ANONYMOUS or is_language(key)]
    texts = known if len(known) >= 2 else texts
    if len(texts) < 2:
        keys = ", ".join(record) or "none"
        raise BrokenData(f"{path}:1: expected two texts in each object; found the keys {keys}.", hint=_JSON_HINT)
    names = pair if pair and tuple(texts) == ANONYMOUS else texts
    split = "split" if "split" in record else None
    return JsonShape(path, dict(zip(names, texts, strict=True)), split, links, nested=nested)


_JSON_HINT = 'Write lines such as {"en": "He reads.", "fr": "Il lit."}'


# A line break inside a text would break the corpus when it is written out again.
_BREAKS = re.compile(r"[\r\n]+")


def _is_text(text: str) -> bool:
    """JSON can spell half a character (a lone surrogate), which no file of text can hold."""
    return text.isascii() or not _HALF.search(text)


_HALF = re.compile("[\ud800-\udfff]")


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


class Table(Reader):
    """Streams the pairs of a .tsv or .jsonl file."""

    def __init__(self, shape: TableShape, source: str, target: str, split: str) -> None:
        self.shape, self.source, self.target = shape, source, target
        self.split = None if shape.has_splits else split
        self.paths = (shape.path,)
        self.has_links = shape.links is not None
        order = list(shape.texts)
        self._turned = order.index(source) > order.index(target)  # links follow the order of the columns
        self._start()

    def _start(self) -> None:
        self._lines = Lines(self.shape.path)
        self._torn = BadLines(self.shape.path, "broken-line", self.shape.expected)
        self._unknown = BadLines(self.shape.path, "unknown-split", "train, val (dev, valid) or test")

    def rows(self) -> Iterator[Row]:
        self._start()
        parse = self.shape.parser(self.source, self.target)
        for line, text in enumerate(self._lines, start=1):
            if line == 1 and self.shape.header:
                continue
            cells = parse(text)
            if cells is None:
                self._torn.add(line, text)
                continue
            split = self._split(cells.split, line)
            if split is not None:
                links = turn(cells.links) if cells.links and self._turned else cells.links
                yield Row(split, cells.source, cells.target, links, line)

    def _split(self, cell: str, line: int) -> str | None:
        if self.split is not None:
            return self.split
        split = split_named(cell)
        if split is None:
            self._unknown.add(line, cell)
        return split

    def findings(self) -> list[Finding]:
        return [
            *self._lines.findings(),
            *self._torn.findings("Mend these lines or take them out; no text may hold a tab or a line break."),
            *self._unknown.findings("Name the split of every row, or drop the column."),
        ]

    def count(self) -> int:
        return count_marks(self.shape.path, b"\n")

    @property
    def settings(self) -> str:
        return f"{self.shape!r} {self.source} {self.target} {self.split}".replace(str(self.shape.path), "")
