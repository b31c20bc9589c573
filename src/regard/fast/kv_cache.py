"""What a Transformer's decoder carries from step to step: the prepared memory, and the prepared past of every layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int
from torch import Tensor

from regard.fast.shared_memory import SharedMemory
from regard.types import Prepared, Reorderable, State


@dataclass(frozen=True)
class TransformerState(State):
    """The memory, prepared for each layer, and the prepared past (none before the first step).

    Without a source there is no memory.
    """

    memory: SharedMemory | None
    past: tuple[Prepared, ...] = ()

    def reorder(self, index: Int[Tensor, " N"]) -> TransformerState:
        """Row `index[i]` at place i. Of rows that began at different steps no more past is kept than the oldest has."""
        after = super().reorder(index)
        if isinstance(after.step, Tensor) and len(index) and self.past:
            spare = self.past[0].keys.shape[-2] - int(after.step.max())
            return replace(after, past=tuple(layer.filled(-spare, 0) for layer in after.past))
        return after

    def concatenate(self, *others: TransformerState) -> TransformerState:
        """The rows of all. Their pasts end together: who was not there so long ago has keys that nobody may look at."""
        states = (self, *others)
        past = next((state.past for state in states if state.past), ())
        pasts = [state.past or tuple(_unseen(layer, _rows(state)) for layer in past) for state in states]
        return Reorderable.concatenate(
            *(replace(s, past=p) for s, p in zip(states, _ending_together(pasts), strict=True))
        )


def _rows(state: TransformerState) -> int:
    """How many rows a state has, one that has no past yet."""
    if state.memory is not None:
        return len(state.memory)
    return len(state.step) if isinstance(state.step, Tensor) else 0


def _unseen(layer: Prepared, rows: int) -> Prepared:
    """For each of so many rows a key that nobody may look at."""
    one = layer.filled(1 - layer.keys.shape[-2], 0).reorder(layer.keys.new_zeros(rows, dtype=torch.long))
    return replace(one, mask=torch.zeros_like(one.mask))


def _ending_together(pasts: Sequence[tuple[Prepared, ...]]) -> Iterator[tuple[Prepared, ...]]:
    """All with as many keys; the first of them are those that the oldest row may look at."""
    short = [tuple(layer.looked_at() for layer in past) for past in pasts]
    count = max((layer.keys.shape[-2] for past in short for layer in past), default=0)
    for past in short:
        yield tuple(layer.filled(count - layer.keys.shape[-2], 0) for layer in past)
