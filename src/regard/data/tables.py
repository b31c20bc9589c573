"""Tables of pairs: `.tsv` and `.csv`, one pair a row, and `.jsonl`, one JSON object a line.

The first row of a .tsv or .csv may be a header that names its columns (languages, or `source` and `target`; `split`;
`links`). Without one, columns of split names, of links and of numbers are recognised by their content, and exactly two
columns of text must remain. A .jsonl line holds its texts under such names, or inside `"translation"`.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.delimited import Delimited, look_at_delimited
from regard.data.files import Lines, count_marks, plain_name
from regard.data.languages import ANONYMOUS, is_language
from regard.data.names import split_named
from regard.data.report import Finding, shorten
from regard.data.rows import LINK, BadLines, Reader, Row, Shape, turn
from regard.errors import BrokenData

_ALIASES = {"src": "source", "source": "source", "tgt": "target", "trg": "target", "target": "target"}
# What columns of text are called beside the names of languages.
_TEXTS = frozenset(_ALIASES) | frozenset(
    ("text", "label", "summary", "title", "sentence", "translation", "question", "answer", "input", "output")
)
_LINKS = ("links", "alignment", "gold")


class Cells(NamedTuple):
    """What one row of a table holds for us."""

    source: str
    target: str
    split: str
    links: str | None


class Taken(NamedTuple):
    """One row of a table: its line, its cells (nothing where it has not the shape of the others), and what is there."""

    line: int
    cells: Cells | None
    found: str


class TableShape(Shape):
    """What the rows of a table hold."""

    path: Path
    texts: Mapping[str, int | str]  # language -> column or key, in the order of the file
    split: int | str | None
    links: int | str | None

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    @property
    def has_splits(self) -> bool:
        return self.split is not None

    @property
    @abstractmethod
    def expected(self) -> str:
        """What every row should look like."""

    @abstractmethod
    def take(self, lines: Lines, source: str, target: str) -> Iterator[Taken]:
        """Every row, taken apart into the two texts asked for."""

    def reader(self, source: str, target: str, split: str) -> Reader:
        return Table(self, source, target, split)


@dataclass(frozen=True)
class ColumnShape(TableShape):
    """What the columns of a .tsv or .csv hold."""

    path: Path
    texts: dict[str, int]  # language -> column, in the order of the file
    sheet: Delimited
    split: int | None = None
    links: int | None = None

    def take(self, lines: Lines, source: str, target: str) -> Iterator[Taken]:
        sheet, split, links = self.sheet, self.split, self.links
        first, second = self.texts[source], self.texts[target]
        for line, cells, fault in sheet.records(lines):
            if len(cells) != sheet.width:
                yield Taken(line, None, fault or sheet.delimiter.join(cells))
                continue
            if sheet.quoted:
                cells = [BREAKS.sub(" ", cell) for cell in cells]
            taken = Cells(
                cells[first],
                cells[second],
                "" if split is None else cells[split],
                None if links is None else cells[links],
            )
            yield Taken(line, taken, "")

    @property
    def expected(self) -> str:
        return self.sheet.expected

    @property
    def note(self) -> str:
        used = {**self.texts, "split": self.split, "links": self.links}
        told = [f"{name} is column {place + 1}" for name, place in used.items() if place is not None]
        rest = sorted(set(range(self.sheet.width)) - set(used.values()))
        if rest:
            told.append(f"not used: {', '.join(map(self.sheet.called, rest))}")
        return f"{self.sheet}; {', '.join(told)}"


@dataclass(frozen=True)
class JsonShape(TableShape):
    """Which keys of a .jsonl hold what."""

    path: Path
    texts: dict[str, str]  # language -> key
    split: str | None = None
    links: str | None = None
    nested: bool = False  # the texts stand inside "translation"

    def take(self, lines: Lines, source: str, target: str) -> Iterator[Taken]:
        keys = [self.texts[source], self.texts[target]]
        for line, text in enumerate(lines, start=1):
            yield Taken(line, self._cells(text, keys), text)

    def _cells(self, line: str, keys: list[str]) -> Cells | None:
        record = read_record(line)
        inner = record.get("translation") if record and self.nested else record
        if record is None or not isinstance(inner, dict):
            return None
        texts: list[Any] = [inner.get(key) for key in keys]
        texts += [record.get(key, "") if key else "" for key in (self.split, self.links)]
        if not all(isinstance(text, str) and is_text(text) for text in texts):
            return None
        source, target, split, links = (BREAKS.sub(" ", text) for text in texts)
        return Cells(source, target, split, links if self.links else None)

    @property
    def expected(self) -> str:
        return f"a JSON object with the texts {', '.join(repr(key) for key in self.texts.values())}"


def look_at_columns(path: Path, pair: tuple[str, str] | None, asked: tuple[str, ...] = ()) -> ColumnShape:
    """Find out what the columns of a .tsv or .csv are, with what its name says and what the user asked for."""
    sheet = look_at_delimited(path)
    head = sheet.head()
    if not head:
        raise BrokenData(f"{path}: expected rows; found only empty lines.")
    if _is_header(head[0], asked):
        return _named_columns(sheet.named(), pair, asked)
    columns = list(zip(*head, strict=True))
    split = next((place for place, cells in enumerate(columns) if all(map(split_named, cells))), None)
    links = next((place for place, cells in enumerate(columns) if _are_links(cells)), None)
    texts = [place for place in range(sheet.width) if place not in (split, links)]
    if len(texts) > 2:
        texts = [place for place in texts if not all(cell.isdecimal() for cell in columns[place])]
    if len(texts) != 2:
        raise BrokenData(
            f"{path}:1: expected two columns of text {sheet.parted}; found {len(texts)}: "
            + " | ".join(shorten(head[0][place], 30) for place in texts),
            hint=f"Name the columns in a first line, as in: {sheet.shown(('split', 'en', 'fr', 'links'))}",
        )
    return ColumnShape(path, dict(zip(pair or ANONYMOUS, texts, strict=True)), sheet, split, links)


def _is_header(cells: list[str], asked: tuple[str, ...]) -> bool:
    """A header names at least two texts. Whatever else it names is no sentence, and only the first may have no name."""
    names = [cell.strip() for cell in cells]
    texts = {name.lower() for name in names if _is_text_name(name, asked)}
    others = [name for name in names if name.lower() not in texts]
    return len(texts) >= 2 and all(names[1:]) and all(len(name.split()) <= 3 for name in others)


def _is_text_name(name: str, asked: tuple[str, ...]) -> bool:
    return name in asked or name.lower() in _TEXTS or is_language(name)


def _named_columns(sheet: Delimited, pair: tuple[str, str] | None, asked: tuple[str, ...]) -> ColumnShape:
    """The columns of a header: those with the name of a text hold one, and where these are too few, all others too."""
    names = [_ALIASES.get(name.lower(), name) for name in sheet.header]
    plain = [name.lower() for name in names]
    split = plain.index("split") if "split" in plain else None
    links = next((plain.index(name) for name in _LINKS if name in plain), None)
    if pair and set(ANONYMOUS) <= set(names):
        chosen = {name: names.index(column) for name, column in zip(pair, ANONYMOUS, strict=True)}
        return ColumnShape(sheet.path, chosen, sheet, split, links)
    columns = list(zip(*sheet.head(), strict=True))
    texts = {name: place for place, name in enumerate(names) if name and place not in (split, links)}
    for name, place in list(texts.items()):  # `id`, `no` and others are languages too
        if name not in asked and plain[place] not in _TEXTS and columns and _are_identifiers(columns[place]):
            del texts[name]
    known = {name: place for name, place in texts.items() if _is_text_name(name, asked)}
    return ColumnShape(sheet.path, known if len(known) > 1 else texts, sheet, split, links)


def _are_identifiers(cells: tuple[str, ...]) -> bool:
    """Whether the cells name or count rows: a digit in each, and no spaces."""
    return all(_IDENTIFIER.fullmatch(cell.strip()) for cell in cells)


_IDENTIFIER = re.compile(r"\S*\d\S*")


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
    record = read_record(first)
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
BREAKS = re.compile(r"[\r\n]+")


def is_text(text: str) -> bool:
    """JSON can spell half a character (a lone surrogate), which no file of text can hold."""
    return text.isascii() or not _HALF.search(text)


_HALF = re.compile("[\ud800-\udfff]")


def read_record(line: str) -> dict[str, Any] | None:
    """The JSON object of a line, or nothing where it holds none."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


