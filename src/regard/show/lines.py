"""An alignment as lines between words: source on the left, target on the right, the wider the more weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.align.alignment import Alignment
from regard.show.canvas import LABEL, Spacing, check_name, longest, new_figure, short, write_figure
from regard.show.causal import start_first
from regard.show.fonts import families

THRESHOLD = 0.05  # what is below would be lines too thin to see
STEP = 1.3 * LABEL  # inches from one word to the next
WIDEST = 4.0  # points, of a line that carries all the weight


def plot_lines(alignment: Alignment, ax: Any = None, *, threshold: float = THRESHOLD) -> Any:
    """Draw on `ax` (or on a new figure of fitting size) every weight from `threshold` up, and return it."""
    alignment = start_first(alignment)
    tall = max(len(alignment.source), len(alignment.target))
    if ax is None:
        words = longest(alignment.source) + longest(alignment.target)
        ax = new_figure(words + 2.5, Spacing.of(tall, STEP).step * tall + 3 * LABEL).subplots()
    left, right = _places(len(alignment.source), tall), _places(len(alignment.target), tall)
    for target, row in enumerate(alignment.matrix.tolist()):
        for source, weight in enumerate(row):
            if weight >= threshold:
                style = {"linewidth": WIDEST * weight, "alpha": 0.25 + 0.75 * min(1.0, weight)}
                ax.plot((0, 1), (left[source], right[target]), color="#0072B2", solid_capstyle="round", **style)
    _words(ax, alignment, left, right)
    ax.set(xlim=(0, 1), ylim=(tall - 0.5, -0.5))
    return ax


def _words(ax: Any, alignment: Alignment, left: list[float], right: list[float]) -> None:
    """The words at the ends of the lines, as the ticks of two axes, so that the figure makes room for them."""
    fonts, spacing = families((*alignment.source, *alignment.target)), Spacing.of(max(len(left), len(right)), STEP)
    style, some = {"parse_math": False, "fontfamily": fonts, "fontsize": spacing.points}, spacing.every
    other = ax.twinx()
    other.set_ylim(max(len(left), len(right)) - 0.5, -0.5)
    ax.set_yticks(left[::some], short(alignment.source[::some]), **style)
    other.set_yticks(right[::some], short(alignment.target[::some]), **style)
    for each in (ax, other):
        each.tick_params(length=0)
        each.set_xticks([])
        each.spines[:].set_visible(False)
    sides = {"encoder-self": ("looked at", "looks"), "decoder-self": ("looked at", "looks")}
    names = sides.get(alignment.kind, ("source", "target"))
    ax.set_title(names[0], loc="left", fontsize=8, color="0.35")
    ax.set_title(names[1], loc="right", fontsize=8, color="0.35")


def _places(count: int, tall: int) -> list[float]:
    """Places from top to bottom, spread over the height of the longer sentence."""
    if count == 1:
        return [(tall - 1) / 2]
    return [place * (tall - 1) / (count - 1) for place in range(count)]


def draw_lines(alignment: Alignment, path: str | Path, title: str = "") -> Path:
    """Draw into a .png, .svg or .pdf file."""
    path = Path(path)
    check_name(path)
    return write_figure(plot_lines(alignment).figure, path, title, alignment.note)
