"""Blocks of lines on their way in and out; light, for whoever hands them on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
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


def numbered(groups: Iterable[list[str]]) -> Iterator[Block]:
    """Groups of lines as blocks that know their place."""
    before = 0
    for lines in groups:
        yield Block(before, lines)
        before += len(lines)
