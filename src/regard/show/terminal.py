"""An alignment as text: one row a target word, one column a source word, darker blocks for more weight."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxtyping import Float
from rich.cells import cell_len
from torch import Tensor

from regard.align.alignment import Alignment
from regard.show.causal import closed, looks_back, start_first
from regard.show.labels import cut, isolate, readable

SHADES = " ░▒▓█"
LITTLE = "·"  # where there could be weight, of what looks back
WIDTH = 80  # what a page, a mail and a narrow window hold
MARGIN = 18  # the most that a row's word may take
BOLD, PLAIN = "\x1b[1;34m", "\x1b[0m"
_CODES = re.compile(r"\x1b\[[0-9;]*m")


def draw(weights: Float[Tensor, "T S"], source: Sequence[str], target: Sequence[str]) -> str:
    """The alignment as lines of text; every column is as wide as its label."""
    wide = [max(1, cell_len(label)) for label in source]
    margin = max((cell_len(label) for label in target), default=0)
    lines = [" " * (margin + 1) + "".join(_fill(label, width) for label, width in zip(source, wide, strict=True))]
    for label, row in zip(target, weights.tolist(), strict=True):
        cells = "".join(_shade(weight) * width for weight, width in zip(row, wide, strict=True))
        lines.append(" " * (margin - cell_len(label)) + f"{label} {cells}")
    return "\n".join(line.rstrip() for line in lines)


def table(alignment: Alignment, width: int = WIDTH, *, colour: bool = False) -> str:
    """The matrix within `width` cells, each row with the number of its strongest link.

    Where the words are too wide to stand above their columns these are numbered, and where the columns are too
    many they are cut into blocks, one below the other. Of what looks back, what was not there to be looked at is
    left empty, and little weight is a dot.
    """
    alignment = start_first(alignment)
    best = _best(alignment)
    margin = max((cell_len(label_of(word)) for word in alignment.target), default=0) + 1
    room = max(4, width - margin - max(map(cell_len, best), default=0))
    labels = [label_of(word) for word in alignment.source]
    if sum(cell_len(label) + 1 for label in labels) <= room:
        return _block(alignment, 0, labels, best, colour)
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    digits = len(numbers[-1])
    count = -(-len(numbers) // max(1, room // (digits + 1)))  # blocks, all about as wide
    step = -(-len(numbers) // count)
    named = zip(numbers, alignment.source, strict=True)
    blocks = [listing([f"{number} {isolate(readable(word))}" for number, word in named], width)]
    for first in range(0, len(numbers), step):
        some = [number.ljust(digits) for number in numbers[first : first + step]]
        last = first + step >= len(numbers)
        blocks.append(_block(alignment, first, some, best if last else [""] * len(best), colour))
    return "\n\n".join(blocks)


def label_of(word: str) -> str:
    """A word beside a row or above a column; the cells beside it keep their order whatever its direction."""
    return isolate(cut(word, MARGIN))


def sentence(text: str, width: int = WIDTH) -> str:
    """A sentence in lines of at most `width` cells, each in its own direction."""
    return "\n".join(map(isolate, listing(readable(text).split(" "), width, " ").split("\n")))


def listing(items: Sequence[str], width: int, between: str = "  ") -> str:
    """Items in lines of at most `width` cells; colours take no room."""
    lines, room, end = [""], 0, between.rstrip()
    for item in items:
        taken = cell_len(_CODES.sub("", item))
        if lines[-1] and room + len(between) + taken + len(end) > width:
            lines[-1] += end
            lines.append("")
        room = room + len(between) + taken if lines[-1] else taken
        lines[-1] += between + item if lines[-1] else item
    return "\n".join(lines)


def _block(alignment: Alignment, first: int, labels: Sequence[str], best: Sequence[str], colour: bool) -> str:
    """The columns from `first` on that these labels stand above, a line a row, its strongest link at the end."""
    words = [label_of(word) for word in alignment.target]
    margin = max(map(cell_len, words), default=0) + 1
    little = LITTLE if looks_back(alignment) else " "
    lines, part = [" " * margin + " ".join(labels)], slice(first, first + len(labels))
    for word, row, hidden, link in zip(words, alignment.matrix.tolist(), closed(alignment), best, strict=True):
        cells = [
            " " * cell_len(label)
            if not_there
            else _paint((_shade(weight).strip() or little) * cell_len(label), colour and weight == max(row) > 0)
            for label, weight, not_there in zip(labels, row[part], hidden[part], strict=True)
        ]
        lines.append(f"{_fill(word, margin)}{' '.join(cells)} {link}")
    return "\n".join(line.rstrip() for line in lines)


def _best(alignment: Alignment) -> list[str]:
    """Each row's strongest link, in words."""
    told = []
    for row in alignment.matrix.tolist():
        weight = max(row, default=0.0)
        told.append(f"{label_of(alignment.source[row.index(weight)])} {weight:.2f}" if weight > 0 else "nothing")
    return told


def _paint(text: str, wanted: bool) -> str:
    return f"{BOLD}{text}{PLAIN}" if wanted and text.strip() else text


def _fill(label: str, width: int) -> str:
    return label + " " * (width - cell_len(label))


def _shade(weight: float) -> str:
    return SHADES[max(0, min(len(SHADES) - 1, round(weight * (len(SHADES) - 1))))]
