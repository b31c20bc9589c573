"""The decoder of the lectures' date example: where to look, from the word and the state alone; then a GRU."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, required
from regard.registry import Maker, maker, part
from regard.types import Attends, Count, Recurrent, Share, Widths


@part("predict", "tutorial")
class Tutorial(RecurrentDecoder):
    """Query [word; s[t-1]], o = relu(W [word; context]), s[t] = GRU(o, s[t-1]), predict from s[t].

    Settings:
        embed: how target words become vectors.
        hidden: the width of the state.
        cell: the recurrent cell.
        bridge: how the encoder's end starts the decoder.
        readout: from the state to the vocabulary.
        dropout: share of the features dropped before the readout in training.
    """

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        embed: Maker = maker("embed", "tokens"),
        hidden: Count = 64,
        cell: Maker = maker("cell", "gru"),
        bridge: Maker = maker("bridge", "copy"),
        readout: Maker = maker("readout", "linear"),
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embed, self.dropout = embed(size), dropout
        looks: Attends = required(attend, "tutorial")(self.embed.width + hidden, memory.keys, memory.values)
        self.attend = looks
        # The word's part of W [word; context] stands outside the loop, as every cell's first input does.
        self.combine = nn.Linear(looks.width, hidden, bias=False)
        self.cells = nn.ModuleList([_Combined(cell, self.embed.width, hidden)])
        self.bridge = first_state(bridge, memory, self.cells)
        self.readout = readout(hidden, self.embed)

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Look, combine, step."""
        before = state.layers[0]
        looked = self.ask(torch.cat((word, before.hidden), -1), state, real)
        combined = F.relu(projected + looked.through(self.combine)[:, 0])
        after = self.cells[0](combined, before)
        return Advanced(after.hidden, replace(state, layers=(after,)), (looked,))


class _Combined(nn.Module):
    """The cell behind the combining layer: its first input product is that layer's, which the loop is spared."""

    def __init__(self, cell: Maker, word: int, hidden: int) -> None:
        super().__init__()
        self.project = nn.ModuleList([nn.Linear(word, hidden)])
        self.cell = cell((hidden,), hidden)
        self.width, self.keeps = hidden, self.cell.keeps

    def forward(self, combined: Tensor, state: Recurrent) -> Recurrent:
        return self.cell(self.cell.project[0](combined), state)
