"""Steps of a simple Transformer decoder in use, straight on, with little to do beside its products.

A decoder is simple if its heads score by dot products, look at every key and share it out softly, as in the paper. It
may have a source to look at, or none. Then

- the past lies in tables with room for pieces to come: a step fills one place, where to extend would copy all of it;
- rows of large tables move into memory that another table has just left: there is one more than there are tables, for a
  whole search, where tables that shrink and grow would leave holes behind them that are larger than they are;
- what may not be looked at is a number (-inf) that the product which scores the keys begins with;
- in half precision rows are filled up to whole tiles once a step, and not for each of its products.

Letters: N rows, M rows with those that fill up, B sentences, W rows of a sentence, H heads, d numbers of a head, R room
for pieces, S source positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard.fast import shortcuts
from regard.fast.kv_cache import TransformerState
from regard.fast.shared_memory import SharedMemory
from regard.types import Attended, Embeds, Memory, Modules, Prepared, State

LARGE = 3 << 20  # bytes of a table from which on memory is used again: small ones leave small holes, and come quicker
TILE = 16  # rows of half-precision products; places that the room of the past grows by; the fewest keys of a look


@runtime_checkable
class Heads(Protocol):
    """What is asked of heads that say of themselves that they are `simple`."""

    heads: int
    width: int
    attend: Any
    of_query: Callable[[Tensor], Tensor]
    of_key: Callable[[Tensor], Tensor]
    of_value: Callable[[Tensor], Tensor]
    join: Callable[[Tensor], Tensor]


Tables = tuple[Float[Tensor, "MH R d"], Float[Tensor, "MH R d"]]


@dataclass(frozen=True)
class StaticCacheState(State):
    """The memory, if there is one, and each layer's past keys and values in tables with room.

    States that follow one another share tables. `taken` is how many of their places anybody has filled: who steps from
    a state that was stepped from before copies the tables first.
    """

    step: int
    memory: SharedMemory | None
    hidden: Float[Tensor, "BH 1 S"] | None
    width: int
    count: int
    rows: int
    past: list[Tables]
    taken: list[int] = field(default_factory=lambda: [0])
    free: Float[Tensor, " F"] | None = None

    def reorder(self, index: Int[Tensor, " N"]) -> StaticCacheState:
        """Row `index[i]` at place i."""
        moved = [(self._picked(keys, index, None), self._picked(values, index, None)) for keys, values in self.past]
        return self._with(index, moved, None)

    def reorder_in_place(self, index: Int[Tensor, " N"]) -> StaticCacheState:
        """The same, table by table, each into what the one before has left: this state is given up."""
        free, moved = self.free, []
        while self.past:
            tables = []
            for table in self.past.pop(0):
                tables.append(self._picked(table, index, free))
                free = _memory_of(table) if table.nbytes >= LARGE else None
            moved.append((tables[0], tables[1]))
        return self._with(index, moved, free)

    def _with(self, index: Int[Tensor, " N"], past: list[Tables], free: Tensor | None) -> StaticCacheState:
        memory, hidden, rows = self.memory, self.hidden, _filled_up(len(index), past[0][0])
        if memory is not None:
            layers, memory = memory.layers, memory.reorder(index)
            hidden = hidden if memory.layers is layers else _hidden(memory.layers)
        return replace(
            self, memory=memory, hidden=hidden, count=len(index), rows=rows, past=past, taken=[self.step], free=free
        )

    def _picked(
        self, table: Float[Tensor, "MH R d"], index: Int[Tensor, " N"], free: Float[Tensor, " F"] | None
    ) -> Float[Tensor, "M2H R2 d"]:
        """These rows of a table, and those that fill up; with room for more if it is full."""
        heads, room, size = len(table) // self.rows, table.shape[1], table.shape[2]
        rows, more = _filled_up(len(index), table), TILE if self.step == room else 0
        found = _placed(free, (rows, heads, room + more, size), table)
        if more:
            found[: len(index), :, :room] = table.view(self.rows, heads, room, size).index_select(0, index)
            found[:, :, room:] = 0
        else:
            torch.index_select(table.view(self.rows, *found.shape[1:]), 0, index, out=found[: len(index)])
        found[len(index) :] = 0
        return found.flatten(0, 1)

    def counted(self, rows: int, device: torch.device) -> TransformerState:  # type: ignore[override]
        """The same as a state beside which others may stand."""
        pasts = []
        for keys, values in self.past if self.step else ():
            mask = torch.ones(self.count, 1, 1, self.step, dtype=torch.bool, device=device)
            pasts.append(Prepared(self._written(keys), self._written(values), mask))
        return TransformerState(self.step, self.memory, tuple(pasts)).counted(rows, device)

    def _written(self, table: Float[Tensor, "MH R d"]) -> Float[Tensor, "N H T d"]:
        return table.view(self.rows, -1, *table.shape[1:])[: self.count, :, : self.step]

    @property
    def room(self) -> int:
        """How many pieces the tables can hold."""
        return self.past[0][0].shape[1]

    def opened(self) -> StaticCacheState:
        """The same with a place to fill, which is nobody else's."""
        past, taken = self.past, self.taken
        if self.room == self.step:
            # Layer by layer, for all states that share the tables, so that never do two copies of all stand side by
            # side. What the states have written stays what it is.
            for number, (keys, values) in enumerate(past):
                past[number] = _longer(keys), _longer(values)
        elif taken[0] > self.step:
            past, taken = [(keys.clone(), values.clone()) for keys, values in past], [self.step]
        taken[0] = self.step + 1
        return replace(self, past=past, taken=taken)


