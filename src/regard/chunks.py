"""Blocks of lines on their way in and out, and what a line of output may hold; light, for whoever hands them on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# What ends a line (for `str.splitlines`, an editor, a terminal) or steers a terminal, and what stands for it in text.
# White space stays white space and the rest is no white space, so that a line keeps its words and links their numbers.
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
_SHOWN = {code: " " if chr(code).isspace() else "\N{REPLACEMENT CHARACTER}" for code in _CONTROLS}
_SHOWN_WITH_TABS = {code: shown for code, shown in _SHOWN.items() if code != ord("\t")}
_ESCAPED = {code: f"\\u{code:04x}" for code in _CONTROLS}


def one_line(text: str, *, columns: bool = False) -> str:
    """Text without what a line may not hold; where tabs part `columns`, without tabs."""
    return text.translate(_SHOWN if columns else _SHOWN_WITH_TABS)


def one_json_line(told: object) -> str:
    """A JSON object on one line, whoever reads it: also without the ends of lines that JSON leaves as they are."""
    return json.dumps(told, ensure_ascii=False).translate(_ESCAPED)


@dataclass(frozen=True)
class Chunk:
    """Lines that are translated together; `before` is how many came before them."""

    before: int
    lines: list[str]

    def __str__(self) -> str:
        first, last = self.before + 1, self.before + len(self.lines)
        return f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"


@dataclass(frozen=True)
class Written:
    """What a block became: lines to write, and notes on lines that were not taken as they are."""

    lines: list[str]
    notes: list[str]


def numbered(groups: Iterable[list[str]]) -> Iterator[Chunk]:
    """Groups of lines as blocks that know their place."""
    before = 0
    for lines in groups:
        yield Chunk(before, lines)
        before += len(lines)
