"""One pair of a corpus, with what is known about its words."""

from __future__ import annotations

from dataclasses import dataclass

Link = tuple[int, int]  # (source word, target word), counted from 0


@dataclass(frozen=True)
class Pair:
    """A source line, its target line and, where they are known, the gold links between their words.

    Words are what `text.split()` gives. `sure` links are right beyond doubt; `possible` links join a word to
    what it belongs with where it has no counterpart of its own. The two never share a link.
    """

    source: str
    target: str
    sure: tuple[Link, ...] = ()
    possible: tuple[Link, ...] = ()

    def gold(self) -> str:
        """The links as one line: `0-1` is sure, `0?1` possible (sorted)."""
        marked = [(link, "-") for link in self.sure] + [(link, "?") for link in self.possible]
        return " ".join(f"{source}{mark}{target}" for (source, target), mark in sorted(marked))


def read_gold(line: str) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """The sure and the possible links of one line that `Pair.gold` wrote; some write `0p1` for `0?1`."""
    sure: list[Link] = []
    possible: list[Link] = []
    for item in line.split():
        mark = next((each for each in "?p" if each in item), "-")
        source, target = item.split(mark)
        (sure if mark == "-" else possible).append((int(source), int(target)))
    return tuple(sure), tuple(possible)
