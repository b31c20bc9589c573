"""A segmented image: as it was read, the right classes and the found ones over it, and the gates of every size.

The terminal, a page and a figure all draw what is held here.

Letters: H rows and W columns of pixels, C channels; i rows and j columns of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8

from regard.show.canvas import new_figure, wrap
from regard.show.fonts import families
from regard.show.pictured import VERDICTS, draw_image, figure_html, shaded_cells
from regard.show.shaded import Answered
from regard.show.terminal import WIDTH

SIDE, TITLE = 2.0, 0.8  # inches of an image, and of the heading above them
ACROSS = 5  # images in a row of a figure
ROWS = 16  # lines of a mask in a terminal
INK = 0.45  # how much of a class's colour lies over the image
# Of classes, one after the other (Okabe and Ito 2008: also people who see few colours tell them apart).
COLOURS = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167))
GOOD = 0.5  # overlap from which on a mask is drawn as right
NO_CLASS = 255


@dataclass(frozen=True)
class Outlined(Answered):
    """An image, the class found at every pixel, the right one where it is known, and how far gates were open.

    `found` and `wanted` are numbers of `classes`, the ground first; `gates` are grids, coarsest first; `probabilities`
    are the shares of the image that the classes take.
    """

    image: UInt8[np.ndarray, "H W C"]
    found: UInt8[np.ndarray, "H W"]
    wanted: UInt8[np.ndarray, "H W"] | None
    gates: tuple[Float[np.ndarray, "_ _"], ...]
    classes: tuple[str, ...]
    answer: str
    probability: float | None = None
    probabilities: tuple[float, ...] = ()

    @property
    def right(self) -> str | None:  # type: ignore[override]
        """How far what was found overlaps with what is right, in words."""
        return None if self.overlap is None else f"Dice {100 * self.overlap:.1f} %"

    @property
    def is_right(self) -> bool | None:
        """Whether most of it overlaps."""
        return None if self.overlap is None else self.overlap >= GOOD

    @cached_property
    def overlap(self) -> float | None:
        """Dice of this image, as an evaluation has it: the mean over the classes there are, without the ground."""
        if self.wanted is None:
            return None
        known = self.wanted != NO_CLASS
        values = []
        for number in range(1, len(self.classes)):
            found, right = (self.found == number) & known, (self.wanted == number) & known
            if found.any() or right.any():
                values.append(2 * float((found & right).sum()) / float(found.sum() + right.sum()))
        return sum(values) / len(values) if values else 1.0

    def heading(self) -> list[str]:
        """How much each class takes, and how far that is right."""
        return [self.answer or "nothing found", *([f"({self.right})"] if self.right else [])]

    def remarks(self) -> list[str]:
        """What is to be said below the images."""
        if not self.gates:
            return ["This model has no gates: every skip passes freely."]
        told = ", ".join(f"{rows} x {columns}" for rows, columns in (each.shape for each in self.gates))
        return [
            f"Gates, coarsest first: {told} cells. White is open (1), black shut (0); the number is the mean. "
            "A gate says what was let through, not why."
        ]

    def overlay(self, classes: UInt8[np.ndarray, "H W"] | None = None) -> UInt8[np.ndarray, "H W 3"]:
        """The image with classes in colours over it, and a line around each: those that were found, or others."""
        numbers = self.found if classes is None else classes
        image = np.repeat(self.image, 3, 2) if self.image.shape[2] == 1 else self.image
        painted = image.astype(np.float64)
        for number in range(1, len(self.classes)):
            inside = numbers == number
            colour = np.array(COLOURS[(number - 1) % len(COLOURS)], np.float64)
            painted[inside] = (1 - INK) * painted[inside] + INK * colour
            painted[edge_of(inside)] = colour
        return painted.round().clip(0, 255).astype(np.uint8)


def edge_of(inside: Bool[np.ndarray, "H W"]) -> Bool[np.ndarray, "H W"]:
    """The pixels of a mask with a neighbour that is none."""
    wide = np.pad(inside, 1, mode="edge")
    return inside & ~(wide[:-2, 1:-1] & wide[2:, 1:-1] & wide[1:-1, :-2] & wide[1:-1, 2:])


def outlined_text(outlined: Outlined, width: int = WIDTH) -> str:
    """What was found as blocks, the darker the more of a place it takes; the gates as means."""
    height, wide = outlined.found.shape
    rows = min(ROWS, height)
    columns = max(1, min(width // 2, round(rows * wide / height)))
    inside = (outlined.found > 0).astype(np.float64)
    parts = np.array(
        [[cell.mean() for cell in np.array_split(row, columns, 1)] for row in np.array_split(inside, rows)]
    )
    lines = [" ".join(outlined.heading()), "\n".join(line.rstrip() for line in shaded_cells(parts))]
    for gate in outlined.gates:
        lines.append(f"gate of {gate.shape[0]} x {gate.shape[1]} cells: {gate.min():.2f} to {gate.max():.2f}")
    return "\n\n".join([*lines, *outlined.remarks()])


def plot_outlined(outlined: Outlined) -> Any:
    """A new figure: the image, the right mask, the found one, and the gate of every size."""
    drawn = [("what was read", None)] + [("right", outlined.wanted)] * (outlined.wanted is not None)
    drawn.append(("found", outlined.found))
    count = len(drawn) + len(outlined.gates)
    across = min(ACROSS, count)
    down = -(-count // across)
    ratio = min(2.0, max(0.5, outlined.found.shape[0] / outlined.found.shape[1]))
    figure = new_figure(max(SIDE * across, 3.2), (SIDE * ratio + 0.3) * down + TITLE)
    axes = figure.subplots(down, across, squeeze=False).flatten()
    for ax in axes:
        ax.set_axis_off()
    for ax, (title, classes) in zip(axes, drawn, strict=False):
        draw_image(ax, outlined.image if classes is None else outlined.overlay(classes))
        ax.set_title(title, fontsize=8, color="0.35")
    for ax, gate in zip(axes[len(drawn) :], outlined.gates, strict=False):
        draw_gate(ax, gate)
    heading = " ".join(outlined.heading())
    style: dict[str, Any] = {"fontsize": 10, "color": VERDICTS[outlined.is_right], "fontfamily": families([heading])}
    figure.suptitle(wrap(heading, SIDE * across, 10.0), parse_math=False, **style)
    return figure


def draw_gate(ax: Any, gate: Float[np.ndarray, "_ _"]) -> None:
    """How far a gate was open at each cell, from black (shut) to white (open)."""
    ax.imshow(gate, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.set_title(f"gate, {gate.shape[0]} x {gate.shape[1]} cells: {gate.mean():.2f}", fontsize=8, color="0.35")


def outlined_html(outlined: Outlined) -> str:
    """The figure, as an image inside a page."""
    return figure_html(plot_outlined(outlined), " ".join(outlined.heading()))
