"""`regard systems`: every recipe, its paper, its task, what it shows, and the minutes of its trial."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.recipe.tree import Table


def systems(
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Every recipe that comes with Regard: its paper, its task, what it shows, the minutes of its trial.

    Example: regard systems
    """
    from regard.recipe.read import NAMED, read
    from regard.recipe.reproduce import systems as tried
    from regard.recipe.resolve import describe

    trials = tried()
    found = {
        name: {
            "task": _verb(tree := read(name)),
            **asdict(describe(tree.entries.get("about"), [])),
            "minutes": trials[name].minutes if name in trials else None,
        }
        for name in NAMED
    }
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for name, about in found.items():
        typer.secho(f"{name}", bold=True, nl=False)
        typer.echo(f"  ({about['task']})")
        trial = f"regard reproduce {name}: {about['minutes']:g} minutes" if about["minutes"] else ""
        for line in (about["paper"], about["shows"], trial):
            if line:
                typer.echo(f"    {line}")


def _verb(recipe: Table) -> str:
    """The command that uses a recipe's model, as its text says."""
    from regard.recipe.tree import VERB, Leaf, Table

    task = recipe.entries.get("task")
    verb = task.entries.get("verb") if isinstance(task, Table) else None
    return str(verb.value) if isinstance(verb, Leaf) else VERB