def is_simple(layers: Modules) -> bool:
    """Are all looks of these decoder layers heads whose scores are dot products, over every key, soft?"""
    looks = [look for layer in layers for look in (layer.self_attend, layer.attend) if look is not None]
    return all(getattr(look, "simple", False) for look in looks)


def in_use() -> bool:
    """Does nobody want gradients, a graph, or to watch every look?"""
    return not torch.is_grad_enabled() and not torch.compiler.is_compiling() and shortcuts()


def begin(layers: Modules, held: SharedMemory | None, memory: Memory) -> StaticCacheState | None:
    """The state before the first step; none if a source has nothing that may be looked at."""
    count, width = memory.mask.shape
    if not count or (held is not None and not bool(memory.mask.any(1).all())):
        return None
    wide, hidden, like = held, None, memory.values if held is None else held.layers[0].values
    if held is not None:
        wide = replace(held, layers=tuple(each.filled(0, max(0, TILE - width)) for each in held.layers))
        hidden = _hidden(wide.layers)
    rows = _filled_up(count, like)
    past = [_empty(rows, layer.self_attend, like) for layer in layers]
    return StaticCacheState(0, wide, hidden, width, count, rows, past)


def remembering(state: StaticCacheState, past: Sequence[Prepared]) -> StaticCacheState:
    """A state that no step was made from, after pieces that were read at once: their prepared keys in its tables."""
    count = past[0].keys.shape[-2]
    room = count + -count % TILE
    tables = [(_tabled(each.keys, state.rows, room), _tabled(each.values, state.rows, room)) for each in past]
    return replace(state, step=count, past=tables, taken=[count])


def _tabled(written: Float[Tensor, "N H T d"], rows: int, room: int) -> Float[Tensor, "MH R d"]:
    """Keys or values as a table with room for more."""
    return F.pad(written, (0, 0, 0, room - written.shape[2], 0, 0, 0, rows - len(written))).flatten(0, 1)


def through(
    layers: Modules, embed: Embeds, token: Int[Tensor, " N"], state: StaticCacheState
) -> tuple[Float[Tensor, "M D"], StaticCacheState, tuple[Attended, ...]]:
    """One more position: what comes out of the layers, the state, the memory's looks."""
    state, looked = state.opened(), []
    filled = F.pad(token, (0, state.rows - state.count)) if state.rows > state.count else token
    rows = embed.vectors(filled.unsqueeze(1), state.step).squeeze(1)
    ahead = rows.new_zeros(state.room)
    ahead[state.step + 1 :] = -torch.inf
    for number, layer in enumerate(layers):
        rows = layer.around_self(rows, partial(_look_back, layer.self_attend, state, state.past[number], ahead))
        if (memory := state.memory) is not None:

            def look(
                some: Tensor, heads: Heads = layer.attend, memory: SharedMemory = memory, number: int = number
            ) -> Tensor:
                context, seen = _look_at_source(heads, some, state, memory, number)
                looked.append(seen)
                return context

            rows = layer.around_attend(rows, look)
        rows = layer.around_feed(rows, layer.feed)
    return rows, replace(state, step=state.step + 1), tuple(looked)


def _look_back(
    heads: Heads, state: StaticCacheState, past: Tables, ahead: Float[Tensor, " R"], rows: Float[Tensor, "M D"]
) -> Float[Tensor, "M D"]:
    """Write this position into the past, and look at all of it."""
    keys, values = past
    one = len(keys), 1, keys.shape[-1]
    keys[:, state.step] = heads.attend.score.prepare(heads.of_key(rows).view(one), state.step)[:, 0]
    values[:, state.step] = heads.of_value(rows).view(one)[:, 0]
    context, _ = _look(heads, heads.of_query(rows).view(one), keys, values, ahead)
    return heads.join(context.view(len(rows), heads.width))


