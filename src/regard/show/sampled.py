"""Samples of a generator: side by side, and one by one with what five of its pixels looked at, each in a colour.

Letters: h rows and w columns of pixels, C channels; i rows and j columns of cells, P pixels that are asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image as Pillow

from regard.errors import UsageError
from regard.show.canvas import ENDINGS, check_name, new_figure, write_figure
from regard.show.page import frame_html
from regard.show.pictured import STYLE, figure_html, shaded_cells, smooth_weights
from regard.show.place import fresh_file

FILES = (".html", *ENDINGS, ".txt")
COLOURS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#D55E00")  # of Okabe and Ito's, which all can tell apart
SIDE = 1.3  # inches of an image
PALE = 0.55  # how far a sample is faded to grey below the light of a colour
GAP = 2  # pixels between the samples of a mosaic
LARGE = 96  # pixels that a side of a sample has at least in a mosaic
TITLE = "Samples, and what five of their pixels looked at"
NO_ATTENTION = "This generator does not attend: no pixel looked at others."


@dataclass(frozen=True)
class Places:
    """Pixels that are asked about where nobody names others: their rows and columns, as shares of the image."""

    shares: tuple[tuple[float, float], ...]

    def of(self, height: int, width: int) -> tuple[tuple[int, int], ...]:
        """In an image of a size."""
        return tuple((int(height * down), int(width * right)) for down, right in self.shares)


POINTS = Places(((0.27, 0.27), (0.27, 0.73), (0.5, 0.5), (0.73, 0.27), (0.73, 0.73)))


@dataclass(frozen=True)
class Sampled:
    """A sample, the pixels (row, column) that are asked about, and the weights of each over the cells it looked at.

    The weights are None where the generator does not attend.
    """

    image: UInt8[np.ndarray, "h w C"]
    points: tuple[tuple[int, int], ...]
    weights: Float[np.ndarray, "P i j"] | None
    label: str | None = None
    seed: int = 0
    number: int = 0

    def heading(self) -> str:
        """Which sample it is."""
        named = f"{self.label}: " if self.label else ""
        return f"{named}seed {self.seed}, sample {self.number}"

    def remark(self) -> str:
        """What is to be said below it."""
        if self.weights is None:
            return NO_ATTENTION
        rows, columns = self.weights.shape[1:]
        return (
            f"Each dot asks; what it looked at has its colour: weights over {rows} x {columns} cells, the strongest in "
            "full colour."
        )


def mosaic(images: Sequence[UInt8[np.ndarray, "h w C"]], across: int = 0, scale: int = 0) -> Pillow.Image:
    """Images side by side, row by row, on white; each pixel as a square of `scale`, else of what can be seen."""
    if not images:
        raise UsageError("a mosaic: expected at least one image; found none.")
    across = across or ceil(sqrt(len(images)))
    height, width, channels = images[0].shape
    scale = scale or max(1, LARGE // max(height, width))
    step = height * scale + GAP, width * scale + GAP
    sheet = np.full((step[0] * ceil(len(images) / across) + GAP, step[1] * across + GAP, channels), 255, np.uint8)
    for place, image in enumerate(images):
        top, left = (GAP + step[axis] * each for axis, each in enumerate(divmod(place, across)))
        sheet[top : top + height * scale, left : left + width * scale] = image.repeat(scale, 0).repeat(scale, 1)
    return Pillow.fromarray(sheet.squeeze(-1) if channels == 1 else sheet)


def save_sampled(samples: Sequence[Sampled], path: str | Path, title: str = "") -> Path:
    """Write samples and what their pixels looked at as the kind of file that its name asks for."""
    path = Path(path)
    ending = check_name(path, FILES)
    if not samples:
        raise UsageError("a picture: expected at least one sample; found none.")
    if ending in ENDINGS:
        return write_figure(plot_sampled(samples), path, title, samples[0].remark())
    text = sampled_html(samples, title) if ending == ".html" else f"{sampled_text(samples)}\n"
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path


def sampled_text(samples: Sequence[Sampled]) -> str:
    """For each pixel the cells as blocks that are the darker the more it looked at them."""
    parts = []
    for each in samples:
        parts.append(each.heading())
        if each.weights is None:
            continue
        for point, weights in zip(each.points, each.weights, strict=True):
            parts.append("\n".join((f"row {point[0]}, column {point[1]}", *shaded_cells(weights))))
    attends = samples[0].weights is not None
    return "\n\n".join([*parts, "Darker is more weight." if attends else NO_ATTENTION])


def plot_sampled(samples: Sequence[Sampled]) -> Any:
    """A new figure, a row a sample: the sample with its dots, then what each dot looked at."""
    across = 1 + (0 if samples[0].weights is None else len(samples[0].points))
    figure = new_figure(max(SIDE * across, 2.4) + 0.2, (SIDE + 0.2) * len(samples) + 0.4)
    axes = figure.subplots(len(samples), across, squeeze=False)
    for row, each in zip(axes, samples, strict=True):
        for ax in row:
            ax.set_axis_off()
        _plain(row[0], each.image)
        row[0].set_title(each.heading(), fontsize=7, color="0.35", parse_math=False)
        if each.weights is None:
            continue
        for place, ax in enumerate(row[1:]):
            _dot(row[0], each.points[place], place)
            _tinted(ax, each, place)
            _dot(ax, each.points[place], place)
    return figure


def sampled_html(samples: Sequence[Sampled], title: str = "") -> str:
    """A page of samples that needs nothing else, and works without scripts."""
    title = title or TITLE
    parts = [
        f'<section class="figure">\n{figure_html(plot_sampled([each]), each.heading())}\n</section>' for each in samples
    ]
    note = f'<p class="note">{escape(samples[0].remark())}</p>'
    body = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>\n<main>\n{"".join(parts)}\n{note}\n</main>'
    return frame_html(title, body, STYLE)


def _plain(ax: Any, image: UInt8[np.ndarray, "h w C"]) -> None:
    ax.imshow(image.squeeze(), cmap="gray", vmin=0, vmax=255, interpolation="nearest")


def _tinted(ax: Any, sampled: Sampled, place: int) -> None:
    """The sample, grey and pale, and over it the weights of one pixel in its colour."""
    from matplotlib.colors import to_rgb

    height, width = sampled.image.shape[:2]
    grey = sampled.image.mean(2, keepdims=True).repeat(3, 2) / 255
    light = smooth_weights(sampled.weights[place], height, width, smooth=False)[..., None]  # type: ignore[index]
    pale = PALE + (1 - PALE) * grey
    ax.imshow(pale * (1 - light) + np.array(to_rgb(COLOURS[place % len(COLOURS)])) * light, interpolation="nearest")


def _dot(ax: Any, point: tuple[int, int], place: int) -> None:
    style = {"markersize": 6, "markeredgecolor": "white", "markeredgewidth": 1.1}
    ax.plot(point[1], point[0], "o", color=COLOURS[place % len(COLOURS)], **style)
