"""What parts hand to one another: small frozen dataclasses whose shapes are types.

Letters, here and in every module: B batch, S source, T target, Q queries, K keys, D width, H heads,
V vocabulary, C channels, E width of values, A width of keys as a score wants them; `*B` any leading axes
(a batch, or a batch and heads). One mask convention everywhere: True = may be looked at. Real positions
come first, padding after them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Any, Protocol, TypeVar, runtime_checkable

import torch
from annotated_types import Ge, Gt, Le, Lt
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.inputs import UNLABELLED as UNLABELLED
from regard.inputs import Batch as Batch
from regard.inputs import Branched as Branched
from regard.inputs import Choices as Choices
from regard.inputs import Codes as Codes
from regard.inputs import Episodes as Episodes
from regard.inputs import Features as Features
from regard.inputs import Grid as Grid
from regard.inputs import Input as Input
from regard.inputs import Labels as Labels
from regard.inputs import Masks as Masks
from regard.inputs import Padded as Padded
from regard.inputs import Segmented as Segmented
from regard.inputs import Values as Values
from regard.inputs import nothing as nothing

Count = Annotated[int, Gt(0)]
Whole = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Lt(1)]
Probability = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0)]
AtLeastZero = Annotated[float, Ge(0)]
Rows = TypeVar("Rows", bound="Reorderable")
Stands = TypeVar("Stands", bound="State")


@dataclass(frozen=True)
class Reorderable:
    """A value whose tensors have the batch as first axis, so that search may pick and repeat its rows."""

    def reorder(self: Rows, index: Int[Tensor, " N"]) -> Rows:
        """The same value with row `index[i]` at place i."""
        return replace(self, **{f.name: _reorder(getattr(self, f.name), index) for f in fields(self)})

    def concatenate(self: Rows, *others: Rows) -> Rows:
        """These rows, then those of the others."""
        return replace(
            self, **{f.name: _concatenated([getattr(e, f.name) for e in (self, *others)]) for f in fields(self)}
        )


def _reorder(value: Any, index: Tensor) -> Any:
    if isinstance(value, Tensor):
        return value.index_select(0, index)
    if isinstance(value, tuple):
        return tuple(_reorder(item, index) for item in value)
    if isinstance(value, Reorderable):
        return value.reorder(index)
    return value


def _concatenated(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, Tensor):
        return torch.cat(list(values))
    if isinstance(first, tuple):
        return tuple(_concatenated(each) for each in zip(*values, strict=True))
    if isinstance(first, Reorderable):
        return first.concatenate(*values[1:])
    return first


@dataclass(frozen=True)
class Recurrent(Reorderable):
    """The state of one recurrent layer: what it shows (hidden) and, in an LSTM, what it keeps (cell)."""

    hidden: Float[Tensor, "B D"]
    cell: Float[Tensor, "B D"] | None = None


@dataclass(frozen=True)
class Level(Reorderable):
    """What a network found of images at one size, on its way down or up: a grid of cells, and which are real."""

    data: Float[Tensor, "B C h w"]
    mask: Bool[Tensor, "B h w"]


@dataclass(frozen=True)
class Memory(Reorderable):
    """What an encoder hands on: keys and values to attend to, and what a decoder may start from.

    `summary` is one vector for the whole source; `final` holds the last state of each recurrent layer, bottom
    first; `grid` is the (height, width) of the positions where the source was an image; `gates`, where the encoder
    has an opinion of which positions are worth a look, are the log odds that each is open; `kept`, where it read with
    a tape of LSTM states, are the cells that belong to the values; `levels`, of a network that shrinks images step by
    step, are what it found at each size, finest first, the last being the positions themselves.
    """

    keys: Float[Tensor, "B S K"]
    values: Float[Tensor, "B S E"]
    mask: Bool[Tensor, "B S"]
    summary: Float[Tensor, "B Z"]
    final: tuple[Recurrent, ...] = ()
    grid: tuple[int, int] | None = None
    gates: Float[Tensor, "B S"] | None = None
    kept: Float[Tensor, "B S C"] | None = None
    levels: tuple[Level, ...] = ()

    @classmethod
    def of_codes(cls, codes: Codes) -> Memory:
        """Of a vector for each row: one position, which is the summary too."""
        return cls(codes.data, codes.data, codes.mask, codes.data[:, 0])

    def concatenate(self, *others: Memory) -> Memory:
        """The rows of all, as wide as the widest."""
        width = max(each.mask.shape[1] for each in (self, *others))
        return Reorderable.concatenate(*(each._filled(width) for each in (self, *others)))

    def _filled(self, width: int) -> Memory:
        spare = width - self.mask.shape[1]
        keys, values = (F.pad(rows, (0, 0, 0, spare)) for rows in (self.keys, self.values))
        gates = None if self.gates is None else F.pad(self.gates, (0, spare))
        kept = None if self.kept is None else F.pad(self.kept, (0, 0, 0, spare))
        return replace(self, keys=keys, values=values, mask=F.pad(self.mask, (0, spare)), gates=gates, kept=kept)


@dataclass(frozen=True)
class Widths:
    """The widths of an encoder's memory, known before anything runs, from which a decoder is built.

    `cells` says whether its last states are an LSTM's, `gates` whether it comes with gates; `kept` is the width of the
    cells that come with the values, 0 if none do; `levels` are the channels of what it found at each size.
    """

    keys: int
    values: int
    summary: int
    final: tuple[int, ...] = ()
    cells: bool = False
    gates: bool = False
    kept: int = 0
    levels: tuple[int, ...] = ()


@dataclass(frozen=True)
class Prepared(Reorderable):
    """Keys and values ready to be asked: projected once per sentence, not once per step.

    `mask` keeps an axis for queries, of size one unless each query has its own. `gates` is what a choice
    computed from the keys ahead of time, if it did.
    """

    keys: Float[Tensor, "*B K A"]
    values: Float[Tensor, "*B K E"]
    mask: Bool[Tensor, "*#B #Q K"]
    gates: Float[Tensor, "*B K"] | None = None

    @cached_property
    def lengths(self) -> Int[Tensor, "*#B #Q"]:
        """How many keys each query may look at, for scopes that measure positions."""
        return self.mask.sum(-1)

    def extend(self, other: Prepared) -> Prepared:
        """These keys followed by those: how self-attention remembers the steps before."""
        gates = None
        if self.gates is not None and other.gates is not None:
            gates = torch.cat((self.gates, other.gates), -1)
        return Prepared(
            torch.cat((self.keys, other.keys), -2),
            torch.cat((self.values, other.values), -2),
            torch.cat((self.mask, other.mask), -1),
            gates,
        )

    def concatenate(self, *others: Prepared) -> Prepared:
        """The rows of all; where keys are fewer, some that nobody may look at follow them."""
        count = max(each.keys.shape[-2] for each in (self, *others))
        return Reorderable.concatenate(*(each.filled(0, count - each.keys.shape[-2]) for each in (self, *others)))

    def filled(self, before: int, after: int) -> Prepared:
        """With so many keys more that nobody may look at, before and after these; with fewer, if below zero."""
        if not before and not after:
            return self
        ends, rows = (before, after), (0, 0, before, after)
        gates = None if self.gates is None else F.pad(self.gates, ends)
        return Prepared(F.pad(self.keys, rows), F.pad(self.values, rows), F.pad(self.mask, ends), gates)

    def looked_at(self) -> Prepared:
        """Without the keys at both ends that no row may look at."""
        seen = self.mask.flatten(0, -2).any(0).nonzero().squeeze(1)
        if not len(seen):
            return self
        return self.filled(-int(seen[0]), int(seen[-1]) + 1 - self.mask.shape[-1])


@dataclass(frozen=True)
class Attended:
    """What attention gives: the context, and the weights it looked with.

    The weights are made when someone asks for them: a fused kernel never has them in memory, and a local
    scope has only its window. `mix` is there where they are at hand: it mixes other values with them. `gates`, of a
    choice that has some, say which keys were open: 1 or 0 in use, and anything between while training.
    """

    context: Float[Tensor, "*B Q E"]
    look: Callable[[], Tensor] = field(repr=False)
    mix: Callable[[Float[Tensor, "*B K F"]], Float[Tensor, "*B Q F"]] | None = field(default=None, repr=False)
    gates: Tensor | None = field(default=None, repr=False)  # B K, or B H K

    def through(self, linear: Callable[[Tensor], Tensor]) -> Float[Tensor, "*B Q F"]:
        """What a linear layer makes of the context."""
        return linear(self.context)

    @cached_property
    def weights(self) -> Float[Tensor, "*B Q K"]:
        """How much each query looked at each key; a row that may look at nothing is all zero."""
        return self.look()


Modules = Any  # an nn.ModuleList, of whose members a type checker knows nothing


@runtime_checkable
class Embeds(Protocol):
    """What an embedder of tokens offers: its sizes, and the vectors of ids at given positions."""

    size: int
    width: int
    table: nn.Embedding

    def vectors(self, ids: Tensor, start: int | Tensor = 0) -> Tensor:
        """The vectors of ids that stand at positions start, start + 1, ...; each row may have a start of its own."""


@runtime_checkable
class Attends(Protocol):
    """What an attention offers: the width of its context, keys prepared once, and a look."""

    width: int

    def prepare(
        self, keys: Tensor, values: Tensor, mask: Tensor | None = None, start: int = 0, gates: Tensor | None = None
    ) -> Prepared:
        """Do once what every query will need of the keys. `gates` are the memory's, where it has some."""

    def __call__(
        self, query: Tensor, prepared: Prepared, *, start: int | None = None, real: Tensor | None = None
    ) -> Attended:
        """Look."""


