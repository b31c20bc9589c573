"""Delimited text: tables as spreadsheets, databases and scripts write them, in `.tsv` and `.csv` files.

A first look finds out what parts the columns and whether fields stand in quotes; then the rows are streamed, each with
its line. Nothing here knows what the columns are for: whoever does says which first row is a header.

Quotes are read as the `csv` module reads them, where they were written so. Many files are not: in plain columns of
text a quotation mark is part of the sentence, often a lone one, and must not swallow the lines that follow it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from regard.data.files import Lines, plain_name
from regard.errors import BrokenData

LOOK = 200  # rows looked at to find out what parts the columns, and what they hold
_DELIMITERS = {"tsv": "\t", "csv": ",;\t"}  # by the ending of a file (of others: tabs); of equals the first
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons"}
_IN_QUOTES = re.compile(r'"(?:[^"]|"")*"', re.DOTALL)


class Record(NamedTuple):
    """One row: the line it begins in, its cells, and where these cannot be read, why."""

    line: int
    cells: list[str]
    fault: str = ""


@dataclass(frozen=True)
class Delimited:
    """How a file of delimited text is written, and what its header calls the columns, if it has one."""

    path: Path
    delimiter: str
    quoted: bool
    width: int
    header: tuple[str, ...] = ()

    def named(self) -> Delimited:
        """The same with its first row as the header."""
        first = next(self.records(Lines(self.path)))
        return replace(self, header=tuple(cell.strip() for cell in first.cells))

    def records(self, lines: Lines) -> Iterator[Record]:
        """Every row below the header, those that cannot be read or are of another width included."""
        found = _quoted(lines, self.delimiter) if self.quoted else _plain(lines, self.delimiter)
        return islice(found, 1 if self.header else 0, None)

    def head(self) -> list[list[str]]:
        """The first rows that are as wide as they should be."""
        found = islice(self.records(Lines(self.path)), LOOK)
        return [record.cells for record in found if len(record.cells) == self.width]

    def called(self, column: int) -> str:
        """What to call a column: its name, or else its place, counted from 1."""
        return (self.header[column] if self.header else "") or f"column {column + 1}"

    def shown(self, cells: Iterable[str]) -> str:
        """A row as a person would write it."""
        return ("<TAB>" if self.delimiter == "\t" else self.delimiter).join(cells)

    @property
    def expected(self) -> str:
        """What every row should look like."""
        return f"{self.width} columns {self.parted}"

    @property
    def parted(self) -> str:
        """What stands between its columns, in words."""
        return f"parted by {_NAMES[self.delimiter]}"

    def __str__(self) -> str:
        quotes = "fields in quotes" if self.quoted else "without quoting"
        header = "named by the first line" if self.header else "no header"
        return f"{self.expected}, {quotes}, {header}"


def look_at_delimited(path: Path) -> Delimited:
    """Find out how a file is written: its delimiter from the first lines, its quotes from all of them."""
    kind = plain_name(path).rsplit(".", 1)[-1].lower()
    lines = Lines(path)
    head = list(islice(lines, LOOK))
    if not head or lines.coding.wide:
        raise BrokenData(str(lines.findings()[0]))
    delimiter = max(_DELIMITERS.get(kind, "\t"), key=lambda each: _regularity(head, each))
    widths = (len(next(read(head, delimiter), Record(1, [])).cells) for read in (_plain, _quoted))
    quotes = Quotes(delimiter, *widths)
    for record in _quoted(quotes.passing(Lines(path)), delimiter):
        quotes.see(record)
    quoted = quotes.found and quotes.are_syntax(usual=kind == "csv")
    return Delimited(path, delimiter, quoted, quotes.quoted_width if quoted else quotes.plain_width)


def _regularity(head: list[str], delimiter: str) -> float:
    """The share of rows that have the most usual number of columns, if that is two or more."""
    widths = Counter(len(record.cells) for record in _quoted(head, delimiter))
    return max((count for width, count in widths.items() if width > 1), default=0) / max(widths.total(), 1)


def _plain(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """Rows without quoting; empty lines are none."""
    for line, text in enumerate(lines, start=1):
        if text:
            yield Record(line, text.split(delimiter))


def _quoted(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """Rows in which a field may stand in quotes, and then hold delimiters, line breaks and doubled quotes."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as failure:
            torn = "expected" in str(failure)  # in both of its messages about quotes
            yield Record(line, [], "quotes that do not close as they should" if torn else str(failure))
            continue  # with the line after the one that it failed in
        if cells:
            yield Record(line, cells)


class Quotes:
    """Tells quotes that a program wrote around fields from quotation marks of the text, by all rows of a file.

    Each row is read both ways, and the way that leaves fewer rows at fault is right. Where both read all rows equally
    well, a program's quotes show in that they stand around every field of a column, or are doubled inside.
    """

    def __init__(self, delimiter: str, plain_width: int, quoted_width: int) -> None:
        self.delimiter, self.plain_width, self.quoted_width = delimiter, plain_width, quoted_width
        self._line = 0
        self._bare = False  # whether the last line has a quotation mark that no program would have left alone
        self._plain_faults = self._quoted_faults = self._bare_faults = 0
        self.found = False  # whether there is a quotation mark at all
        self._doubled = False
        self._some: set[int] = set()  # columns of which some cell stands in quotes
        self._all = set(range(plain_width))  # columns of which every cell does that is not empty

    def passing(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, each looked at as a row without quoting before it is handed on."""
        for text in lines:
            self._line += 1
            self._bare = False
            self.found = self.found or '"' in text
            if text and text.count(self.delimiter) + 1 != self.plain_width:
                self._plain_faults += 1
            elif text and (self._all or '"' in text):
                self._see_cells(text.split(self.delimiter))
            yield text

    def _see_cells(self, cells: list[str]) -> None:
        for column, cell in enumerate(cells):
            if _IN_QUOTES.fullmatch(cell):
                self._some.add(column)
                self._doubled = self._doubled or '""' in cell[1:-1]
            elif cell:
                self._all.discard(column)
                self._bare = self._bare or '"' in cell

    def see(self, record: Record) -> None:
        """Take a row as it is read with quoting."""
        self._quoted_faults += bool(record.fault) or len(record.cells) != self.quoted_width
        self._bare_faults += self._bare and record.line == self._line

    def are_syntax(self, *, usual: bool) -> bool:
        """Whether quotes stand around fields; `usual` says that such files usually have them so."""
        faults = self._quoted_faults if usual else self._quoted_faults + self._bare_faults
        if faults != self._plain_faults:
            return faults < self._plain_faults
        return usual or (bool(self._some) and (self._doubled or not self._some.isdisjoint(self._all)))
