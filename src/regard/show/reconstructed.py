"""Images and what was made of them from a short code; and the codes themselves, as points and as a lattice.

Letters: h rows and w columns of pixels, C channels; N images, P points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from regard.show.canvas import new_figure
from regard.show.fonts import families
from regard.show.labels import cut
from regard.show.pictured import draw_image, figure_html
from regard.show.shaded import Answered

SIDE, TITLE = 1.0, 0.5  # inches of an image, and of what stands above it
ACROSS = 10  # pairs in a row of a figure
GAP = 2  # pixels between the images of a strip or a lattice
CLASSES = 10  # that have a colour of their own
READ, MADE = "read", "made"


@dataclass(frozen=True)
class Reconstructed(Answered):
    """An image, and what was made of it; `error` is the mean squared error of a number, white being 1."""

    read: UInt8[np.ndarray, "h w C"]
    made: UInt8[np.ndarray, "h w C"]
    error: float
    answer: str
    probability: float | None = None
    right: str | None = None
    classes: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()

    def heading(self) -> list[str]:
        """Its name, and the error."""
        return [self.answer, f"error {self.error:.4f}"]

    def remarks(self) -> list[str]:
        """What is to be said below the images."""
        return [
            "Above what was read, below what was made of its code. The error is squared: a mean over numbers of 0 to 1."
        ]


def reconstructed_text(seen: Reconstructed) -> str:
    """The name and the error."""
    return " ".join(seen.heading())


def plot_reconstructed(several: Sequence[Reconstructed], title: str = "") -> Any:
    """A new figure: what was read above, what was made of it below, image by image."""
    across = min(ACROSS, len(several))
    down = -(-len(several) // across)
    figure = new_figure(max(SIDE * across + 0.4, 2.6), down * (2 * SIDE + TITLE) + 0.3)
    axes = figure.subplots(2 * down, across, squeeze=False)
    for ax in axes.flatten():
        ax.set_axis_off()
    for place, each in enumerate(several):
        row, column = divmod(place, across)
        for offset, image in enumerate((each.read, each.made)):
            draw_image(axes[2 * row + offset, column], image)
        axes[2 * row, column].set_title(READ, fontsize=7, color="0.35", pad=2)
        axes[2 * row + 1, column].set_title(f"{MADE} ({each.error:.3f})", fontsize=7, color="0.35", pad=2)
    heading = title or (cut(several[0].answer, 40) if len(several) == 1 else "")
    if heading:
        figure.suptitle(heading, fontsize=10, parse_math=False, fontfamily=families([heading]))
    return figure


def reconstructed_html(seen: Reconstructed) -> str:
    """Both images, as an image inside a page."""
    return figure_html(plot_reconstructed([seen]), " ".join(seen.heading()))


def joined(images: UInt8[np.ndarray, "N h w C"], across: int, ground: int = 128) -> UInt8[np.ndarray, "i j C"]:
    """Images as one, so many in a row, with a little ground between them."""
    count, height, width, channels = images.shape
    down = -(-count // across)
    found = np.full((down * (height + GAP) - GAP, across * (width + GAP) - GAP, channels), ground, np.uint8)
    for place, image in enumerate(images):
        row, column = divmod(place, across)
        top, left = row * (height + GAP), column * (width + GAP)
        found[top : top + height, left : left + width] = image
    return found


@dataclass(frozen=True)
class CodeMap:
    """Codes of many images in the plane in which they differ most, and what a lattice of codes there is decoded to.

    `labels` are the classes of the images, where they are known. `exact` says that codes have no more than two numbers.
    """

    points: Float[np.ndarray, "P 2"]
    labels: tuple[str, ...]
    lattice: UInt8[np.ndarray, "N h w C"]
    exact: bool = False

    @property
    def shuffled(self) -> tuple[str, ...]:
        """The same labels dealt out at random: what looks like classes there is chance."""
        found = list(self.labels)
        Random(0).shuffle(found)
        return tuple(found)

    def remarks(self) -> list[str]:
        """What is to be said below."""
        plane = "The two numbers of each code" if self.exact else "The plane in which codes differ most (PCA)"
        told = [f"{plane}; the lattice is decoded from a regular grid of codes over it, the outermost 5 % left out."]
        if self.labels:
            told.append("In the middle the labels are dealt out at random: what is alike in both is chance.")
        return told


def plot_codes(codes: CodeMap, title: str = "") -> Any:
    """A new figure: points by class, the same with shuffled labels, and the lattice."""
    known = [each for each, _ in _commonest(codes.labels)]
    panels = [("codes", codes.labels)] + ([("shuffled labels", codes.shuffled)] if known else [])
    figure = new_figure(3.6 * (len(panels) + 1) + (0.8 if known else 0), 3.9)
    axes = figure.subplots(1, len(panels) + 1, squeeze=False)[0]
    for ax, (name, labels) in zip(axes, panels, strict=False):
        _scatter(ax, codes.points, labels, known)
        ax.set_title(name, fontsize=9)
    if known:
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside right center", fontsize=7, markerscale=2.5, frameon=False)
    grid = axes[-1]
    draw_image(grid, joined(codes.lattice, round(len(codes.lattice) ** 0.5)))
    grid.set_title("decoded from a lattice of codes", fontsize=9)
    if title:
        figure.suptitle(title, fontsize=10, parse_math=False, fontfamily=families([title]))
    return figure


def _commonest(labels: Sequence[str]) -> list[tuple[str, int]]:
    """The classes that have a colour: those with most images, of equal ones the first by name."""
    counts = dict.fromkeys(sorted(set(labels)), 0)
    for each in labels:
        counts[each] += 1
    return sorted(counts.items(), key=lambda each: -each[1])[:CLASSES]


def _scatter(ax: Any, points: Float[np.ndarray, "P 2"], labels: Sequence[str], known: Sequence[str]) -> None:
    """Points in the colours of their classes; those of further classes are grey."""
    from matplotlib import colormaps

    palette, names = colormaps["tab10"], np.array(labels, dtype=object)
    others = ~np.isin(names, known) if len(names) else np.ones(len(points), bool)
    ax.scatter(
        *points[others].T,
        s=4,
        color="0.85" if known else "0.3",
        linewidths=0,
        label="others" if others.any() and known else None,
    )
    for place, name in enumerate(known):
        ax.scatter(*points[names == name].T, s=7, color=palette(place), linewidths=0, label=cut(name, 18))
    ax.tick_params(labelsize=6)
    ax.set_aspect("equal", adjustable="datalim")
