"""A recipe as it was read: values and tables that remember where they were written, and how two are laid over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

VERB = "translate"  # what the model of a recipe that does not say is used for


@dataclass(frozen=True)
class Leaf:
    """A plain value and the place it was written."""

    value: Any
    where: str


@dataclass(frozen=True)
class Table:
    """A table, the place it begins, and what it holds."""

    where: str
    entries: dict[str, Leaf | Table] = field(default_factory=dict)

    def part(self) -> str | None:
        """The part this table names, if it names one."""
        named = self.entries.get("part")
        return named.value if isinstance(named, Leaf) and isinstance(named.value, str) else None


def lay_over(below: Leaf | Table | None, above: Leaf | Table) -> Leaf | Table:
    """`above` changes `below`; a table that names another part replaces it whole."""
    if isinstance(below, Leaf) and isinstance(below.value, str) and isinstance(above, Table):
        below = Table(above.where, {"part": below})  # score = "dot" is short for a table that names its part
    if not isinstance(below, Table) or not isinstance(above, Table):
        return above
    if None not in (above.part(), below.part()) and above.part() != below.part():
        return above
    merged = dict(below.entries)
    for key, entry in above.entries.items():
        merged[key] = lay_over(merged.get(key), entry)
    return Table(above.where if above.part() else below.where, merged)


def nest(key: str, value: Any, where: str) -> Table:
    """`a.b = value` as tables in tables."""
    first, _, rest = key.partition(".")
    return Table(where, {first: nest(rest, value, where) if rest else planted(value, where)})


def planted(value: Any, where: str) -> Leaf | Table:
    """A value read in one go, as an inline table on the command line is."""
    if isinstance(value, dict):
        return Table(where, {key: planted(each, where) for key, each in value.items()})
    return Leaf(value, where)
