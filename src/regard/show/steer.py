"""Steering a model: what if it had looked elsewhere, or without one of its heads?

    with steer(model, [Pin(3, {7: 1.0})], [Off("cross", 0, 2)]):
        translator.search([line], options)

While piece 3 is written, everything that looks at the source looks at position 7 alone; the third head of the first
layer brings nothing home (Michel et al. 2019). All is computed in the open; for one source at a time, since a pin is
known by its step alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import UsageError
from regard.hooks import Looked, Weighed, hook
from regard.show.watch import places

SOURCE = ("cross", "image")


@dataclass(frozen=True)
class Pin:
    """Where to look while a piece is written: the shares of positions, in any unit; 0 for all not named.

    `step` counts the pieces of the output from 0, the end included. Of one kind, layer or head alone, if given.
    """

    step: int
    shares: Mapping[int, float]
    kind: str | None = None
    layer: int | None = None
    head: int | None = None

    def __post_init__(self) -> None:
        if self.step < 0:
            raise UsageError(f"pins: expected a step of 0 or more; found {self.step}.")
        if not all(place >= 0 and share >= 0 for place, share in self.shares.items()) or not self.total > 0:
            raise UsageError("pins: expected positions from 0 with shares of 0 or more, not all 0.")

    @property
    def total(self) -> float:
        """Of all shares."""
        return sum(self.shares.values())

    def row(self, count: int) -> Float[Tensor, " K"]:
        """The weights of so many positions; they sum to one."""
        if max(self.shares) >= count:
            raise UsageError(f"pins: there are {count} positions to look at, counted from 0; found {max(self.shares)}.")
        found = torch.zeros(count)
        for place, share in self.shares.items():
            found[place] = share / self.total
        return found


@dataclass(frozen=True)
class Off:
    """A head that brings nothing home; layers and heads are counted from 0."""

    kind: str
    layer: int
    head: int


@contextmanager
def steer(model: Any, pins: Sequence[Pin] = (), off: Sequence[Off] = ()) -> Iterator[None]:
    """Let a model look where `pins` say and not with the heads that are `off`, inside the block."""
    where = places(model)
    for each in off:
        if (each.kind, each.layer) not in where.values():
            known = ", ".join(f"{kind} {layer}" for kind, layer in sorted(set(where.values())))
            raise UsageError(f"heads_off: no layer {each.layer} of {each.kind} attention; there is {known or 'none'}.")

    def change(event: Weighed) -> None:
        kind, layer = where.get(id(event.module), ("", -1))
        for pin in pins:
            if _at(pin, kind, layer, event):
                event.weights = _pinned(event.weights, pin, pin.step - event.start)
        heads = [each.head for each in off if (each.kind, each.layer) == (kind, layer)]
        if heads:
            event.weights = _without(event.weights, heads)

    # Who only listens makes every look be made in the open, one row at a time.
    with hook(Weighed, change), hook(Looked, lambda event: None):
        yield


def _at(pin: Pin, kind: str, layer: int, event: Weighed) -> bool:
    """Is this pin for this look?"""
    inside = event.start <= pin.step < event.start + event.weights.shape[-2]
    meant = kind in SOURCE if pin.kind is None else kind == pin.kind
    return inside and meant and pin.layer in (None, layer)


def _pinned(weights: Float[Tensor, "*B Q K"], pin: Pin, query: int) -> Float[Tensor, "*B Q K"]:
    found, row = weights.clone(), pin.row(weights.shape[-1]).to(weights)
    if pin.head is None:
        found[..., query, :] = row
    else:
        _check_heads([pin.head], weights, "pins")
        (found if weights.dim() < 4 else found[:, pin.head])[..., query, :] = row
    return found


def _without(weights: Float[Tensor, "*B Q K"], heads: Sequence[int]) -> Float[Tensor, "*B Q K"]:
    _check_heads(heads, weights, "heads_off")
    if weights.dim() < 4:
        return torch.zeros_like(weights)
    found = weights.clone()
    found[:, list(heads)] = 0.0
    return found


def _check_heads(heads: Sequence[int], weights: Tensor, name: str) -> None:
    count = weights.shape[1] if weights.dim() == 4 else 1
    if any(not 0 <= head < count for head in heads):
        raise UsageError(f"{name}: there are {count} heads a layer, counted from 0; found {list(heads)}.")
