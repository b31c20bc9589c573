"""A formula that was read: its image, what was written drawn again, and once for each token the cells it looked at.

The terminal, a page and a figure all draw what is held here.

Letters: h rows and w columns of pixels, i rows and j columns of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from regard.data.latex import normalise
from regard.data.mathtext import draw_formula
from regard.show.canvas import new_figure, wrap
from regard.show.captioned import Captioned
from regard.show.fonts import families
from regard.show.labels import cut
from regard.show.pictured import VERDICTS, draw_image, figure_html

WIDTH, TITLE = 7.5, 0.85  # inches of a figure, and of the formula above it
PANEL = 1.8  # inches that a panel has at least across
TALLEST, LOWEST = 1.1, 0.28  # inches of a panel
LABEL = 0.3  # inches of the token above a panel
LONGEST = 16  # letters of a token
SHOWN = 60.0  # dots an inch at which the written formula is drawn, for each inch of the figure it may have
LIGHT = "#F2A900"  # what was looked at
READ, WRITTEN = "what was read", "what was written, drawn"
NOTHING = "what was written cannot be drawn"


@dataclass(frozen=True)
class ReadFormula(Captioned):
    """The image of a formula, the tokens that were written, and the weights of each over the cells."""

    @property
    def is_right(self) -> bool | None:
        """Whether the tokens are the right ones; None where nobody knows."""
        return None if self.right is None else normalise(self.answer) == normalise(self.right)

    def remarks(self) -> list[str]:
        """What is to be said below the images, whose cells have edges."""
        told = Captioned.remarks(replace(self, smooth=False))
        if self.weights is not None:
            rows, columns = self.weights.shape[1:]
            told[0] = f"What a token looked at is marked: weights over {rows} x {columns} cells, the strongest in full."
        return told


def plot_formula(formula: ReadFormula) -> Any:
    """A new figure: what was read, what was written, and the image once for each token, row by row."""
    height, width = formula.image.shape[:2]
    maps = formula.maps()
    across = max(1, min(4, int(WIDTH / max(PANEL, min(WIDTH, width / 60)))))
    panel = WIDTH / across
    tall = float(np.clip(panel * height / width, LOWEST, TALLEST))
    down = -(-len(maps) // across)
    above = float(np.clip(WIDTH / 2 * height / width, LOWEST, TALLEST)) + LABEL
    figure = new_figure(WIDTH, TITLE + above + down * (tall + LABEL))
    rows = figure.add_gridspec(1 + (down > 0), 1, height_ratios=[above, *([down * (tall + LABEL)] if down else [])])
    head = rows[0].subgridspec(1, 2)
    _read_and_written(figure, head, formula)
    below: Any = rows[1].subgridspec(down, across) if down else None
    for place, (token, cells) in enumerate(maps):
        ax = figure.add_subplot(below[divmod(place, across)])
        draw_marked(ax, formula.image, cells)
        ax.set_title(cut(token, LONGEST), fontsize=8, parse_math=False, fontfamily=families([token]))
    heading = " ".join(formula.heading())
    style: dict[str, Any] = {"fontsize": 9, "color": VERDICTS[formula.is_right], "fontfamily": families([heading])}
    figure.suptitle(wrap(heading, WIDTH, 9.0), parse_math=False, **style)
    return figure


def draw_marked(ax: Any, image: UInt8[np.ndarray, "h w C"], weights: Float[np.ndarray, "i j"]) -> None:
    """An image with its cells marked, the stronger the more they were looked at."""
    from matplotlib.colors import to_rgb

    draw_image(ax, image)
    height, width = image.shape[:2]
    colour = np.zeros((*weights.shape, 4))
    colour[..., :3] = to_rgb(LIGHT)
    colour[..., 3] = 0.75 * weights / max(float(weights.max()), 1e-9)
    ax.imshow(colour, interpolation="nearest", extent=(-0.5, width - 0.5, height - 0.5, -0.5))


def _read_and_written(figure: Any, places: Any, formula: ReadFormula) -> None:
    """The image as it was read, and beside it the formula that was written, drawn."""
    ax = figure.add_subplot(places[0])
    draw_image(ax, formula.image)
    ax.set_title(READ, fontsize=8, color="0.35")
    ax = figure.add_subplot(places[1])
    ax.set_axis_off()
    drawn = draw_formula(formula.answer, dots=2 * SHOWN)
    ax.set_title(NOTHING if drawn is None else WRITTEN, fontsize=8, color="0.35")
    if drawn is not None:
        draw_image(ax, drawn[..., None])


def formula_html(formula: ReadFormula) -> str:
    """The figure, as an image inside a page."""
    return figure_html(plot_formula(formula), " ".join(formula.heading()))
