"""What the recurrent decoders share. A wiring says how one step goes; the loop and the hoisting are here.

`teach` does for all steps at once what does not depend on the recurrence: embedding, the first layer's input
product, and the readout with its vocabulary product. Only `advance` runs step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.errors import UsageError
from regard.fast.dropout import drop
from regard.fast.shared_memory import SharedMemory, minds, share_memory
from regard.hooks import writing
from regard.predict.words import stepped, taught
from regard.registry import Maker
from regard.types import (
    Attended,
    Attends,
    Embeds,
    Memory,
    Modules,
    Padded,
    Prepared,
    Recurrent,
    State,
    Stepped,
    Taught,
    Widths,
)


@dataclass(frozen=True)
class RecurrentState(State):
    """The layers' states, the prepared memory, and what the wiring feeds from one step to the next.

    `seen` is what a wiring that looks at nothing knows of the source at every step.
    """

    layers: tuple[Recurrent, ...]
    memory: SharedMemory | None = None
    feed: Float[Tensor, "B F"] | None = None
    seen: Float[Tensor, "B W"] | None = None


@dataclass(frozen=True)
class Advanced:
    """One step of a wiring: features for the readout, the state after it, what was looked at.

    `appended` is the look whose context the readout sees after the features, if it does.
    """

    features: Float[Tensor, "B F"]
    state: RecurrentState
    looked: tuple[Attended, ...] = ()
    appended: Attended | None = None

    @property
    def all(self) -> Float[Tensor, "B G"]:
        """All that the readout sees."""
        return self.features if self.appended is None else torch.cat((self.features, self.appended.context[:, 0]), -1)


class RecurrentDecoder(nn.Module):
    """A decoder that goes word by word. A wiring builds its layers, then says `begin` and `advance`."""

    attends: ClassVar[bool] = True
    embed: Embeds
    cells: Modules
    bridge: nn.Module
    readout: nn.Module
    attend: Attends | None
    dropout: float

    @property
    def continuous(self) -> bool:
        """May rows stand side by side that began at different steps? Not if where a query stands matters."""
        return self.attend is None or not minds("follows", self.attend)

    def begin(self, memory: Memory, state: RecurrentState) -> RecurrentState:
        """The first state; a wiring that feeds something adds it here."""
        return state

    def advance(
        self, word: Tensor, projected: Tensor, state: RecurrentState, real: Bool[Tensor, " B"] | None
    ) -> Advanced:
        """One step from the previous word's vector and its product with the first layer's matrix."""
        raise TypeError(f"{type(self).__name__} does not say how it advances")

    def start(self, memory: Memory) -> RecurrentState:
        """The state before the first word; keys are projected here, once."""
        kept = None
        if self.attend is not None:
            kept = share_memory([prepare(self.attend, memory)], self.attend)
        return self.begin(memory, RecurrentState(0, self.bridge(memory), kept))

    def step(self, token: Int[Tensor, " B"], state: State) -> Stepped:
        """One step: the scores of the next piece after `token`."""
        if not isinstance(state, RecurrentState):
            raise TypeError(f"a recurrent decoder steps from its own state, not from {type(state).__name__}")
        words = self.embed.vectors(token.unsqueeze(1), state.step)
        done = self.advance(words[:, 0], self.cells[0].project[0](words)[:, 0], state, None)
        return self._read(done, replace(done.state, step=state.step + 1))

    def teach(self, target: Padded, memory: Memory) -> Taught:
        """All steps, each given the right previous piece."""
        words = self.embed.vectors(target.data)
        projected = self.cells[0].project[0](words)
        state, done = self.start(memory), []
        # Unbound, not picked: the gradient of a pick is as large as what it was picked from.
        each = zip(words.unbind(1), projected.unbind(1), target.mask.unbind(1), strict=True)
        for step, (word, product, real) in enumerate(each):
            with writing(step):
                done.append(self.advance(word, product, state, real))
            state = replace(done[-1].state, step=step + 1)
        features = torch.stack([one.all for one in done], 1)
        looked = tuple(map(_join, zip(*(one.looked for one in done), strict=True)))
        return taught(self.readout, self._dropped(features), looked)

    def ask(self, query: Float[Tensor, "B D"], state: RecurrentState, real: Bool[Tensor, " B"] | None) -> Attended:
        """Look at the memory with one query."""
        if self.attend is None or state.memory is None:
            raise TypeError(f"{type(self).__name__} has nothing to attend with")
        marks = None if real is None else real.unsqueeze(1)
        start = None if isinstance(state.step, Tensor) else state.step  # no look that minds it has rows of many steps
        return state.memory.look(0, self.attend, query.unsqueeze(1), start=start, real=marks)

    def climb(self, projected: Float[Tensor, "B G"], layers: tuple[Recurrent, ...]) -> tuple[Recurrent, ...]:
        """One step of stacked cells; `projected` is the first layer's projected input."""
        after = [self.cells[0](projected, layers[0])]
        for cell, before in zip(list(self.cells)[1:], layers[1:], strict=True):
            below = drop(after[-1].hidden, self.dropout, self.training)
            after.append(cell(cell.project[0](below), before))
        return tuple(after)

    def _read(self, done: Advanced, state: RecurrentState) -> Stepped:
        """The scores after a step."""
        if self.training:
            return stepped(self.readout, self._dropped(done.all), state, done.looked)
        return stepped(self.readout, done.features, state, done.looked, done.appended)

    def _dropped(self, features: Tensor) -> Tensor:
        return drop(features, self.dropout, self.training)


