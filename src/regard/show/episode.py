"""An episode: the image that was asked about, the labelled images, and how much each of these was looked at.

Letters: S labelled images, h rows and w columns of pixels, C channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from regard.errors import ShapeError
from regard.show.canvas import new_figure
from regard.show.fonts import families
from regard.show.labels import cut
from regard.show.pictured import LONGEST, VERDICTS, draw_image, figure_html
from regard.show.shaded import Answered

SIDE, BAR = 0.95, 0.8  # inches of an image, and of a bar that stands for all weight
ROW = 10  # labelled images in a row
BLUE = "#0072B2"  # Okabe and Ito's
BLOCKS = 20  # of a bar of text that stands for all weight


@dataclass(frozen=True)
class EpisodeSeen(Answered):
    """Labelled images and their classes, the image asked about, the weights over all of them, and the answer.

    `weights` are those of the last attention; the last of them is of the image itself. None where a model
    does not attend.
    """

    images: tuple[UInt8[np.ndarray, "h w C"], ...]
    names: tuple[str, ...]
    query: UInt8[np.ndarray, "h w C"]
    weights: Float[np.ndarray, " S+1"] | None
    classes: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    answer: str = ""
    probability: float | None = None
    right: str | None = None

    def __post_init__(self) -> None:
        if not self.images or len(self.images) != len(self.names):
            raise ShapeError(f"{len(self.images)} labelled images and {len(self.names)} names of classes.")

    def remarks(self) -> list[str]:
        """What is to be said below the images."""
        if self.weights is None:
            return ["This model does not attend: no example has a weight."]
        itself = f"{100 * float(self.weights[-1]):.0f} %"
        return [
            f"Bars are the weights of the last attention over the labelled images; {itself} is on the image itself."
        ]


def plot_episode(seen: EpisodeSeen) -> Any:
    """A new figure: the image that was asked about, then the labelled images, the weight of each as a bar above it."""
    columns, rows = min(ROW, len(seen.images)), -(-len(seen.images) // ROW)
    high = SIDE + (BAR if seen.weights is not None else 0) + 0.45
    figure = new_figure((columns + 1.6) * SIDE + 0.3, rows * high + 0.7)
    heading = [cut(each, LONGEST) for each in seen.heading()]
    colour = VERDICTS[seen.is_right]
    figure.suptitle(" ".join(heading), fontsize=10, color=colour, parse_math=False, fontfamily=families(heading))
    ratios = ([BAR, SIDE] if seen.weights is not None else [SIDE]) * rows
    grid = figure.add_gridspec(len(ratios), columns + 2, width_ratios=[1, 0.3, *[1] * columns], height_ratios=ratios)
    step = len(ratios) // rows
    asked = figure.add_subplot(grid[step - 1, 0])
    draw_image(asked, seen.query)
    asked.set_title("asked", fontsize=8, color="0.35")
    top = 1.0 if seen.weights is None else max(0.05, float(seen.weights[:-1].max()))
    for place, (image, name) in enumerate(zip(seen.images, seen.names, strict=True)):
        row, column = divmod(place, ROW)
        if seen.weights is not None:
            _bar(figure.add_subplot(grid[step * row, column + 2]), float(seen.weights[place]), top)
        axes = figure.add_subplot(grid[step * row + step - 1, column + 2])
        draw_image(axes, image)
        told = cut(name, 14)
        strong = {"color": colour, "fontweight": "bold"} if name == seen.answer else {"color": "0.35"}
        axes.text(0.5, -0.06, told, fontsize=7, ha="center", va="top", transform=axes.transAxes, parse_math=False,
                  fontfamily=families([told]), **strong)  # fmt: skip
    return figure


def _bar(axes: Any, weight: float, top: float) -> None:
    """A bar whose height is a weight, of the largest one in the figure."""
    axes.bar([0], [weight], width=0.6, color=BLUE)
    axes.set(xlim=(-0.5, 0.5), ylim=(0, 1.25 * top))
    axes.text(0, weight + 0.03 * top, f"{weight:.2f}", fontsize=7, ha="center", va="bottom", color="0.25")
    axes.set_axis_off()


def episode_html(seen: EpisodeSeen) -> str:
    """The figure, as an image inside a page."""
    return figure_html(plot_episode(seen), " ".join(seen.heading()))


def episode_text(seen: EpisodeSeen) -> str:
    """The answer, and a bar for each labelled image."""
    parts = [" ".join(seen.heading())]
    if seen.weights is not None:
        longest = max(map(len, seen.names))
        shares = [float(each) for each in seen.weights]
        parts.append("\n".join(weight_lines(seen.names, shares, longest)))
    return "\n\n".join([*parts, *seen.remarks()])


def weight_lines(names: tuple[str, ...], weights: list[float], longest: int) -> list[str]:
    """A line for each labelled image: its class, its weight, and a bar."""
    pairs = zip(names, weights, strict=False)  # the last weight is of the image itself
    return [f"{name:{longest}}  {weight:.2f} {'█' * round(BLOCKS * weight)}".rstrip() for name, weight in pairs]
