"""`regard recipe NAME`: one recipe, fully resolved and commented."""

from __future__ import annotations

from typing import Annotated

import typer

from regard.cli import complete
from regard.cli.options import Settings


def recipe(
    name: Annotated[
        str,
        typer.Argument(
            help="A recipe's name (see `regard systems`), file, or model folder.", autocompletion=complete.recipes
        ),
    ],
    setting: Settings = None,
    pieces: Annotated[
        int | None, typer.Option(min=5, help="Also build it for so many pieces, and say how large each stage is.")
    ] = None,
) -> None:
    """One recipe, every default visible and explained. What is printed is a recipe again.

    Example: regard recipe rnnsearch -s attend.score=dot > mine.toml
    """
    from regard.recipe import resolve, write

    resolved = resolve(name, setting or ())
    typer.echo(write(resolved), nl=False)
    if pieces is not None:
        model = resolved.build(pieces, pieces)
        counts = {stage: sum(p.numel() for p in part.parameters()) for stage, part in model.named_children()}
        told = ", ".join(f"{stage} {count:,}" for stage, count in counts.items())
        total = sum(p.numel() for p in model.parameters())
        typer.echo(f"{total:,} parameters for {pieces:,} pieces: {told}", err=True)
