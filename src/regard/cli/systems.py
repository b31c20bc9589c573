"""`regard systems`: every recipe, its paper, its task and what it shows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer


def systems(
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Every recipe that comes with Regard: its paper, its task, what it shows.

    Example: regard systems
    """
    from regard.recipe.read import NAMED, read
    from regard.recipe.resolve import describe

    found = {name: asdict(describe(read(name).entries.get("about"), [])) for name in NAMED}
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for name, about in found.items():
        typer.secho(f"{name}", bold=True, nl=False)
        typer.echo(f"  ({about['task']})")
        for line in (about["paper"], about["shows"]):
            if line:
                typer.echo(f"    {line}")
