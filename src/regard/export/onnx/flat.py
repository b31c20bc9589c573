"""A decoder's state as named tensors, and back: `layers.0.hidden`, `memory.layers.0.keys`, `past.1.values` ...

A state is made of values that reorder and tuples of them (`regard.types.Reorderable`), so that one walk finds the
tensors of every decoder there is or will be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from torch import Tensor

from regard.types import Reorderable


def named_tensors(value: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every tensor in a value, by the way to it."""
    if isinstance(value, Tensor):
        yield name, value
    for key, inner in _inside(value):
        yield from named_tensors(inner, f"{name}.{key}" if name else key)


def with_tensors(value: Any, tensors: Mapping[str, Tensor], name: str = "") -> Any:
    """The same value with other tensors in the places of its own."""
    if isinstance(value, Tensor):
        return tensors[name]
    inside = {key: with_tensors(inner, tensors, f"{name}.{key}" if name else key) for key, inner in _inside(value)}
    if isinstance(value, tuple):
        return tuple(inside.values())
    return replace(value, **inside) if isinstance(value, Reorderable) else value


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value is made of, by name."""
    if isinstance(value, tuple):
        yield from ((str(number), inner) for number, inner in enumerate(value))
    elif isinstance(value, Reorderable):
        yield from ((each.name, getattr(value, each.name)) for each in fields(value))
