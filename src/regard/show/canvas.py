"""What every figure is drawn on: a place, its size, its file. The same figure gives the same file, byte for byte."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from regard.errors import UsageError
from regard.show.labels import cut
from regard.show.place import fresh_file

ENDINGS = (".png", ".svg", ".pdf")
UNDATED: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
LABEL = 0.22  # inches that a row of text takes
LETTER = 0.085  # inches that a letter takes
LONGEST = 30  # letters of a word that are shown
DOTS = 150  # an inch, in a .png


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
        figure.suptitle(title, parse_math=False)
    if note:
        figure.supxlabel(note, fontsize=7, color="0.35", parse_math=False, wrap=True)
    with fresh_file(path) as draft, rc_context({"svg.hashsalt": "regard"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # told once, in words, by `fonts`
        figure.savefig(draft, format=ending[1:], dpi=DOTS, metadata=UNDATED[ending])
    return path


def short(words: tuple[str, ...]) -> list[str]:
    """Words as a figure shows them: one that is far too long would leave no room for the rest."""
    return [cut(word, LONGEST) for word in words]


def longest(words: tuple[str, ...]) -> float:
    """The inches that the longest of some words takes."""
    return LETTER * max(map(cell_len, short(words)), default=0)
