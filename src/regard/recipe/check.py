"""Checking a recipe against the constructors it names, before anything is built. Every mistake is told at once."""

from __future__ import annotations

import json
import typing
from types import NoneType, UnionType
from typing import Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import TypeAdapter, ValidationError

from regard.errors import Problem, did_you_mean, nearest
from regard.recipe.tree import Leaf, Table, lay_over
from regard.registry import REQUIRED, Maker, Setting, given, names, settings

_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
_BOUNDS = {Gt: ("greater than", "gt"), Ge: ("at least", "ge"), Lt: ("less than", "lt"), Le: ("at most", "le")}


def check(kind: str, table: Table, key: str, problems: list[Problem]) -> Maker:
    """The maker that a table describes, with every default filled in; mistakes go to `problems`."""
    known = names(kind)
    name = table.part()
    if name is None or name not in known:
        problems.append(_unknown_part(kind, table, key, list(known)))
        return Maker(kind, name or "?")
    cls, wanted, found = known[name], settings(known[name]), {}
    for written, entry in table.entries.items():
        if written != "part" and written not in wanted:
            problems.append(_unknown_setting(kind, name, written, entry, key, cls))
    for setting in wanted.values():
        found[setting.name] = _filled(setting, table, f"{key}.{setting.name}".lstrip("."), problems)
    return Maker(kind, name, found)


def _filled(setting: Setting, table: Table, key: str, problems: list[Problem]) -> Any:
    """One setting: what is written, over what is the default."""
    written = table.entries.get(setting.name)
    if written is None and setting.default is REQUIRED:
        problems.append(_missing(setting, table, key))
        return None
    if setting.kind is None:
        return setting.default if written is None else plain(setting, written, key, problems)
    optional = NoneType in typing.get_args(setting.type)
    if isinstance(written, Leaf) and written.value == "none" and optional:
        return None
    if isinstance(written, Leaf):
        if not isinstance(written.value, str):
            problems.append(
                Problem(
                    written.where,
                    key,
                    f"expected {_a(setting.kind)}; found {_show(written.value)}.",
                    f'Write a table [{key}] with part = "...", or the part\'s name.',
                )
            )
            return None
        written = Table(written.where, {"part": written})
    default = _default(setting, table.where)
    if default is None and written is None:
        return None
    both = written if default is None else default if written is None else lay_over(default, written)
    return check(setting.kind, typing.cast(Table, both), key, problems)


def _default(setting: Setting, where: str) -> Table | None:
    """A default maker as a table, so that a recipe may change one setting of it."""
    return as_table(setting.default, where) if isinstance(setting.default, Maker) else None


def as_table(maker: Maker, where: str) -> Table:
    """A maker as the table that would be written for it."""
    entries: dict[str, Leaf | Table] = {"part": Leaf(maker.name, where)}
    for name, value in maker.settings.items():
        if isinstance(value, Maker):
            entries[name] = as_table(value, where)
        else:
            entries[name] = Leaf("none" if value is None else value, where)
    return Table(where, entries)


def plain(setting: Setting, written: Leaf | Table, key: str, problems: list[Problem]) -> Any:
    """A plain value, if it has the type of the signature."""
    expected = _describe(setting.type)
    if isinstance(written, Table):
        problems.append(Problem(written.where, key, f"expected {expected}; found a table.", _instead(setting)))
        return setting.default
    try:
        # Through JSON, where strict checking lets a list be a tuple and a whole number a number, and no more.
        return TypeAdapter(setting.type).validate_json(json.dumps(written.value, default=str), strict=True)
    except ValidationError:
        problems.append(
            Problem(
                written.where,
                key,
                f"expected {expected}; found {_show(written.value)}.",
                _instead(setting, written.value),
            )
        )
        return setting.default


def _describe(kind: Any) -> str:
    """A type in words."""
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(json.dumps(option) for option in typing.get_args(kind))
    if typing.get_origin(kind) in (typing.Union, UnionType):
        return " or ".join(map(_describe, typing.get_args(kind)))
    if typing.get_origin(kind) is typing.Annotated:
        bounds = [
            f"{_BOUNDS[type(b)][0]} {getattr(b, _BOUNDS[type(b)][1])}" for b in kind.__metadata__ if type(b) in _BOUNDS
        ]
        return " ".join((_describe(kind.__origin__), " and ".join(bounds))).strip()
    if typing.get_origin(kind) is tuple:
        first, *rest = typing.get_args(kind)
        if rest == [Ellipsis]:
            return f"a list [...] with {_describe(first)} in each place"
        return "a list [" + ", ".join(map(_describe, (first, *rest))) + "]"
    return _WORDS.get(kind, str(kind))


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def _show(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _instead(setting: Setting, value: Any = None) -> str | None:
    """What to write: the option nearest to what was written, or the default."""
    guess = nearest(value, _options(setting.type)) if isinstance(value, str) else None
    example = guess if guess is not None else setting.default
    return None if example is REQUIRED or example is None else f"Write {setting.name} = {_show(example)}."


def _options(kind: Any) -> tuple[Any, ...]:
    """The words that may be written, where there are some."""
    if typing.get_origin(kind) in (typing.Union, UnionType):
        return tuple(option for each in typing.get_args(kind) for option in _options(each))
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def _unknown_part(kind: str, table: Table, key: str, known: list[str]) -> Problem:
    written = table.entries.get("part")
    if written is None:
        return Problem(
            table.where,
            key or kind,
            f"the table does not say which {kind} it is; there are {', '.join(known)}.",
            f'Write part = "{known[0]}".' if known else None,
        )
    value = written.value if isinstance(written, Leaf) else "a table"
    return Problem(
        written.where,
        f"{key}.part".lstrip("."),
        f"no {kind} is called '{value}'; there are {', '.join(known)}.",
        did_you_mean(str(value), known),
        f"the {kind} '{value}'",
    )


def _unknown_setting(kind: str, name: str, written: str, entry: Leaf | Table, key: str, cls: type) -> Problem:
    full = f"{key}.{written}".lstrip(".")
    if written in given(cls):
        return Problem(
            entry.where,
            full,
            f"the {kind} '{name}' is given '{written}' by its owner; a recipe cannot set it.",
            "Take the line out.",
        )
    known = list(settings(cls))
    return Problem(
        entry.where,
        full,
        f"the {kind} '{name}' has no setting '{written}'; it has {', '.join(known) or 'none'}.",
        did_you_mean(written, known),
    )


def _missing(setting: Setting, table: Table, key: str) -> Problem:
    if setting.kind is not None:
        known = ", ".join(names(setting.kind))
        return Problem(
            table.where,
            key,
            f"missing; it names {_a(setting.kind)}: {known}.",
            f'Add a table [{key}] with part = "...".',
        )
    return Problem(table.where, key, f"missing; expected {_describe(setting.type)}.")
