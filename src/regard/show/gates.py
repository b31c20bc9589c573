"""The gates of a network over its training: how they opened and shut, update by update, in one image.

A training keeps looks (`learn.looks`) of some images at each validation; those of a segmenter are documents with the
image's file, the right mask and the found one as texts, and how far the gate of every size was open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float

from regard.data.labelled.images import UnreadableImage
from regard.data.masks import mask_of
from regard.data.pictures import read_picture
from regard.errors import MissingData
from regard.learn.looks import numbers_of, read_looks
from regard.show.canvas import ENDINGS, check_name, new_figure, write_figure
from regard.show.outlined import Outlined, draw_gate
from regard.show.pictured import draw_image

KIND = "gates"
ROWS = 6  # validations that are drawn, evenly from the first to the last
SIDE = 1.5  # inches of an image
FINEST = 64  # cells of a side that a document keeps of a gate; larger ones are kept as means
Document: TypeAlias = Mapping[str, Any]


def gate_document(cell: Any, right: str, found: str, gates: Sequence[Any], classes: Sequence[str]) -> dict[str, Any]:
    """What is kept of one image: its file, both masks, and the gates, coarsest first."""
    kept = [np.round(_means(np.asarray(each, np.float64)), 3).tolist() for each in gates]
    named = str(cell) if isinstance(cell, str | Path) else ""
    return {"kind": KIND, "image": named, "right": right, "found": found, "gates": kept, "classes": list(classes)}


def gates_over_training(folder: Path) -> list[tuple[int, list[Document]]]:
    """The documents of gates that a run's looks hold, by the update after which they were made."""
    found = [(number, read_looks(folder, number)) for number in numbers_of(folder)]
    kept: list[tuple[int, list[Document]]]
    kept = [(number, [each for each in figures if each.get("kind") == KIND]) for number, figures in found]
    return [(number, figures) for number, figures in kept if figures]


def save_gates(folder: Path, path: Path, which: int = 0) -> Path:
    """Draw the gates of one of the images of a run's looks into a .png, .svg or .pdf file."""
    check_name(path, ENDINGS)
    looks = gates_over_training(folder)
    if not looks:
        raise MissingData(
            f"{folder}: expected what gates let through at the validations of a training; found nothing.",
            hint="A model with gates keeps it while it is trained: regard train attention-unet ... (train.looks = 2).",
        )
    return write_figure(
        plot_gates([(number, figures[min(which, len(figures) - 1)]) for number, figures in looks]), path
    )


def plot_gates(looks: Sequence[tuple[int, Document]]) -> Any:
    """A new figure: a row for a validation; what was found, and the gate of every size."""
    rows = [looks[place] for place in sorted({round(each) for each in np.linspace(0, len(looks) - 1, ROWS)})]
    across = 2 + len(rows[0][1]["gates"])
    figure = new_figure(SIDE * across + 0.4, (SIDE + 0.2) * len(rows) + 0.3)
    axes = figure.subplots(len(rows), across, squeeze=False)
    for row, (number, document) in zip(axes, rows, strict=True):
        seen = _seen(document)
        draw_image(row[0], seen.overlay(seen.wanted))
        row[0].set_title(f"right (update {number:,})", fontsize=7, color="0.35")
        draw_image(row[1], seen.overlay())
        row[1].set_title("found" if seen.right is None else f"found: {seen.right}", fontsize=7, color="0.35")
        for ax, gate in zip(row[2:], seen.gates, strict=True):
            draw_gate(ax, gate)
            ax.set_axis_off()
    return figure


def _seen(document: Document) -> Outlined:
    (found, _), (right, _) = mask_of(document["found"]), mask_of(document["right"])
    gates = tuple(np.array(each, np.float64) for each in document["gates"])
    image = np.zeros((*found.shape, 1), np.uint8)  # the file may be gone: then masks lie on black
    try:
        drawn = np.asarray(read_picture(document["image"], 1, found.shape))[..., None]
        image = drawn if drawn.shape[:2] == found.shape else image
    except UnreadableImage:
        pass
    return Outlined(image, found, right, gates, tuple(document["classes"]), "")


def _means(gate: Float[np.ndarray, "i j"]) -> Float[np.ndarray, "_ _"]:
    """As it is, or as means of neighbouring cells, so that no side has more than so many."""
    step = -(-max(gate.shape) // FINEST)
    if step == 1:
        return gate
    rows, columns = (range(0, length, step) for length in gate.shape)
    return np.array([[gate[row : row + step, column : column + step].mean() for column in columns] for row in rows])
