"""Texts of one line or many, and HTML, through the queue: each line is asked by itself and put back in its place.

What a translation is made of is as everywhere: the lines of a text are what `regard translate` reads.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from regard.search import Options
from regard.serve.desk import Desk
from regard.serve.given import check_text
from regard.serve.languages import Meant
from regard.serve.refused import Refused
from regard.serve.tasks import Asked, Cell, Served
from regard.translate.linked import Linked, Span
from regard.translate.markup import Document, read_document
from regard.translate.translator import Translation

BEAM = 5
LONGEST = 1_000_000  # characters of a text of many lines
TAGS = 50_000  # of a document
_BREAK = re.compile(r"(\r?\n)")


@dataclass(frozen=True)
class Wanted:
    """How texts are translated: as HTML, with what was looked at, how many alternatives, and of how many pieces."""

    html: bool = False
    record: bool = False
    alternatives: int = 0
    length: int = 200


@dataclass(frozen=True)
class Said:
    """A text in the other language, the alternatives to it, and the translations of its lines, the best first."""

    text: str
    alternatives: list[str] = field(default_factory=list)
    lines: list[tuple[str, list[Translation]]] = field(default_factory=list, repr=False)

    def spans(self) -> list[tuple[Span, Span]]:
        """The characters of words that are linked, source and target. Of a plain text alone."""
        found, source, target = list[tuple[Span, Span]](), 0, 0
        for line, outputs in self.lines:
            linked = Linked.of(line, outputs[0]) if outputs else Linked.in_order("", "")
            for t, s in sorted(enumerate(linked.best), key=lambda each: (each[1], each[0])):
                if s >= 0:
                    ours, theirs = linked.source[s], linked.target[t]
                    found.append(((source + ours[0], source + ours[1]), (target + theirs[0], target + theirs[1])))
            source, target = source + len(line), target + len(outputs[0].text if outputs else line)
        return found


async def translate(desk: Desk, served: Served, texts: Sequence[str], wanted: Wanted) -> list[Said]:
    """What each text is in the other language."""
    check_text(list(texts), "text")
    if (longest := max(map(len, texts), default=0)) > LONGEST:
        raise Refused(400, f"Too long: {longest:,} characters, limit {LONGEST:,}", "text", "too_long")
    if wanted.html and max((text.count("<") for text in texts), default=0) > TAGS:
        raise Refused(400, f"Too many tags: limit {TAGS:,}", "text", "too_long")
    read = [await asyncio.to_thread(read_document, text) if wanted.html else Plain(text) for text in texts]
    lines = [line for each in read for line in each.texts]
    options = Options(max(BEAM, 1 + wanted.alternatives), 1 + wanted.alternatives, max_length=wanted.length)
    asked = Asked(options, wanted.record or any(map(_tagged, read)))
    found, most = list[Any](), desk.settings.texts  # a long document does not take the places of all others
    for place in range(0, len(lines), most):
        found += await desk.batches.ask([Cell(line) for line in lines[place : place + most]], asked, served.work)
    outputs = iter(zip(lines, found, strict=True))
    return [await asyncio.to_thread(_said, each, [next(outputs) for _ in each.texts], wanted) for each in read]


async def by_model(desk: Desk, found: list[Meant], texts: list[str], wanted: Wanted) -> list[Said]:
    """Translations in the order of the texts, each by the model that is meant."""
    said: dict[int, Said] = {}
    for served in {each.served.entry.name: each.served for each in found}.values():
        rows = [row for row, each in enumerate(found) if each.served is served]
        outputs = await translate(desk, served, [texts[row] for row in rows], wanted)
        said |= zip(rows, outputs, strict=True)
    return [said[row] for row in range(len(texts))]


def _tagged(read: Plain | Document) -> bool:
    """Does a line have tags, so that it must be known where they go?"""
    return isinstance(read, Document) and any(line.inside for line in read.lines)


@dataclass(frozen=True)
class Plain:
    """A text as its lines and what is between them; lines without text are not translated."""

    text: str

    @cached_property
    def parts(self) -> list[str]:
        """Lines, and at every second place a line break."""
        return _BREAK.split(self.text)

    @property
    def texts(self) -> list[str]:
        """What is translated."""
        return [part for part in self.parts if part.strip()]


def _said(read: Plain | Document, found: list[tuple[str, list[Translation]]], wanted: Wanted) -> Said:
    """A text put together, with the alternatives of all its lines."""
    ranks = range(1, 1 + wanted.alternatives)
    if isinstance(read, Document):
        best, *others = (_document(read, found, rank) for rank in (0, *ranks))
        return Said(best, others)
    given = iter(found)
    lines = [next(given) if part.strip() else (part, []) for part in read.parts]
    best, *others = ("".join(_nth(each, rank) for each in lines) for rank in (0, *ranks))
    return Said(best, others, lines)


def _nth(line: tuple[str, list[Translation]], rank: int) -> str:
    text, outputs = line
    return outputs[min(rank, len(outputs) - 1)].text if outputs else text


def _document(read: Document, found: list[tuple[str, list[Translation]]], rank: int) -> str:
    return read.written([Linked.of(line, outputs[min(rank, len(outputs) - 1)]) for line, outputs in found])
