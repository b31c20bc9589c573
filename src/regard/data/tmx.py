"""Translation memories: `.tmx`, the XML that translators' tools exchange, read a unit at a time."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from regard.data.files import count_marks, open_bytes
from regard.data.report import Finding, error, warning
from regard.data.rows import Reader, Row, Shape
from regard.errors import BrokenData

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES = frozenset(("bpt", "ept", "ph", "it", "ut"))  # hold the markup of another program, not text
_LOOK = 200  # units looked at to find the languages


@dataclass(frozen=True)
class MemoryShape(Shape):
    """The languages of a translation memory, in the order in which they come."""

    path: Path
    found: tuple[str, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        return self.found

    @property
    def has_splits(self) -> bool:
        return False

    def reader(self, source: str, target: str, split: str) -> Reader:
        return Memory(self.path, source, target, split)


def look_at_tmx(path: Path, pair: tuple[str, str] | None = None, asked: tuple[str, ...] = ()) -> MemoryShape:
    """Find the languages of a translation memory; its name and the user's names do not matter for that."""
    languages: dict[str, None] = {}
    try:
        with closing(units(path)) as stream:
            for unit in islice(stream, _LOOK):
                languages.update(dict.fromkeys(unit))
    except (ElementTree.ParseError, OSError, EOFError, zlib.error) as failure:
        raise BrokenData(f"{path}: expected a translation memory (TMX, an XML file); {failure}.") from None
    if len(languages) < 2:
        found = ", ".join(languages) or "no units"
        raise BrokenData(f"{path}: expected units (<tu>) in two languages; found {found}.")
    return MemoryShape(path, tuple(languages))


def units(path: Path) -> Generator[dict[str, str]]:
    """The units of a translation memory: language -> text. Each is forgotten once it was handed on."""
    with open_bytes(path) as file:
        stack: list[Element] = []
        for event, element in ElementTree.iterparse(file, ("start", "end")):
            if event == "start":
                stack.append(element)
                continue
            stack.pop()
            if element.tag == "tu":
                yield _texts(element)
                if stack:  # else the memory of the whole file would pile up below its parent
                    stack[-1].clear()


def _texts(unit: Element) -> dict[str, str]:
    found = {}
    for variant in unit.iter("tuv"):
        language = variant.get(_LANGUAGE) or variant.get("lang")
        segment = variant.find("seg")
        if language and segment is not None:
            found[language] = " ".join("".join(_plain(segment)).split())
    return found


def _plain(element: Element) -> Iterator[str]:
    """The text of a segment without the codes of markup that stand in it."""
    if element.tag not in _CODES:
        yield element.text or ""
        for child in element:
            yield from _plain(child)
            yield child.tail or ""


class Memory(Reader):
    """Streams the pairs of a translation memory. Units that lack a language are counted and left out."""

    def __init__(self, path: Path, source: str, target: str, split: str) -> None:
        self.path, self.source, self.target = path, source, target
        self.split: str = split
        self.paths = (path,)
        self.has_links = False
        self._units = self._lacking = 0
        self._fault = ""

    def rows(self) -> Iterator[Row]:
        self._units = self._lacking = 0
        self._fault = ""
        try:
            for unit in units(self.path):
                self._units += 1
                if self.source in unit and self.target in unit:
                    yield Row(self.split, unit[self.source], unit[self.target], None, self._units)
                else:
                    self._lacking += 1
        except (ElementTree.ParseError, OSError, EOFError, zlib.error) as failure:
            self._fault = str(failure)

    def findings(self) -> list[Finding]:
        found = []
        if self._fault:
            found.append(
                error(
                    "unreadable",
                    f"the file cannot be read beyond unit {self._units:,}: {self._fault}",
                    self.path,
                    advice="Export the translation memory again, as TMX in UTF-8.",
                )
            )
        if self._lacking:
            found.append(
                warning(
                    "lacking-language",
                    f"{self._lacking:,} of {self._units:,} units lack {self.source} or {self.target}.",
                    self.path,
                )
            )
        return found

    def count(self) -> int:
        return count_marks(self.path, b"</tu>")

    @property
    def settings(self) -> str:
        return f"tmx {self.source} {self.target} {self.split}"
