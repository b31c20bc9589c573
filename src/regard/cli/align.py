"""`regard align MODEL SOURCE TARGET`: word links of given pairs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.lines import read_lines, write_line


def align(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    source: Annotated[Path, typer.Argument(help="A text file, a sentence a line.")],
    target: Annotated[Path, typer.Argument(help="Its translation, line by line.")],
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Every link of at least this weight, instead of the best one."),
    ] = None,
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
    for start in range(0, len(sources), 1024):
        some = slice(start, start + 1024)
        for alignment in translator.align(sources[some], targets[some]):
            write_line(alignment.pharaoh(threshold))
        sys.stdout.flush()
