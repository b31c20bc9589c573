"""Luong's decoder: step first, ask with the state *after* the step, join both in an attentional vector (2015)."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from regard.fast.shared_memory import linear_of_context
from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, no_gates, stacked
from regard.registry import Maker, maker, part
from regard.types import Attends, Count, Memory, Share, Widths


@part("predict", "luong")
class Luong(RecurrentDecoder):
    """Update h[t], query with it, a[t] = tanh(W [context; h[t]]), and predict from a[t].

    Without an attention the context is the memory's summary (of an image the mean of its cells) at every step.

    Settings:
        embed: how target words become vectors.
        hidden: the width of the states and of the attentional vector.
        layers: how many stand on one another.
        cell: the recurrent cell.
        feeding: feed a[t] into the next step beside the word (input feeding, section 3.3).
        bridge: how the encoder's end starts the decoder.
        readout: from the attentional vector to the vocabulary.
        dropout: share of the numbers dropped between layers and before the readout in training.
    """

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        embed: Maker = maker("embed", "tokens"),
        hidden: Count = 256,
        layers: Count = 1,
        cell: Maker = maker("cell", "lstm"),
        feeding: bool = True,
        bridge: Maker = maker("bridge", "copy"),
        readout: Maker = maker("readout", "linear"),
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embed, self.feeding, self.dropout = embed(size), feeding, dropout
        inputs = (self.embed.width, hidden) if feeding else (self.embed.width,)
        self.cells = stacked(cell, inputs, hidden, layers)
        looks: Attends | None = None if attend is None else attend(hidden, memory.keys, memory.values)
        if looks is None:
            no_gates(memory, "the decoder 'luong' without an attention")
        self.attend = looks
        self.join = nn.Linear((memory.summary if looks is None else looks.width) + hidden, hidden, bias=False)
        # States of an LSTM are small at first, and a join that makes them smaller learns late (benchmarks/LOG.md).
        nn.init.xavier_uniform_(self.join.weight, nn.init.calculate_gain("tanh"))
        self.bridge = first_state(bridge, memory, self.cells)
        self.readout = readout(hidden, self.embed)

    @property
    def attends(self) -> bool:  # type: ignore[override]
        """If it was given an attention."""
        return self.attend is not None

    def begin(self, memory: Memory, state: RecurrentState) -> RecurrentState:
        """The attentional vector before the first step is zero; what is seen without an attention goes along."""
        state = state if self.attends else replace(state, seen=memory.summary)
        if not self.feeding:
            return state
        return replace(state, feed=memory.summary.new_zeros(memory.summary.shape[0], self.join.out_features))

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Step, ask, join."""
        if self.feeding:
            projected = projected + self.cells[0].project[1](state.feed)
        layers = self.climb(projected, state.layers)
        top = layers[-1].hidden
        looked = (self.ask(top, state, real),) if self.attends else ()
        joined = linear_of_context(self.join, looked[0], after=top) if looked else self._joined(state, top)
        vector = torch.tanh(joined)
        return Advanced(vector, replace(state, layers=layers, feed=vector if self.feeding else None), looked)

    def _joined(self, state: RecurrentState, top: Tensor) -> Tensor:
        return self.join(torch.cat((cast(Tensor, state.seen), top), -1))
