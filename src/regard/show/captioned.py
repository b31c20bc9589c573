"""A captioned image: once as it was read, and once for each word of its caption, bright where that word looked.

The terminal, a page and a figure all draw what is held here.

Letters: h rows and w columns of pixels, C channels; i rows and j columns of cells, W words.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from regard.errors import ShapeError
from regard.show.canvas import new_figure, wrap
from regard.show.fonts import families
from regard.show.labels import cut
from regard.show.page import script_json
from regard.show.pictured import VEIL, VERDICTS, draw_image, figure_html, image_url, shaded_cells, smooth_weights
from regard.show.shaded import Answered
from regard.show.terminal import WIDTH

SIDE, TITLE = 1.25, 0.75  # inches of an image, and of the caption above them
ACROSS = 6  # images in a row of a figure
MOST = 47  # words that are drawn
LONGEST = 16  # letters of a word above its image
ONLY = 0.999  # the weight of a cell beside which no other was looked at
STILL = 1e-3  # maps that differ less from word to word, on average, hardly move
READ = "what was read"
WROTE = "What people wrote of it"


@dataclass(frozen=True)
class Captioned(Answered):
    """An image, its caption, and the weights of each word over the cells (None where a model does not attend).

    `references` are what people wrote of the image, where there are several, of which none is the right one. `smooth`
    and `opacity` say how a figure is drawn, and how a page begins: what lies between the middles of cells is drawn
    smoothly, or cells have edges; and how dark it is where nobody looked.
    """

    image: UInt8[np.ndarray, "h w C"]
    words: tuple[str, ...]
    weights: Float[np.ndarray, "W i j"] | None
    answer: str
    probability: float | None = None
    right: str | None = None
    classes: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    smooth: bool = True
    opacity: float = VEIL
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.weights is not None and len(self.weights) != len(self.words):
            raise ShapeError(f"weights: expected a map for each of {len(self.words)} words; found {len(self.weights)}.")

    def maps(self) -> list[tuple[str, Float[np.ndarray, "i j"]]]:
        """Each word that is drawn, and what it looked at."""
        return [] if self.weights is None else list(zip(self.words, self.weights, strict=True))[:MOST]

    @property
    def is_hard(self) -> bool:
        """Whether every word looked at one cell alone."""
        return self.weights is not None and bool(len(self.weights)) and bool((self.weights.max((1, 2)) > ONLY).all())

    def movement(self) -> float | None:
        """How far the maps of two words are apart, from 0 to 1, on average; None where there are no two."""
        if self.weights is None or len(self.weights) < 2:
            return None
        shares = self.weights / np.maximum(self.weights.sum((1, 2), keepdims=True), 1e-9)
        return float(np.mean([abs(one - other).sum() / 2 for one, other in combinations(shares, 2)]))

    def remarks(self) -> list[str]:
        """What is to be said below the images."""
        if self.weights is None:
            return ["This model does not attend: its words have no place in the image."]
        rows, columns = self.weights.shape[1:]
        told = [f"What a word looked at is bright: weights over {rows} x {columns} cells, the strongest in full light."]
        if self.is_hard:
            told.append("Each word looked at one cell alone, which has a frame.")
        elif self.smooth:
            told.append(
                f"Between the middles of the {rows * columns} cells the light is drawn smoothly: see no more in it."
            )
        moved = self.movement()
        if moved is not None and moved < STILL:
            told.append("Warning: the attention hardly moves from word to word, so these maps say nothing of a word.")
        if len(self.words) > MOST:
            told.append(f"The first {MOST} of {len(self.words)} words are drawn.")
        return told


def captioned_text(captioned: Captioned, width: int = WIDTH) -> str:
    """The caption, and the cells of each word as blocks: as many words side by side as there is room for."""
    parts = [" ".join(captioned.heading())]
    maps = captioned.maps()
    if maps:
        column = max(2 * maps[0][1].shape[1], 8) + 2
        across = max(1, (width + 2) // column)
        for first in range(0, len(maps), across):
            some = [[cut(word, column - 2), *shaded_cells(cells)] for word, cells in maps[first : first + across]]
            lines = ["".join(line.ljust(column) for line in lines) for lines in zip(*some, strict=True)]
            parts.append("\n".join(line.rstrip() for line in lines))
    told = "\n".join([f"{WROTE}:", *(f"  {each}" for each in captioned.references)]) if captioned.references else ""
    return "\n\n".join([*parts, *filter(None, (told,)), *captioned.remarks()])


def plot_captioned(captioned: Captioned) -> Any:
    """A new figure: the image as it was read, then once for each word, row by row."""
    maps = captioned.maps()
    across = min(ACROSS, 1 + len(maps))
    down = -(-(1 + len(maps)) // across)
    width = max(SIDE * across, 3.2)
    figure = new_figure(width, (SIDE + 0.25) * down + TITLE)
    axes = figure.subplots(down, across, squeeze=False).flatten()
    for ax in axes:
        ax.set_axis_off()
    draw_image(axes[0], captioned.image)
    axes[0].set_title(READ, fontsize=8, color="0.35")
    height, wide = captioned.image.shape[:2]
    smooth = captioned.smooth and not captioned.is_hard
    for ax, (word, cells) in zip(axes[1:], maps, strict=False):
        draw_image(ax, captioned.image, smooth_weights(cells, height, wide, smooth), captioned.opacity)
        if captioned.is_hard:
            _frame(ax, cells, height, wide)
        ax.set_title(cut(word, LONGEST), fontsize=8, parse_math=False, fontfamily=families([word]))
    heading = " ".join(captioned.heading())
    style: dict[str, Any] = {"fontsize": 10, "color": VERDICTS[captioned.is_right], "fontfamily": families([heading])}
    figure.suptitle(wrap(heading, width, 10.0), parse_math=False, **style)
    return figure


def _frame(ax: Any, cells: Float[np.ndarray, "i j"], height: int, width: int) -> None:
    """A frame around the only cell that was looked at."""
    from matplotlib.patches import Rectangle

    rows, columns = cells.shape
    row, column = np.unravel_index(int(cells.argmax()), cells.shape)
    down, right = height / rows, width / columns
    corner = float(column) * right - 0.5, float(row) * down - 0.5
    for colour, line in (("black", 2.2), ("white", 1.1)):
        ax.add_patch(Rectangle(corner, right, down, fill=False, edgecolor=colour, linewidth=line))


def captioned_html(captioned: Captioned) -> str:
    """The figure inside a page: with scripts one to go through word by word, without them an image."""
    still = figure_html(plot_captioned(captioned), " ".join(captioned.heading()))
    maps = captioned.maps()
    if not maps:
        return still
    document = {
        "image": image_url(captioned.image),
        "words": [word for word, _ in maps],
        "maps": [np.round(cells.astype(float), 4).tolist() for _, cells in maps],
        "smooth": captioned.smooth and not captioned.is_hard,
        "opacity": round(captioned.opacity, 2),
    }
    carried = f'<script type="application/json">{script_json(document)}</script>'
    return f'<div data-regard="captioned">\n{still}\n{carried}\n</div>'


def references_html(captioned: Captioned) -> str:
    """What people wrote of the image, as a list; nothing where nobody did."""
    if not captioned.references:
        return ""
    lines = "".join(f'<li dir="auto">{escape(each)}</li>' for each in captioned.references)
    return f'<p class="note">{WROTE}:</p>\n<ul class="note">{lines}</ul>'