def _join(steps: Sequence[Attended]) -> Attended:
    """Single looks, one after the other, as one look with many queries."""
    return Attended(
        torch.cat([one.context for one in steps], -2),
        lambda: torch.cat([one.weights for one in steps], -2),
        gates=steps[0].gates,
    )


def prepare(attend: Attends, memory: Memory) -> Prepared:
    """A memory made ready for an attention; its gates go with it where it has some."""
    if memory.gates is None:
        return attend.prepare(memory.keys, memory.values, memory.mask)
    return attend.prepare(memory.keys, memory.values, memory.mask, gates=memory.gates)


def required(attend: Maker | None, wiring: str) -> Maker:
    """The attention a wiring cannot do without."""
    if attend is None:
        raise UsageError(
            f"the decoder '{wiring}' attends, and the recipe has no [attend] table.",
            hint='Add [attend] with part = "attention", or write part = "plain" in [predict].',
        )
    return attend


def over_memory(attend: Maker | None, memory: Widths, wiring: str) -> Maker | None:
    """The attention over the memory, which a wiring cannot do without; none where there is no source to remember."""
    if memory.keys:
        return required(attend, wiring)
    refused(attend, f"without a source the decoder '{wiring}'")
    return None


def refused(attend: Maker | None, what: str) -> None:
    """Say so where an attention is given to something that has no use for it."""
    if attend is not None:
        raise UsageError(
            f"{what} does not attend, and the recipe has an [attend] table.",
            hint="Take the [attend] table out, or choose another part in [predict].",
        )


def no_gates(memory: Widths, what: str) -> None:
    """Say so where a memory's gates come to something that does not look: they would never be learnt."""
    if memory.gates:
        raise UsageError(
            f"{what} does not attend, and the encoder makes gates, through which only an attention looks.",
            hint="Take another part than 'gated' in [encode], or choose another part in [predict].",
        )


def stacked(cell: Maker, inputs: tuple[int, ...], hidden: int, layers: int) -> nn.ModuleList:
    """Cells one on another; those above the first read only the layer below (see `RecurrentDecoder.climb`)."""
    return nn.ModuleList(cell((hidden,) if layer else inputs, hidden) for layer in range(layers))


def first_state(bridge: Maker, memory: Widths, cells: Modules) -> nn.Module:
    """The bridge that fits these cells."""
    return bridge(memory, tuple(cell.width for cell in cells), cells[0].keeps)
