"""A memory that is held once a sentence, however many hypotheses look at it.

A beam of five has five rows for every sentence, and they all look at the same keys. Copied for each row, and copied
again whenever rows move, the keys cost more than the attention. Here rows only know whose they are; to look, those of
one sentence ask side by side, as several queries of one look.

And they bring home the same values. A matrix W that the context enters by (of a recurrent cell, of a readout) is
multiplied with each value once a sentence, not with each row's context at each step: W (sum a v) = sum a (W v).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.fast import shortcuts
from regard.fast.split_linear import input_linears
from regard.types import Attended, Attends, Prepared, Reorderable

Rows = Float[Tensor, "N D"]
KEPT = 0.75  # of the sentences must still be looked at; else those that are not are left behind
FEW = 16  # rows: to multiply their contexts is one small call, and to mix values that were multiplied more than one
SOON = 16  # steps after which to have multiplied every value must have paid


@dataclass(frozen=True)
class SharedMemory(Reorderable):
    """The prepared memory of every layer that looks. Row i belongs to sentence `owner[i]`; without owners, to i.

    Rows of one sentence can look `together` only if it does not matter where in the output a query stands. `passed` are
    values that went through a matrix, by layer and matrix.
    """

    layers: tuple[Prepared, ...]
    together: bool = False
    owner: Int[Tensor, " N"] | None = None
    passed: dict[Hashable, Float[Tensor, "B S F"]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._owners)

    def reorder(self, index: Int[Tensor, " N"]) -> SharedMemory:
        """The same memory with row `index[i]` at place i; the keys stay where they are, if they may."""
        if not self.together:
            return SharedMemory(tuple(layer.reorder(index) for layer in self.layers))
        return SharedMemory(
            self.layers, True, index if self.owner is None else self.owner[index], self.passed
        )._packed()

    def concatenate(self, *others: SharedMemory) -> SharedMemory:
        """The sentences of all, without what none of their rows may look at; for rows that look together."""
        parts = (self, *others)
        before = [0, *accumulate(len(part.layers[0].keys) for part in parts)]
        owner = torch.cat([part._owners + count for part, count in zip(parts, before, strict=False)])
        layers = zip(*(part.layers for part in parts), strict=True)
        return SharedMemory(tuple(first.concatenate(*more).looked_at() for first, *more in layers), True, owner)

    def look(
        self,
        layer: int,
        attend: Attends,
        query: Float[Tensor, "N Q D"],
        *,
        start: int | None,
        real: Bool[Tensor, "N Q"] | None,
    ) -> Attended:
        """Every row looks at its own sentence."""
        prepared = self.layers[layer]
        if self.owner is None:
            return attend(query, prepared, start=start, real=real)
        if not shortcuts():  # a watcher wants every row's own look
            return attend(query, prepared.reorder(self.owner), start=start, real=real)
        shared = Shared.of(attend(self.seated(query[:, 0]), prepared, start=start), self, layer)
        return shared if len(self) > FEW else Attended(shared.context, shared.look)

    def values_through(self, layer: int, linear: Callable[[Tensor], Tensor]) -> Float[Tensor, "B S F"] | None:
        """What a matrix makes of every value, worked out once; none where the rows are too few for that to pay."""
        if torch.is_grad_enabled():
            return None
        values, made = self.layers[layer].values, self.passed.get((layer, linear))
        if made is None and values.shape[:2].numel() <= SOON * len(self):
            made = self.passed[layer, linear] = linear(values)
        return made

    def seated(self, rows: Float[Tensor, "N D"]) -> Float[Tensor, "B W D"]:
        """The rows of each sentence side by side, zeros where it has fewer than another."""
        if self.owner is None:
            return rows.unsqueeze(1)
        seat, places = self._seats
        if seat is not None:
            rows = rows.new_zeros(len(self.layers[0].keys) * places, rows.shape[-1]).index_copy_(0, seat, rows)
        return rows.reshape(-1, places, rows.shape[-1])

    def own(self, found: Float[Tensor, "B W ..."]) -> Float[Tensor, "N ..."]:
        """Of what the rows of each sentence found, each row's own."""
        rows = found.flatten(0, 1)
        seat = None if self.owner is None else self._seats[0]
        return rows if seat is None else rows.index_select(0, seat)

    @cached_property
    def _seats(self) -> tuple[Int[Tensor, " N"] | None, int]:
        """Where each row sits in a table with a line for every sentence, and how many places a line has.

        All rows of one sentence alone are its line as they stand: no seats.
        """
        owner = self._owners
        if len(self.layers[0].keys) == 1:
            return None, len(owner)
        counts = owner.bincount(minlength=len(self.layers[0].keys))
        places = int(counts.max())
        order = owner.argsort(stable=True)
        before = counts.cumsum(0) - counts
        rank = torch.empty_like(owner)
        rank[order] = torch.arange(len(owner), device=owner.device) - before[owner[order]]
        return owner * places + rank, places

    @property
    def _owners(self) -> Int[Tensor, " N"]:
        keys = self.layers[0].keys
        return torch.arange(len(keys), device=keys.device) if self.owner is None else self.owner

    def _packed(self) -> SharedMemory:
        """Without the sentences that nobody looks at any more, once they are many."""
        if self.owner is None or not self.layers or len(self.layers[0].keys) == 1:
            return self
        used = torch.zeros(len(self.layers[0].keys), dtype=torch.bool, device=self.owner.device)
        used[self.owner] = True
        alive = used.nonzero().squeeze(1)
        if len(alive) > KEPT * len(used):
            return self
        layers = tuple(layer.reorder(alive) for layer in self.layers)
        passed = {which: values.index_select(0, alive) for which, values in self.passed.items()}
        return SharedMemory(layers, True, (used.cumsum(0) - 1)[self.owner], passed)