class Table(Reader):
    """Streams the pairs of a table."""

    def __init__(self, shape: TableShape, source: str, target: str, split: str) -> None:
        self.shape, self.source, self.target = shape, source, target
        self.split = None if shape.has_splits else split
        self.paths = (shape.path,)
        self.has_links = shape.links is not None
        self._usual = plain_name(shape.path).lower().endswith(".csv")  # carriage returns: RFC 4180 asks for them
        order = list(shape.texts)
        self._turned = order.index(source) > order.index(target)  # links follow the order of the columns
        self._start()

    def _start(self) -> None:
        self._lines = Lines(self.shape.path)
        self._torn = BadLines(self.shape.path, "broken-line", self.shape.expected)
        self._unknown = BadLines(self.shape.path, "unknown-split", "train, val (dev, valid) or test")

    def rows(self) -> Iterator[Row]:
        self._start()
        for line, cells, found in self.shape.take(self._lines, self.source, self.target):
            if cells is None:
                self._torn.add(line, found)
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
            *(finding for finding in self._lines.findings() if finding.code != "line-endings" or not self._usual),
            *self._torn.findings("Mend these lines or take them out; a text that holds a delimiter stands in quotes."),
            *self._unknown.findings("Name the split of every row, or drop the column."),
        ]

    def count(self) -> int:
        return count_marks(self.shape.path, b"\n")

    @property
    def settings(self) -> str:
        return f"{self.shape!r} {self.source} {self.target} {self.split}".replace(str(self.shape.path), "")
