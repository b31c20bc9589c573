"""A classified image under masks: what each attention module let through of what its trunk had found.

Letters: h rows and w columns of pixels, C channels of an image; i rows and j columns of cells, N channels that are
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from regard.show.canvas import new_figure
from regard.show.fonts import families
from regard.show.labels import cut
from regard.show.pictured import LONGEST, VERDICTS, draw_image, shaded_cells, smooth_weights
from regard.show.shaded import Answered

Cells = Float[np.ndarray, "i j"]
SIDE = 1.25  # inches of an image
MOST = 6  # modules that are drawn: the lowest and the highest of more
DRAWN = 2  # channels of a module that are drawn


@dataclass(frozen=True)
class Masking:
    """What one module did with an image: its mask, as a mean over all channels; and of some channels all there is.

    `before` is the trunk F of these channels, `opened` their mask M, and `after` the trunk after it, by the `formula`.
    """

    mask: Cells
    channels: tuple[int, ...]
    before: Float[np.ndarray, "N i j"]
    opened: Float[np.ndarray, "N i j"]
    after: Float[np.ndarray, "N i j"]
    formula: str = "(1 + M) F"

    @property
    def light(self) -> Cells:
        """The mask from 0, where it is most closed, to 1, where it is most open; 1 everywhere where it is even."""
        low, high = float(self.mask.min()), float(self.mask.max())
        return np.ones_like(self.mask) if high - low < 1e-6 else (self.mask - low) / (high - low)

    def told(self) -> str:
        """How open it is, in words."""
        rows, columns = self.mask.shape
        return f"{rows} x {columns} cells, open from {self.mask.min():.2f} to {self.mask.max():.2f}"


@dataclass(frozen=True)
class MaskedImage(Answered):
    """An image, what each module masked of it from the lowest on, and the answer."""

    image: UInt8[np.ndarray, "h w C"]
    modules: tuple[Masking, ...]
    answer: str
    probability: float | None = None
    right: str | None = None
    classes: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()

    def drawn(self) -> list[tuple[str, Masking]]:
        """The modules that are drawn, each with its name."""
        every = [(f"module {number}", each) for number, each in enumerate(self.modules, 1)]
        return every if len(every) <= MOST else every[: MOST // 2] + every[-(MOST // 2) :]

    def remarks(self) -> list[str]:
        """What is to be said below the image."""
        told = "; ".join(f"{name}: {each.told()}" for name, each in self.drawn())
        return [
            f"Bright is where the mask M of a module is most open, as a mean over its channels ({told}). Of some "
            f"channels: the trunk F, its mask, and {self.modules[0].formula}."
        ]


def masked_text(masked: MaskedImage) -> str:
    """The answer, and the mask of each module as blocks that are the darker the more open it is."""
    parts = [" ".join(masked.heading())]
    for name, each in masked.drawn():
        parts.append("\n".join([f"{name}: {each.told()}", *shaded_cells(each.light)]))
    return "\n\n".join(parts) + "\n\nDarker is more open: a mean over all channels."


def plot_masked(masked: MaskedImage) -> Any:
    """A new figure: the image as it was read; and a row for each module, of its mask and of the trunk around it."""
    modules = masked.drawn()
    across = 2 + 3 * DRAWN
    figure = new_figure(SIDE * across + 0.4, (SIDE + 0.3) * len(modules) + 0.7)
    axes = figure.subplots(len(modules), across, squeeze=False)
    for ax in axes.flatten():
        ax.set_axis_off()
    draw_image(axes[0][0], masked.image)
    axes[0][0].set_title("what was read", fontsize=8, color="0.35")
    height, width = masked.image.shape[:2]
    for row, (name, each) in zip(axes, modules, strict=True):
        draw_image(row[1], masked.image, smooth_weights(each.light, height, width))
        row[1].set_title(name, fontsize=8)
        for place, channel in enumerate(each.channels[:DRAWN]):
            _draw_channel(row[2 + 3 * place : 5 + 3 * place], each, place, channel)
    heading = [cut(each, LONGEST) for each in masked.heading()]
    style: dict[str, Any] = {"fontsize": 10, "color": VERDICTS[masked.is_right], "fontfamily": families(heading)}
    figure.suptitle(" ".join(heading), parse_math=False, **style)
    return figure


def _draw_channel(row: Any, module: Masking, place: int, channel: int) -> None:
    """The trunk before its mask, the mask, and the trunk after it, in the colours of before."""
    reach = max(float(np.abs(module.before[place]).max()), float(np.abs(module.after[place]).max()), 1e-9)
    both: dict[str, Any] = {"cmap": "PuOr", "vmin": -reach, "vmax": reach, "interpolation": "nearest"}
    row[0].imshow(module.before[place], **both)
    row[1].imshow(module.opened[place], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    row[2].imshow(module.after[place], **both)
    names = (f"F, channel {channel}", "M", module.formula)
    for ax, name in zip(row, names, strict=True):
        ax.set_title(name, fontsize=7, color="0.35", parse_math=False)