@dataclass(frozen=True)
class State(Reorderable):
    """All that a decoder carries from step to step; each decoder adds its own fields.

    `step` is how many have been made. Rows that stand beside others that began later have a number each.
    """

    step: int | Int[Tensor, " B"]

    def reorder_in_place(self: Stands, index: Int[Tensor, " N"]) -> Stands:
        """As `reorder`, of a state that nobody will use again: what it held may be given up on the way."""
        return self.reorder(index)

    def counted(self: Stands, rows: int, device: torch.device) -> Stands:
        """The same, with a step for each of its rows: so that others may stand beside them."""
        if isinstance(self.step, Tensor):
            return self
        return replace(self, step=torch.full((rows,), self.step, device=device))


@dataclass(frozen=True)
class Stepped:
    """One step of a decoder: scores of the next piece, the state after it, what was looked at (by layer).

    The scores are made when someone asks for them, `some` rows at a time or all: `multiply` makes them of `rows`.
    Without it the rows are the scores.
    """

    rows: Float[Tensor, "B F"]
    state: State
    looked: tuple[Attended, ...] = ()
    multiply: Callable[[Tensor], Tensor] | None = None

    def some(self, part: slice) -> Float[Tensor, "N V"]:
        """The scores of some rows."""
        return self.rows[part] if self.multiply is None else self.multiply(self.rows[part])

    @cached_property
    def logits(self) -> Float[Tensor, "B V"]:
        """The score of every piece."""
        return self.some(slice(None))


