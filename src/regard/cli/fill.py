"""`regard fill MODEL "a [MASK] sentence"`: what stands in the holes; a file, or standard input, a line each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import Form, ModelFolder, _cell, _filter, opened

if TYPE_CHECKING:
    from regard.tasks.filling import Filling

HOLE = "[MASK]"


def fill(
    model: ModelFolder,
    text: Annotated[
        str | None,
        typer.Argument(help="A text with [MASK] in it, or a text file (plain or .gz). Without it, standard input."),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, max=10, metavar="K", help="How many pieces are printed, likeliest first.")
    ] = 5,
    form: Form = "text",
) -> None:
    """Fill the holes of a text, or of each line: the text as it is likeliest, then each hole's pieces after a tab.

    A piece that begins with a space in the text begins a word. --format jsonl has everything: what each hole looked at
    in the last layer, and what every piece looked at in every layer and head. Of two texts, of a model that reads such,
    a tab stands between them.

    Example: regard fill runs/bert "the [MASK] barks ."
    """
    found = opened(model, "fill")

    def line(answer: Filling) -> list[str]:
        return [_json(answer, top) if form == "jsonl" else _line(answer, top)]

    if text is not None and HOLE in text:
        _told(found, text, line, record=form == "jsonl")
    else:
        _filter(found, None if text is None else Path(text), line, record=form == "jsonl")


def _told(model: Any, text: str, line: Any, *, record: bool) -> None:
    """One text, from the command line."""
    from regard.cli.lines import write_line

    for answer in model.answer([text], record=record):
        for each in line(answer):
            write_line(each)


def _line(answer: Filling, top: int) -> str:
    from regard.tasks.goals.fill import told_piece

    holes = [
        " ".join(f"{told_piece(piece)}:{share:.4f}" for piece, share in pairs[:top])
        for pairs in (list(zip(hole.pieces, hole.probabilities, strict=True)) for hole in answer.holes)
    ]
    return "\t".join([_cell(answer.filled), *holes])


def _json(answer: Filling, top: int) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"source": answer.source, "filled": answer.filled, "words": answer.words, "holes": []}
    seen = answer.views()
    for hole, view in zip(answer.holes, seen, strict=True):
        pieces = [
            {"piece": each, "probability": share} for each, share in zip(hole.pieces, hole.probabilities, strict=True)
        ]
        weights = view.weights[0].tolist() if len(view.weights) else []
        told["holes"].append({"word": answer.owners[hole.position], "pieces": pieces[:top], "weights": weights})
    if answer.attention:
        told |= {"looked_at": answer.read.labels, "attention": [each.tolist() for each in answer.attention]}
    return one_json_line(told)
