"""A quiet line from deep inside a model to whoever wants to hear, without flags threaded through the code.

Parts `tell` events; `with listening(Kind, hear)` calls `hear(event)` for each event of that kind told in the
block. Nobody listening costs one look at a context variable. Watching (`Looked`; `Masked`, where a mask is laid over
an image), other weights in the place of an attention's own (`Weighed`), the tree of a search (`Grown`) and extra terms
of a loss (`LossTerm`) travel this way.
The other way a decoder says which piece it is at (`writing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

Event = TypeVar("Event")
_hooks: ContextVar[tuple[tuple[type, Callable[[Any], None]], ...]] = ContextVar("hooks", default=())
_written: ContextVar[int | None] = ContextVar("written", default=None)


@dataclass(frozen=True)
class Looked:
    """An attention looked: which module, from which position on, with which weights."""

    module: nn.Module
    start: int
    weights: Float[Tensor, "*B Q K"]


@dataclass
class Weighed:
    """An attention has its weights, and has not used them yet: who listens may put others in their place."""

    module: nn.Module
    start: int
    weights: Float[Tensor, "*B Q K"]


@dataclass(frozen=True)
class Masked:
    """A mask M was laid over a grid of cells F: which module made it, and the grid before and after it.

    `real` says which cells are no padding, `formula` how what is after came of M and F.
    """

    module: nn.Module | None
    before: Float[Tensor, "B C h w"]
    mask: Float[Tensor, "B C h w"]
    after: Float[Tensor, "B C h w"]
    real: Bool[Tensor, "B h w"]
    formula: str


@dataclass(frozen=True)
class Grown:
    """A step of a search: of each hypothesis that was picked the row that it continues, its new piece and its
    log-likelihood so far, whether it ends; and which of them go on, as the rows of the next step.
    """

    parent: Int[Tensor, " M"]
    piece: Int[Tensor, " M"]
    likelihood: Float[Tensor, " M"]
    ended: Bool[Tensor, " M"]
    going: Int[Tensor, " N"]


@dataclass(frozen=True)
class Reward:
    """How well items were predicted: log p of each piece under the whole model, and which pieces are real.

    An item of which only log p in all is known has one piece. Where each was predicted several times, with draws of
    their own, all items follow one another as often (`samples`).
    """

    pieces: Float[Tensor, "B T"]
    real: Bool[Tensor, "B T"]
    samples: int = 1

    @cached_property
    def mean(self) -> Float[Tensor, ""]:
        """log p of a piece: the mean of each item's pieces, and of the items."""
        return (self.pieces.sum(1) / self.real.sum(1).clamp(min=1)).mean()

    def to_go(
        self, first: int | None, count: int, discount: float = 1.0
    ) -> tuple[Float[Tensor, "B #Q"], Shaped[Tensor, "B #Q"]]:
        """log p of all pieces from `first` on, from the next on ..., for so many; and how many real ones these are.

        With a `discount` below 1 each piece counts so much less than the one before it, here and there. Of the whole
        item where `first` is not known.
        """
        if first is None or self.pieces.shape[1] == 1:
            return self._left[0][:, :1], self._left[1][:, :1]
        found = self._left if discount == 1 else self._discounted(discount)
        gained, left = (each[:, first : first + count] for each in found)
        return gained, left

    def of_others(self, gained: Float[Tensor, "B Q"]) -> Float[Tensor, "B Q"]:
        """What the other samples of each item gained, on average."""
        each = gained.view(self.samples, -1, gained.shape[-1])
        return ((each.sum(0) - each) / (self.samples - 1)).view_as(gained)

    def _discounted(self, discount: float) -> tuple[Tensor, Tensor]:
        """Of piece k for the look at piece t: discount to the power of k - t, and nothing of those before it."""
        places = torch.arange(self.pieces.shape[1], device=self.pieces.device)
        later = places.unsqueeze(1) - places
        shares = (discount ** later.clamp(min=0)).tril().to(self.pieces.dtype)
        return self.pieces @ shares, self.real.to(shares.dtype) @ shares

    @cached_property
    def _left(self) -> tuple[Tensor, Tensor]:
        gained, left = (each.flip(1).cumsum(1).flip(1) for each in (self.pieces, self.real))
        return gained, left


@dataclass(frozen=True)
class LossTerm:
    """A term that a part adds to the loss, as a function of how well the items were predicted.

    Hard attention needs it: how good a draw was shows only when the output is scored. `settle` is called once
    a step for each owner, however often it told, after all terms are made.
    """

    owner: nn.Module
    term: Callable[[Reward], Float[Tensor, ""]]
    settle: Callable[[Reward], None] | None = None


class LossTerms:
    """The terms told in one forward pass; call it with the log-likelihoods to get their sum."""

    def __init__(self) -> None:
        self.told: list[LossTerm] = []

    def __call__(
        self,
        likelihood: Float[Tensor, " B"] | Float[Tensor, "B T"],
        real: Bool[Tensor, "B T"] | None = None,
        samples: int = 1,
    ) -> Float[Tensor, ""]:
        """The sum of the terms. The log-likelihood is that of each item, or of each piece (0 where none is real)."""
        pieces = likelihood.detach()
        pieces = pieces if pieces.dim() == 2 else pieces.unsqueeze(1)
        reward = Reward(pieces, torch.ones_like(pieces, dtype=torch.bool) if real is None else real, samples)
        total = sum((side.term(reward) for side in self.told), pieces.new_zeros(()))
        for settle in {id(side.owner): side.settle for side in self.told}.values():
            if settle is not None:
                settle(reward)
        return total


@contextmanager
def loss_terms() -> Iterator[LossTerms]:
    """Gather the terms that parts add to the loss inside the block."""
    gathered = LossTerms()
    with hook(LossTerm, gathered.told.append):
        yield gathered


@contextmanager
def hook(kind: type[Event], hear: Callable[[Event], None]) -> Iterator[None]:
    """Hear every event of `kind` that is told inside the block."""
    token = _hooks.set((*_hooks.get(), (kind, hear)))
    try:
        yield
    finally:
        _hooks.reset(token)


def hooked(kind: type) -> bool:
    """Is anybody listening for `kind`? Ask before doing work that only a listener needs."""
    return any(wanted is kind for wanted, _ in _hooks.get())


def tell(event: object) -> None:
    """Tell whoever listens for this kind of event."""
    for wanted, hear in _hooks.get():
        if wanted is type(event):
            hear(event)


@contextmanager
def writing(piece: int) -> Iterator[None]:
    """Inside, what a query does bears on this piece and on those after it, what the next one does on the next ..."""
    token = _written.set(piece)
    try:
        yield
    finally:
        _written.reset(token)


def written() -> int | None:
    """The piece on which a first query bears before all others; None where each bears on the whole output."""
    return _written.get()