@dataclass(frozen=True)
class Taught:
    """All steps of a decoder at once, given the right pieces; `looked` by layer, each with T queries.

    The scores are made when someone asks for them, from `rows` and the vocabulary's `table` and `bias`: a loss can
    do with less than all of them at once. Without a table the rows are the scores.
    """

    rows: Float[Tensor, "B T F"]
    looked: tuple[Attended, ...] = ()
    table: Float[Tensor, "V F"] | None = None
    bias: Float[Tensor, " V"] | None = None

    @cached_property
    def logits(self) -> Float[Tensor, "B T V"]:
        """The score of every piece at every step."""
        return self.rows if self.table is None else F.linear(self.rows, self.table, self.bias)


@dataclass(frozen=True)
class Labelled:
    """A label for the whole source: the score of each class, and what was looked at to find it."""

    logits: Float[Tensor, "B N"]
    looked: tuple[Attended, ...] = ()


@dataclass(frozen=True)
class Tagged:
    """A tag for every position of the source: the score of each, and what was looked at to find them."""

    logits: Float[Tensor, "B S N"]
    looked: tuple[Attended, ...] = ()


@dataclass(frozen=True)
class Filled:
    """The score of every piece at every position of the source, or at those that were asked for.

    `follows` scores, where a model tells it, whether the second of two texts follows the first: no, yes.
    """

    logits: Float[Tensor, "*B V"]
    follows: Float[Tensor, "B 2"] | None = None
    looked: tuple[Attended, ...] = ()


@dataclass(frozen=True)
class Encoded:
    """A vector for each source, and what was looked at to make it."""

    vectors: Float[Tensor, "B E"]
    looked: tuple[Attended, ...] = ()


@dataclass(frozen=True)
class PixelLogits:
    """The score of each class at every pixel, and what gates let through, coarsest first, in the cells of each.

    `deep` has the scores at coarser sizes, each half the one before, of a model that is taught there too.
    """

    logits: Float[Tensor, "B N h w"]
    gates: tuple[Float[Tensor, "B _ _"], ...] = ()
    deep: tuple[Float[Tensor, "B N _ _"], ...] = ()


@dataclass(frozen=True)
class Rendered:
    """An image for each source: its numbers, of which `squashed` ones are yet to go through a sigmoid."""

    numbers: Float[Tensor, "B C h w"]
    squashed: bool = False
    looked: tuple[Attended, ...] = ()

    @property
    def logits(self) -> Float[Tensor, "B C h w"]:
        """The numbers, by the name that other outputs have for them."""
        return self.numbers

    @cached_property
    def pixels(self) -> Float[Tensor, "B C h w"]:
        """The light of each pixel: 0 is none, 1 is all."""
        return self.numbers.sigmoid() if self.squashed else self.numbers
