"""A text word by word as a figure: a line a word, the current word red, what it looked at on shades of blue."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len

from regard.show.labels import cut
from regard.show.shaded import is_leftward
from regard.show.shaded_figure import CLOSED, LETTERS, POINTS, QUIET, SMALL, Dress, Pen, colour_of, draw_words, ink_on
from regard.show.strip import HERE, Strip

RED = "#B3261E"
MOST = 220  # lines of words that a figure holds
ABREAST = 80  # letters in one of them
FULL = "full shade is the largest weight of a row, at least three even shares"


def plot_strip(strip: Strip, title: str = "") -> Any:
    """A new figure, as high as it needs; of a text that is too long, the last words that look."""
    pen = Pen.new((*strip.words, *strip.rows, strip.note), title)
    first = max(0, len(strip.rows) - rows_shown(strip))
    told = (
        ["Red: the current word.", "Blue: what it looked at;"] if strip.reads_itself else ["What each word looked at;"]
    )
    told += [f"{FULL}.", *(["Pale: what is still to come."] if strip.closed.any() else [])]
    if first:
        told.append(f"The last {len(strip.rows) - first} of {len(strip.rows)} words.")
    pen.parts(" ".join(told).split(), SMALL, color=QUIET)
    for row in range(first, len(strip.rows)):
        _draw_row(pen, strip, row)
    pen.down(POINTS)
    if strip.note:
        pen.parts(strip.note.split(), SMALL, color=QUIET)
    return pen.done()


def rows_shown(strip: Strip) -> int:
    """How many words that look a figure has room for."""
    lines = 1 + sum(cell_len(word) + 1 for word in strip.words) // ABREAST
    return max(1, MOST // lines)


def _draw_row(pen: Pen, strip: Strip, row: int) -> None:
    own, shades = strip.own[row], strip.shades(row)

    def dress(place: int) -> Dress:
        if place == own:
            return Dress(RED, "white")
        if strip.closed[row, place]:
            return Dress("none", CLOSED, empty=True)
        shade = float(shades[place])
        return Dress(colour_of(shade), ink_on(shade), empty=shade <= 0.02)

    if own == HERE:  # it stands in no sentence that is drawn
        pen.down(0.4 * POINTS)
        pen.parts([f"{cut(strip.rows[row], LETTERS)}:"], SMALL, weight="bold")
        pen.down(-0.9 * POINTS)
    text = strip.rows if strip.reads_itself else strip.words  # not the sign of its start, which runs rightward
    draw_words(pen, strip.words, dress, leftward=is_leftward(text))
