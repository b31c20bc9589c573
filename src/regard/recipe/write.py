"""Writing a resolved recipe: every setting visible, commented from the docstrings, and readable again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from regard.recipe.resolve import Recipe
from regard.registry import Maker, find, own_parts, settings, summary

_COMMENT_AT = 36


def write(recipe: Recipe) -> str:
    """The recipe as TOML; its head says which parts it needs that do not come with Regard."""
    lines = [*(f"# {line}" for line in needs(recipe)), *_settings(recipe.model)]
    lines += ["", "[about]", *(f"{key} = {toml(value)}" for key, value in asdict(recipe.about).items())]
    for name, value in recipe.model.settings.items():
        if isinstance(value, Maker):
            lines += _table(name, value)
    return "\n".join([*lines, *_table("task", recipe.task), *_table("train", recipe.train)]) + "\n"


def needs(recipe: Recipe) -> list[str]:
    """Which parts of somebody's own a recipe needs, and how they are given to it; nothing where it needs none."""
    found = own_parts(recipe.model) | own_parts(recipe.task) | own_parts(recipe.train)
    if not found:
        return []
    files = " ".join(f"--parts {file}" for file in dict.fromkeys(found.values()))
    told = ", ".join(f"{part} of {file}" for part, file in found.items())
    return [f"Needs parts that do not come with Regard: {told}.", f"Every command begins with: regard {files}"]


def _table(key: str, maker: Maker) -> list[str]:
    """A part's table and the tables of the parts it is given."""
    lines = ["", f"[{key}]", *_settings(maker)]
    for name, value in maker.settings.items():
        if isinstance(value, Maker):
            lines += _table(f"{key}.{name}", value)
    return lines


def _settings(maker: Maker) -> list[str]:
    cls = find(maker.kind, maker.name)
    lines = [_line("part", maker.name, summary(cls))]
    for setting in settings(cls).values():
        value = maker.settings[setting.name]
        if not isinstance(value, Maker):
            lines.append(_line(setting.name, "none" if value is None else value, setting.about))
    return lines


def _line(key: str, value: Any, comment: str) -> str:
    text = f"{key} = {toml(value)}"
    return f"{text:<{_COMMENT_AT}}  # {comment}" if comment else text


def toml(value: Any) -> str:
    """A plain value as TOML."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which TOML forbids and JSON does not
