"""`regard reproduce SYSTEM`: a system's small version on built-in data, its claim beside what came out."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from regard.cli import complete

SAID = ("step", "stopped", "regard:")  # how lines begin that are worth telling while arms train


def reproduce(
    system: Annotated[
        str | None, typer.Argument(help="A recipe that --list shows.", autocompletion=complete.recipes)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="All systems, their minutes and claims.")] = False,
    minutes: Annotated[
        float | None, typer.Option(min=0.02, help="How long all of it takes, if not what the system states.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same data and first weights.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Where to keep runs, pictures and result.json; a rerun goes on there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Train a system's small version on built-in data, and show the paper's claim beside what came out.

    Example: regard reproduce rnnsearch
    """
    from regard.errors import UsageError

    if listed:
        _list(as_json)
        return
    if system is None:
        raise UsageError("expected a system.", hint="`regard reproduce --list` shows all.")
    from regard.tasks.reproduce import reproduce as run

    result = run(system, minutes=minutes, seed=seed, out=out, tell=tell)
    typer.echo(json.dumps(result.as_dict(), ensure_ascii=False, indent=2) if as_json else str(result))


def tell(label: str, line: str) -> None:
    """What an arm says of itself, after its name; samples are left to its log."""
    if line.strip().startswith(SAID):
        typer.echo(f"{label}: {line.strip()}", err=True)


def _list(as_json: bool) -> None:
    from regard.recipe.reproduce import systems

    found = systems()
    if as_json:
        told = {name: asdict(table) for name, table in found.items()}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    width = max(map(len, ("system", *found)))
    typer.secho(f"{'system':<{width}}  minutes  claim", bold=True)
    for name, table in found.items():
        typer.echo(f"{name:<{width}}  {table.minutes:>7g}  {table.claim}")
