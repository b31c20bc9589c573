"""The decoder of Show, Attend and Tell (Xu et al. 2015): ask with the state before the step, gate what was seen.

    a_t = attend(h[t-1])              z_t = beta_t sum_i a_ti v_i,   beta_t = sigmoid(w . h[t-1] + b)
    h[t] = LSTM(E y[t-1], h[t-1], z_t)
    p(y_t) = softmax(L_o tanh(E y[t-1] + L_h h[t] + L_z z_t))

The first state comes from the mean of what there is to see, through two small networks (bridge "networks"). While it is
taught, the loss gets the term

    coverage * sum_i (1 - sum_t a_ti)^2

of each item (section 4.2.1, doubly stochastic attention): every place should be looked at about once, over all words.
Weights of T steps over L places sum to T, so that this is L - 2 T + T^2 / L more than sum_i (T / L - sum_t a_ti)^2,
whose gradient is the same: with fewer steps than places it has them looked at alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard import masks
from regard.fast import shortcuts, xu_step
from regard.hooks import LossTerm, Weighed, hooked, tell
from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, no_gates
from regard.predict.words import Product, Readout
from regard.registry import Maker, maker, part
from regard.types import (
    AtLeastZero,
    Attended,
    Attends,
    Count,
    Memory,
    Padded,
    Recurrent,
    Share,
    State,
    Stepped,
    Taught,
    Widths,
)

# What the gate's bias begins with: it lets 0.88 of the context through. Half shut, what is seen is learnt more slowly.
OPEN = 2.0


class DeepOutput(Readout):
    """tanh(word + L [state; context]), as wide as a word, then the readout (Pascanu et al. 2014's deep output)."""

    def __init__(self, word: int, others: int, readout: Readout) -> None:
        super().__init__()
        self.word = word
        self.join = nn.Linear(others, word)
        self.inner = readout

    def ready(self, features: Float[Tensor, "*B F"]) -> Float[Tensor, "*B G"]:
        """What the vocabulary's table is multiplied with; the word stands first among the features."""
        word, others = features.split((self.word, features.shape[-1] - self.word), -1)
        return self.inner.ready(torch.tanh(word + self.join(others)))

    def product(self) -> Product:
        """The readout's table and bias."""
        return self.inner.product()


@dataclass(frozen=True)
class ImageState(RecurrentState):
    """The state of one image's rows, whose steps are made by `fast/xu_step.py`."""

    image: xu_step.Image | None = None


@part("predict", "xu")
class Xu(RecurrentDecoder):
    """Query h[t-1], gate the context, then the update h[t] = f(h[t-1], word, context), then a deep output.

    Without an attention the context is the mean of all that there is to see, for every word.

    Settings:
        embed: how target words become vectors.
        hidden: the width of the state.
        cell: the recurrent cell.
        bridge: how what was read starts the decoder.
        readout: from a vector as wide as a word to the vocabulary.
        gate: weigh the context by beta, a number that the state before the step decides (the paper's selector); it
            begins open.
        coverage: weight of the term that has every place looked at about once (the paper's lambda); 0 for none. Of a
            hard choice the weights are draws, which have no gradient: there it changes nothing.
        dropout: share of the features dropped before the deep output in training.
    """

    packs = False  # whether it is in use and not trained, so that weights may be kept in another form too
    packed: xu_step.Packed | None = None

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        embed: Maker = maker("embed", "tokens"),
        hidden: Count = 256,
        cell: Maker = maker("cell", "lstm"),
        bridge: Maker = maker("bridge", "networks"),
        readout: Maker = maker("readout", "linear"),
        gate: bool = True,
        coverage: AtLeastZero = 1.0,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embed = embed(size)
        looks: Attends | None = None if attend is None else attend(hidden, memory.keys, memory.values)
        if looks is None:
            no_gates(memory, "the decoder 'xu' without an attention")
        self.attend = looks
        seen = memory.summary if looks is None else looks.width
        self.cells = nn.ModuleList([cell((self.embed.width, seen), hidden)])
        self.bridge = first_state(bridge, memory, self.cells)
        self.select = nn.Linear(hidden, 1) if gate else None
        if self.select is not None:
            nn.init.constant_(self.select.bias, OPEN)
        width = self.embed.width
        self.readout = DeepOutput(width, hidden + seen, readout(width, self.embed))
        self.coverage, self.dropout = coverage, dropout

    @classmethod
    def asks_unread(cls, settings: Mapping[str, Any]) -> bool:
        """It always does."""
        return True

    @property
    def attends(self) -> bool:  # type: ignore[override]
        """If it was given an attention."""
        return self.attend is not None

    def begin(self, memory: Memory, state: RecurrentState) -> RecurrentState:
        """What is seen without an attention goes along."""
        return state if self.attends else replace(state, feed=memory.summary)

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Ask, gate, step, and show the readout what it needs."""
        cell, before = self.cells[0], state.layers[0]
        looked = (self.ask(before.hidden, state, real),) if self.attends else ()
        context = looked[0].context[:, 0] if looked else cast(Tensor, state.feed)
        entered = looked[0].through(cell.project[1])[:, 0] if looked else cell.project[1](context)
        share = 1.0 if self.select is None else torch.sigmoid(self.select(before.hidden))
        after = cell(projected + share * entered, before)
        features = torch.cat((word, after.hidden, share * context), -1)
        return Advanced(features, replace(state, layers=(after,)), looked)

    def start(self, memory: Memory) -> RecurrentState:
        """The state before the first word; that of one image in use may be one that few rows like."""
        state = super().start(memory)
        packed = self._packed_now() if len(memory.mask) == 1 and masks.is_open(memory.mask) else None
        if packed is None or state.memory is None:
            return state
        prepared = state.memory.layers[0]
        image = xu_step.Image.of(packed, prepared.keys, prepared.values)
        return ImageState(0, state.layers, state.memory, image=image)

    def step(self, token: Int[Tensor, " B"], state: State) -> Stepped:
        """One step: the scores of the next piece after `token`."""
        if not isinstance(state, ImageState) or state.image is None:
            return super().step(token, state)
        before = state.layers[0]
        made = state.image.step(token, before.hidden, cast(Tensor, before.cell))
        after = ImageState(state.step + 1, (Recurrent(made.hidden, made.cell),), state.memory, image=state.image)
        seen = Attended(made.seen.unsqueeze(1), lambda: made.weights.unsqueeze(1))
        readout: Any = self.readout  # in parts, or with its product made apart
        return Stepped(readout.inner.ready(made.ready), after, (seen,), readout.multiply)

    def _packed_now(self) -> xu_step.Packed | None:
        """The matrices of a step, packed for few rows: of the paper's wiring, in use, while nobody watches."""
        if not self.packs or torch.is_grad_enabled() or torch.is_autocast_enabled("cpu") or not shortcuts():
            return None
        network, cell = getattr(self.attend, "network", None), self.cells[0]
        if network is None or network.fall is not None or not cell.is_lstm or hooked(Weighed):
            return None
        if getattr(self.embed, "position", None) is not None or not isinstance(self.readout, DeepOutput):
            return None
        word, context = cell.project
        join = self.readout.join
        layers = xu_step.Layers(self.embed, network.query, network.vector, self.select, word, context, cell.recur, join)
        if layers.query.weight.dtype not in (torch.float32, torch.float64):
            return None
        if self.packed is None or self.packed.known != layers.known:
            self.packed = xu_step.Packed.of(layers)
        return self.packed

    def teach(self, target: Padded, memory: Memory) -> Taught:
        """All steps, each given the right previous piece; tells what the coverage adds to the loss."""
        found = super().teach(target, memory)
        if self.training and self.coverage and found.looked:
            missed = self.coverage * uncovered(found.looked[0], target.mask, memory.mask).mean()
            tell(LossTerm(self, lambda likelihood: missed))
        return found


def uncovered(looked: Attended, real: Bool[Tensor, "B T"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, " B"]:
    """sum_i (1 - sum_t a_ti)^2 of each item, over its real places and steps; heads count together, as their mean."""
    weights = looked.weights if looked.weights.dim() == 3 else looked.weights.mean(1)
    total = (weights * real.unsqueeze(-1)).sum(1)
    return ((1 - total).square() * mask).sum(1)
