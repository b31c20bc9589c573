"""A quiet line from deep inside a model to whoever wants to hear, without flags threaded through the code.

Parts `tell` events; `with listening(Kind, hear)` calls `hear(event)` for each event of that kind told in the
block. Nobody listening costs one look at a context variable. Watching (`Looked`), other weights in the place of an
attention's own (`Weighed`), the tree of a search (`Grown`) and extra terms of a loss (`LossTerm`) travel this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Event = TypeVar("Event")
_hooks: ContextVar[tuple[tuple[type, Callable[[Any], None]], ...]] = ContextVar("hooks", default=())


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
class LossTerm:
    """A term that a part adds to the loss, as a function of each item's log-likelihood under the whole model.

    Hard attention needs it: how good a draw was shows only when the output is scored. `settle` is called once
    a step for each owner, however often it told, after all terms are made.
    """

    owner: nn.Module
    term: Callable[[Float[Tensor, " B"]], Float[Tensor, ""]]
    settle: Callable[[Float[Tensor, " B"]], None] | None = None


class LossTerms:
    """The terms told in one forward pass; call it with the log-likelihoods to get their sum."""

    def __init__(self) -> None:
        self.told: list[LossTerm] = []

    def __call__(self, likelihood: Float[Tensor, " B"]) -> Float[Tensor, ""]:
        reward = likelihood.detach()
        total = sum((side.term(reward) for side in self.told), reward.new_zeros(()))
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