@dataclass(frozen=True)
class Shared(Attended):
    """What each row saw of a look that those of its sentence had side by side."""

    seen: Attended = field(kw_only=True)
    memory: SharedMemory = field(kw_only=True)
    layer: int = field(kw_only=True)

    @classmethod
    def of(cls, seen: Attended, memory: SharedMemory, layer: int) -> Shared:
        """Each row's own."""

        def look() -> Tensor:
            weights = seen.weights  # B W S, or B H W S
            return memory.own(weights if weights.dim() == 3 else weights.transpose(1, 2)).unsqueeze(-2)

        return cls(memory.own(seen.context).unsqueeze(1), look, seen=seen, memory=memory, layer=layer)

    def through(self, linear: Callable[[Tensor], Tensor]) -> Float[Tensor, "N 1 F"]:
        """What a linear layer without bias makes of the context."""
        values = None if self.seen.mix is None else self.memory.values_through(self.layer, linear)
        if values is None or self.seen.mix is None:
            return linear(self.context)
        return self.memory.own(self.seen.mix(values)).unsqueeze(1)


def linear_of_context(
    linear: nn.Module, looked: Attended, *, before: Rows | None = None, after: Rows | None = None
) -> Float[Tensor, "N F"]:
    """What a linear layer makes of a context with rows before or after it: W [before; context; after].

    Of values that rows share, W has made beforehand what it makes of them.
    """
    context = looked.context[:, 0]
    parts = [each for each in (before, context, after) if each is not None]
    split = input_linears(linear, *(each.shape[-1] for each in parts)) if isinstance(looked, Shared) else ()
    if not split:
        return linear(torch.cat(parts, -1))
    pairs = zip(split, parts, strict=True)
    made = [looked.through(own)[:, 0] if rows is context else own(rows) for own, rows in pairs]
    return sum(made[1:], made[0])


def share_memory(layers: Iterable[Prepared], *attends: Attends) -> SharedMemory:
    """What these attentions prepared, to be looked at together where none of them minds a query's place."""
    return SharedMemory(tuple(layers), not minds("follows", *attends))


def minds(what: str, *attends: Attends) -> bool:
    """Does any part of these attentions say of itself that it `follows` the query, or is `positional`?"""
    parts = (part for attend in attends if isinstance(attend, nn.Module) for part in attend.modules())
    return any(getattr(part, what, False) for part in parts)
