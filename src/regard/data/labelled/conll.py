"""Files of one word and its tag a line, with an empty line between sentences, as the CoNLL tasks made them usual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.data.delimited import LOOK
from regard.data.files import Lines, count_marks
from regard.data.labelled.wanted import Wanted
from regard.data.report import Finding, shorten
from regard.data.rows import BadLines, Reader, Row
from regard.errors import BrokenData, MissingData

ENDINGS = ("conll", "conllu", "bio", "iob", "iob2", "tags")
_HINT = "Say which columns hold the word and its tag, counted from 1: --text 1 --label 4 (in Python text=, label=)."
_START = "-DOCSTART-"  # begins a document in files of CoNLL 2003


@dataclass(frozen=True)
class WordShape:
    """Which columns hold a word and its tag, and what parts them (nothing: any white space)."""

    path: Path
    delimiter: str | None
    width: int
    word: int
    tag: int

    @property
    def expected(self) -> str:
        """What every line should look like."""
        return f"{self.width} columns parted by {'tabs' if self.delimiter else 'spaces'}, or an empty line"

    @property
    def note(self) -> str:
        """How it is read."""
        return f"a word a line; text is column {self.word + 1}, tags are column {self.tag + 1} of {self.width}"


def is_words(path: Path) -> bool:
    """Whether a file looks like a word and a tag a line: columns without spaces inside, sentences parted."""
    head = [line for line in islice(Lines(path), LOOK) if not _is_remark(line)]
    lines = [line for line in head if line.strip()]
    widths = {len(line.split("\t")) if "\t" in line else len(line.split()) for line in lines}
    return len(widths) == 1 and widths.pop() > 1 and all(len(line.split()) == len(lines[0].split()) for line in lines)


def look_at_words(path: Path, wanted: Wanted) -> WordShape:
    """Find out which columns of a file of words hold what; of two, the second is the tag."""
    lines = Lines(path)
    first = next((line for line in lines if line.strip() and not _is_remark(line)), None)
    if first is None:
        raise BrokenData(f"{path}: expected a word and its tag a line; found an empty file.")
    delimiter = "\t" if "\t" in first else None
    cells = first.split(delimiter)
    places = [_column(path, asked, len(cells)) for asked in (wanted.columns.text, wanted.columns.label)]
    if len(cells) < 2 or (len(cells) > 2 and places[1] is None):
        found = f"{len(cells)} columns" if len(cells) > 1 else "one column"
        raise MissingData(f"{path}: expected a word and its tag a line; found {found}: {shorten(first)}", hint=_HINT)
    return WordShape(path, delimiter, len(cells), places[0] or 0, 1 if places[1] is None else places[1])


def _column(path: Path, asked: str | None, width: int) -> int | None:
    if asked is None:
        return None
    if not asked.isdecimal() or not 1 <= int(asked) <= width:
        raise MissingData(f"{path}: expected a column from 1 to {width}; '{asked}' was asked for.", hint=_HINT)
    return int(asked) - 1


def _is_remark(line: str) -> bool:
    """A remark of CoNLL-U (`# text = ...`); a word may be # too, and then has a tag beside it."""
    return line.startswith("# ") and len(line.split()) > 2


class Words(Reader):
    """Streams the sentences of such a file: the words between spaces, and as many tags."""

    has_links = False

    def __init__(self, shape: WordShape, split: str) -> None:
        self.shape = shape
        self.split: str = split
        self.paths = (shape.path,)
        self._start()

    def _start(self) -> None:
        self._lines = Lines(self.shape.path)
        self._torn = BadLines(self.shape.path, "uneven-tags", self.shape.expected)

    def rows(self) -> Iterator[Row]:
        self._start()
        words: list[str] = []
        tags: list[str] = []
        begun = line = 0
        for line, text in enumerate(self._lines, start=1):
            if _is_remark(text):
                continue
            if not text.strip():
                yield from self._sentence(words, tags, begun)
                words, tags = [], []
                continue
            begun = begun if words else line
            cells = text.split(self.shape.delimiter)
            found = [cells[place].strip() for place in (self.shape.word, self.shape.tag)] if self._fits(cells) else []
            if len(found) != 2 or any(len(cell.split()) != 1 for cell in found):
                self._torn.add(line, text)
                continue
            words.append(found[0])
            tags.append(found[1])
        yield from self._sentence(words, tags, begun)

    def _fits(self, cells: list[str]) -> bool:
        return len(cells) == self.shape.width

    def _sentence(self, words: list[str], tags: list[str], line: int) -> Iterator[Row]:
        if words and words != [_START]:
            yield Row(self.split, " ".join(words), " ".join(tags), None, line)

    def findings(self) -> list[Finding]:
        return [*self._lines.findings(), *self._torn.findings("Every word has one tag: mend these lines.")]

    def count(self) -> int:
        return count_marks(self.shape.path, b"\n\n") + 1

    @property
    def settings(self) -> str:
        return f"{self.shape!r} {self.split}".replace(str(self.shape.path), "")
