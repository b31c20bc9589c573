"""What an export asks of a model's parts, in words: what was expected, and what was found in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from regard.attend.attention import Attention
from regard.attend.choice import Soft
from regard.attend.heads import Heads
from regard.registry import KINDS, names


def expected(key: str, wanted: str, found: Any) -> str:
    """A part of another name, or none, stands at `key`."""
    return f"{key}: expected {wanted}; found {part_name(found)}."


def part_name(found: Any) -> str:
    """The name that a recipe knows a part by, or that of its class."""
    if found is None:
        return "none"
    known = (name for kind in KINDS for name, cls in names(kind).items() if cls is type(found))
    return next(known, type(found).__name__)


def plain_heads(key: str, attend: Any, scores: dict[type, str], scopes: tuple[type, ...]) -> Iterator[str]:
    """What is in the way of heads of plain attention. A subclass may do anything, so only the very classes count."""
    if type(attend) is not Heads:
        yield expected(key, "heads", attend)
    elif type(attend.attend) is not Attention:
        yield expected(f"{key}.attend", "attention", attend.attend)
    else:
        inner = attend.attend
        if type(inner.score) not in scores:
            yield expected(f"{key}.attend.score", " or ".join(scores.values()), inner.score)
        if type(inner.scope) not in scopes:
            yield expected(f"{key}.attend.scope", "global", inner.scope)
        if type(inner.choice) is not Soft:
            yield expected(f"{key}.attend.choice", "soft", inner.choice)
