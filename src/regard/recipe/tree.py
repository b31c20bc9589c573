"""A recipe as it was read: values and tables that remember where they were written, and how two are laid over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
        below = Table(below.where, {"part": below})  # score = "dot" is short for a table that names its part
    if not isinstance(below, Table) or not isinstance(above, Table):
        return above
    if above.part() is not None and above.part() != below.part():
        return above
    merged = dict(below.entries)
    for key, entry in above.entries.items():
        merged[key] = lay_over(merged.get(key), entry)
    return Table(above.where, merged)


def nest(key: str, value: Any, where: str) -> Table:
    """`a.b = value` as tables in tables."""
    first, _, rest = key.partition(".")
    return Table(where, {first: nest(rest, value, where) if rest else Leaf(value, where)})
