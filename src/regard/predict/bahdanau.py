"""Bahdanau's decoder: ask with the state *before* the step, then step with what was looked at (2014, A.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, required
from regard.registry import Maker, maker, part
from regard.types import Attends, Count, Share, Widths


@part("predict", "bahdanau")
class Bahdanau(RecurrentDecoder):
    """Query s[t-1], then the update s[t] = f(s[t-1], word, context), then a deep output of state, word and context.

    Settings:
        embed: how target words become vectors.
        hidden: the width of the state.
        cell: the recurrent cell; "cho" is the paper's.
        bridge: how the encoder's end starts the decoder.
        readout: from features to the vocabulary.
        state: which state the readout sees: the "previous" as in the paper's appendix and code, or the "current"
            as in its main text.
        dropout: share of the features dropped before the readout in training.
    """

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        embed: Maker = maker("embed", "tokens"),
        hidden: Count = 256,
        cell: Maker = maker("cell", "gru"),
        bridge: Maker = maker("bridge", "project"),
        readout: Maker = maker("readout", "maxout"),
        state: Literal["previous", "current"] = "previous",
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embed = embed(size)
        looks: Attends = required(attend, "bahdanau")(hidden, memory.keys, memory.values)
        self.attend = looks
        self.cells = nn.ModuleList([cell((self.embed.width, looks.width), hidden)])
        self.bridge = first_state(bridge, memory, self.cells)
        self.readout = readout(hidden + self.embed.width + looks.width, self.embed)
        self.reads_previous, self.dropout = state == "previous", dropout

    @classmethod
    def asks_unread(cls, settings: Mapping[str, Any]) -> bool:
        """It always does."""
        return True

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Ask, step, and show the readout what it needs."""
        cell, before = self.cells[0], state.layers[0]
        looked = self.ask(before.hidden, state, real)
        after = cell(projected + looked.through(cell.project[1])[:, 0], before)
        shown = before.hidden if self.reads_previous else after.hidden
        return Advanced(torch.cat((shown, word), -1), replace(state, layers=(after,)), (looked,), appended=looked)
