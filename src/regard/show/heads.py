"""Every head of every layer of one kind of attention: a grid of small matrices, layers down and heads across."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.align.record import Record
from regard.show.canvas import check_name, new_figure, write_figure
from regard.show.causal import start_first
from regard.show.matrix import paint_weights

CELL = 1.15  # inches of one small matrix
CHOSEN, PLAIN = "#D55E00", "0.6"


def plot_heads(record: Record, kind: str = "cross", axes: Any = None, *, pieces: bool = False) -> Any:
    """Draw on an array of axes (layers x heads, or a new figure's) and return it; the chosen heads are framed.

    The words are too many for so small matrices, so that none has labels: rows look, from top to bottom, and
    columns are looked at, from left to right.
    """
    chosen = record.reader() if kind == record.aligner.kind else None
    layers = [record.weights(kind, layer).shape[0] for layer in range(record.kinds.get(kind, 0))]
    if not layers:
        record.weights(kind)  # refuses, saying what there is
    if axes is None:
        figure = new_figure(CELL * max(layers) + 0.5, CELL * len(layers) + 0.6)
        axes = figure.subplots(len(layers), max(layers), squeeze=False)
    for layer, row in enumerate(axes):
        for head, ax in enumerate(row):
            if head >= layers[layer]:
                ax.axis("off")
                continue
            framed = chosen and layer == chosen.layer and (not chosen.heads or head in chosen.heads)
            edge = (CHOSEN, 1.6) if framed else (PLAIN, 0.8)
            alignment = start_first(record.alignment(kind, layer, head, pieces=pieces))
            paint_weights(ax, alignment, edge, cmap="Greys", aspect="auto", interpolation="nearest")
            ax.set(xticks=[], yticks=[])
            if framed:
                ax.spines[:].set(color=CHOSEN, linewidth=2)
            if layer == 0:
                ax.set_title(f"head {head + 1}", fontsize=8)
        row[0].set_ylabel(f"layer {layer + 1}", fontsize=8)
    return axes


def draw_heads(record: Record, path: str | Path, kind: str = "cross", title: str = "", *, pieces: bool = False) -> Path:
    """Draw into a .png, .svg or .pdf file."""
    path = Path(path)
    check_name(path)
    figure = plot_heads(record, kind, pieces=pieces)[0][0].figure
    framed = f"framed: {record.reader()}\n" if kind == record.aligner.kind else ""
    empty = ", and empty is what was not there yet" if kind == "decoder-self" else ""
    return write_figure(figure, path, title, f"{framed}{kind}: rows look, columns are looked at; black is 1{empty}")
