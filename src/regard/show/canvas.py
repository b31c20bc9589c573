"""What every figure is drawn on: a place, its size, its file. The same figure gives the same file, byte for byte."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from regard.errors import UsageError
from regard.show.fonts import families
from regard.show.labels import cut, readable
from regard.show.place import fresh_file

ENDINGS = (".png", ".svg", ".pdf")
UNDATED: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
LABEL = 0.22  # inches that a row of text takes
LETTER = 0.085  # inches that a letter takes
LONGEST = 30  # letters of a word that are shown
DOTS = 150  # an inch, in a .png
TALLEST = 14.0  # inches that the cells of a long sentence may take: what a large screen shows whole
SMALLEST = 4.5  # points of letters that can still be read in print
POINTS = 10.0  # of letters, where there is room
INCH = 72  # points
LINES = 4  # of a title


@dataclass(frozen=True)
class Spacing:
    """How far apart words stand, in inches, the points of their letters, and of how many words one is written."""

    step: float
    points: float
    every: int

    @classmethod
    def of(cls, count: int, step: float) -> Spacing:
        """For so many words that are `step` apart where there is room; closer, smaller and fewer where there is not."""
        close = min(step, TALLEST / max(1, count))
        points = min(POINTS, 0.75 * INCH * close)  # a quarter is left between them
        return cls(close, max(SMALLEST, points), max(1, ceil(SMALLEST / points)))


def new_figure(width: float, height: float) -> Any:
    """A figure of this size in inches that belongs to no window and no notebook."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def check_name(path: Path, endings: tuple[str, ...] = ENDINGS) -> str:
    """The ending of a file's name, if it is one that we write."""
    if path.suffix.lower() not in endings:
        raise UsageError(
            f"{path}: expected a name that ends in {', '.join(endings)}.",
            hint=f"Write {path.stem or 'figure'}{endings[0]}.",
        )
    return path.suffix.lower()


def write_figure(figure: Any, path: Path, title: str = "", note: str = "") -> Path:
    """Save a figure, with a title above and a note below it."""
    from matplotlib import rc_context

    ending = check_name(path)
    if title:
        wrapped = wrap(title, figure.get_figwidth())
        figure.suptitle(wrapped, parse_math=False, fontfamily=families([title]))
    if note:
        figure.supxlabel(note, fontsize=7, color="0.35", parse_math=False, wrap=True)
    with fresh_file(path) as draft, rc_context({"svg.hashsalt": "regard"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # told once, in words, by `fonts`
        figure.savefig(draft, format=ending[1:], dpi=DOTS, metadata=UNDATED[ending])
    return path


def wrap(text: str, inches: float, points: float = 12.0) -> str:
    """A title in lines that are no wider than there is room for, at most four."""
    cells = max(10, int(0.8 * inches / (LETTER * points / POINTS)))  # letters differ in width
    lines = [line.plain.rstrip() for line in Text(readable(text)).wrap(Console(width=cells), cells)]
    return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], f"{lines[LINES - 1][: cells - 1]}…"])


def short(words: tuple[str, ...]) -> list[str]:
    """Words as a figure shows them: one that is far too long would leave no room for the rest."""
    return [cut(word, LONGEST) for word in words]


def longest(words: tuple[str, ...]) -> float:
    """The inches that the longest of some words takes."""
    return LETTER * max(map(cell_len, short(words)), default=0)
