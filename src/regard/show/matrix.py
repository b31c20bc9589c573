"""An alignment matrix as a picture: one row a target word, one column a source word, darker for more weight."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from regard.align.alignment import Alignment
from regard.show.canvas import LABEL, POINTS, Spacing, check_name, longest, new_figure, short, write_figure
from regard.show.causal import closed, looks_back, start_first
from regard.show.fonts import families

CELL, BAR = 0.35, 3.0  # inches, of a cell's side and of the longest legend
SIDES = {
    "cross": ("target word, which looks", "source word, looked at"),
    "encoder-self": ("source word, which looks", "source word, looked at"),
    "decoder-self": ("target word, which looks back", "target word, looked at"),
}


def plot_matrix(alignment: Alignment, ax: Any = None, *, numbers: bool = False, white: bool = False) -> Any:
    """Draw on `ax` (or on a new figure of fitting size) and return it; `numbers` writes the weights into the cells.

    `white` draws a weight of one white on black, as the figures of Bahdanau et al. (2015) do.
    """
    alignment, new = start_first(alignment), ax is None
    if new:
        width, height = matrix_size(alignment)
        ax = new_figure(width + 1.0, height).subplots()
    image = paint_weights(ax, alignment, cmap="gray" if white else "Greys", aspect="equal")
    label_axes(ax, alignment)
    if numbers:
        for row, weights in enumerate(alignment.matrix.tolist()):
            for column, weight in enumerate(weights):
                if weight >= 0.01:
                    shade = "white" if (weight > 0.5) != white else "black"
                    ax.text(column, row, f"{weight:.2f}", ha="center", va="center", fontsize=6, color=shade)
    if new:
        shrink = min(0.8, BAR / height)
        ax.figure.colorbar(image, ax=ax, shrink=shrink).set_label(f"weight\n({rule(alignment)})", fontsize=8)
    return ax


def paint_weights(ax: Any, alignment: Alignment, edge: tuple[str, float] = ("0.6", 0.8), **style: Any) -> Any:
    """The cells, of an alignment with the start first; what could not be looked at is empty, outside of an outline.

    `edge` is the outline's colour and width. Of an alignment that does not look back every cell is drawn, within the
    frame that the axes have.
    """
    from matplotlib.collections import LineCollection

    hidden = closed(alignment)
    shown = np.ma.masked_array(alignment.numpy(), hidden)
    image = ax.imshow(shown, vmin=0, vmax=1, **style)
    if looks_back(alignment):
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        rows, columns = (~hidden).nonzero()
        sides = Counter(side for cell in zip(columns.tolist(), rows.tolist(), strict=True) for side in _sides(*cell))
        around = [side for side, count in sides.items() if count == 1]  # what two cells share is inside
        ax.add_collection(LineCollection(around, colors=edge[0], linewidths=edge[1]))
    return image


def _sides(column: int, row: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The four sides of a cell."""
    left, right, top, bottom = column - 0.5, column + 0.5, row - 0.5, row + 0.5
    corners = (left, top), (right, top), (left, bottom), (right, bottom)
    return [(corners[one], corners[other]) for one, other in ((0, 1), (2, 3), (0, 2), (1, 3))]


def label_axes(ax: Any, alignment: Alignment) -> None:
    """The words along both axes, and which of them look at which."""
    fonts = families((*alignment.source, *alignment.target))
    rows, columns = SIDES.get(alignment.kind, SIDES["cross"])
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    # As text, never as a formula: a dollar sign in a sentence is a dollar sign.
    spacing = _spacing(alignment)
    style = {"parse_math": False, "fontfamily": fonts, "fontsize": spacing.points}
    places = range(len(alignment.source))[:: spacing.every], range(len(alignment.target))[:: spacing.every]
    words = short(alignment.source[:: spacing.every]), short(alignment.target[:: spacing.every])
    ax.set_xticks(places[0], words[0], rotation=60, ha="left", rotation_mode="anchor", **style)
    ax.set_yticks(places[1], words[1], **style)
    ax.set_xlabel(columns, fontsize=8, color="0.35")
    ax.set_ylabel(rows, fontsize=8, color="0.35")


def matrix_size(alignment: Alignment) -> tuple[float, float]:
    """Inches, wide and high, that a matrix with its words takes."""
    cell, share = _spacing(alignment).step, _spacing(alignment).points / POINTS
    # A slanted label of the last column reaches to the right of the matrix.
    sides = share * (longest(alignment.target) + longest(alignment.source[-2:]) / 2)
    width = cell * len(alignment.source) + sides + 2 * LABEL
    return max(2.5, width), max(2.8, cell * len(alignment.target) + share * longest(alignment.source) + 3 * LABEL)


def _spacing(alignment: Alignment) -> Spacing:
    return Spacing.of(max(len(alignment.source), len(alignment.target)), CELL)


def rule(alignment: Alignment) -> str:
    """What the rows sum to: one, or, with gates or a window that is not made whole again, anything."""
    whole = bool(((alignment.matrix.sum(1) - 1).abs() <= 1e-3).all())
    return "each row sums to 1" if whole else "rows need not sum to 1"


def draw_matrix(alignment: Alignment, path: str | Path, title: str = "") -> Path:
    """Draw into a .png, .svg or .pdf file."""
    path = Path(path)
    check_name(path)
    return write_figure(plot_matrix(alignment).figure, path, title, alignment.note)
