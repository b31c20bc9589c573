"""`regard parts [KIND]`: every registered part with its settings."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from regard.cli import complete


def parts(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="score, scope, choice, encode, predict, ... Without it, all.", autocompletion=complete.kinds
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Every registered part with its settings.

    Example: regard parts score
    """
    from regard.registry import KINDS, names

    wanted = list(KINDS) if kind is None else [kind]
    found = {each: {name: _described(cls) for name, cls in names(each).items()} for each in wanted}
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for each, members in found.items():
        typer.secho(f"{each}: {KINDS[each][0]}", bold=True)
        for name, described in members.items():
            typer.echo(f"  {name:<20} {described['about']}")
            for setting in described["settings"]:
                typer.echo(f"    {setting['name'] + ' = ' + setting['default']:<34} {setting['about']}")


def _described(cls: type) -> dict[str, Any]:
    """A part as plain data."""
    from regard.recipe.write import toml
    from regard.registry import REQUIRED, Maker, settings, summary

    def shown(default: Any) -> str:
        if default is REQUIRED:
            return "?"
        if isinstance(default, Maker):
            return toml(default.name)
        return toml("none" if default is None else default)

    return {
        "about": summary(cls),
        "settings": [{"name": s.name, "default": shown(s.default), "about": s.about} for s in settings(cls).values()],
    }
