"""`regard align MODEL SOURCE TARGET`: word links of given pairs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.lines import read_lines, write_line

if TYPE_CHECKING:
    from regard.alignment import Alignment
    from regard.translator import Translator

TOGETHER = 1024  # pairs aligned before their links are written


def align(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    source: Annotated[Path, typer.Argument(help="A text file, a sentence a line.")],
    target: Annotated[Path, typer.Argument(help="Its translation, line by line.")],
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Every link of at least this weight, instead of the best one."),
    ] = None,
    reverse: Annotated[
        Path | None, typer.Option(help="A model of the other direction: the links of both are made one.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="How: grow-diag-final, grow-diag-final-and, intersection, union or posterior.")
    ] = "grow-diag-final",
) -> None:
    """Align given pairs: the model is made to write the target, and watched. Pharaoh format, source first.

    Example: regard align runs/de-en test.de test.en > test.links
    """
    from regard.errors import BrokenData
    from regard.translator import Translator

    sources = [line for lines in read_lines(source) for line in lines]
    targets = [line for lines in read_lines(target) for line in lines]
    if len(sources) != len(targets):
        raise BrokenData(
            f"expected as many lines in each file; {source} has {len(sources)}, {target} has {len(targets)}."
        )
    translator = Translator.load(model)
    backward = Translator.load(reverse) if reverse else None
    for start in range(0, len(sources), TOGETHER):
        some = slice(start, start + TOGETHER)
        found = translator.align(sources[some], targets[some])
        others: list[Alignment | None] = [None] * len(found)
        if backward:
            others = [*backward.align(targets[some], sources[some])]
        if start == 0:
            _tell(translator, found, backward, others)
        for alignment, other in zip(found, others, strict=True):
            write_line(alignment.pharaoh(threshold, reverse=other, method=method))
        sys.stdout.flush()


def _tell(
    translator: Translator, found: Sequence[Alignment], backward: Translator | None, others: Sequence[Alignment | None]
) -> None:
    """Say where the links come from, so that nobody takes them for more than they are."""
    for each, alignments in ((translator, found), (backward, others)):
        if each and alignments and alignments[0]:
            typer.echo(f"{each.name}: read from {alignments[0].note}", err=True)