def _look_at_source(
    heads: Heads, rows: Float[Tensor, "M D"], state: StaticCacheState, memory: SharedMemory, number: int
) -> tuple[Float[Tensor, "M D"], Attended]:
    """Every row looks at its own sentence; those of one sentence ask side by side."""
    spare, size = len(rows) - state.count, heads.width // heads.heads
    table = memory.seated(heads.of_query(rows)[: state.count])  # B W D
    layer, places = memory.layers[number], table.shape[1]
    asked = table.view(-1, 1, size) if places == 1 else _apart(table, heads.heads)
    context, weights = _look(heads, asked, layer.keys.flatten(0, 1), layer.values.flatten(0, 1), state.hidden)
    own = memory.own(context.view(table.shape) if places == 1 else _joined(context, heads.heads))
    found = heads.join(F.pad(own, (0, 0, 0, spare)) if spare else own)
    look = partial(_weights_of, weights, heads, memory, state.width)
    return found, Attended(found[: state.count].unsqueeze(1), look)


def _apart(table: Float[Tensor, "B W D"], heads: int) -> Float[Tensor, "BH W d"]:
    return table.unflatten(-1, (heads, -1)).transpose(1, 2).flatten(0, 1)


def _joined(context: Float[Tensor, "BH W d"], heads: int) -> Float[Tensor, "B W D"]:
    return context.unflatten(0, (-1, heads)).transpose(1, 2).flatten(2)


def _weights_of(
    weights: Float[Tensor, "BH W S"], heads: Heads, memory: SharedMemory, width: int
) -> Float[Tensor, "N H 1 K"]:
    """What each row looked at with each head."""
    each = weights.unflatten(0, (-1, heads.heads)).transpose(1, 2)
    return memory.own(each).unsqueeze(-2)[..., :width]


def _look(
    heads: Heads,
    asked: Float[Tensor, "BH W d"],
    keys: Float[Tensor, "BH S d"],
    values: Float[Tensor, "BH S d"],
    hidden: Float[Tensor, "..."] | None,
) -> tuple[Float[Tensor, "BH W d"], Float[Tensor, "BH W S"]]:
    """The context and the weights. Half-precision scores are normalised in full."""
    turned, scale = keys.transpose(1, 2), heads.attend.score.scale or 1.0
    if hidden is None:
        scores = torch.bmm(asked, turned).mul_(scale)
    else:
        scores = torch.baddbmm(hidden, asked, turned, alpha=scale)
    if scores.element_size() > 2:
        weights = torch.softmax(scores, -1)
    else:
        weights = torch.softmax(scores, -1, dtype=torch.float32).to(scores.dtype)
    return torch.bmm(weights, values), weights


def _hidden(layers: tuple[Prepared, ...]) -> Float[Tensor, "BH 1 S"] | None:
    """-inf where a source has nothing that may be looked at, else zero; None if all may be."""
    mask, keys = layers[0].mask, layers[0].keys
    if bool(mask.all()):
        return None
    hidden = torch.zeros(mask.shape, dtype=keys.dtype, device=keys.device).masked_fill_(~mask, -torch.inf)
    return hidden.expand(-1, keys.shape[1], -1, -1).flatten(0, 1)


def _empty(rows: int, heads: Heads, like: Tensor) -> Tables:
    """Tables without a past."""
    shape = rows * heads.heads, TILE, heads.width // heads.heads
    return like.new_zeros(shape), like.new_zeros(shape)


def _filled_up(count: int, like: Tensor) -> int:
    """So many rows, in half precision with those that fill up the last tile; but a tile alone need not be full."""
    return count + (-count % TILE if count > TILE and like.element_size() == 2 else 0)


def _placed(free: Float[Tensor, " F"] | None, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """A tensor of that shape: in free memory if there is enough, else in its own."""
    count = math.prod(shape)
    return like.new_empty(shape) if free is None or len(free) < count else free[:count].view(shape)


def _memory_of(table: Float[Tensor, "MH R d"]) -> Float[Tensor, " F"]:
    """All the memory that a table lies in, which may be more than it needs."""
    whole = table.untyped_storage()
    return table.new_empty(0).set_(whole, 0, (whole.nbytes() // table.element_size(),), (1,))


def _longer(table: Float[Tensor, "MH R d"]) -> Float[Tensor, "MH R2 d"]:
    """The same with room for a tile more."""
    return F.pad(table, (0, 0, 0, TILE))
