"""Google's decoder: the bottom layer asks, every layer gets the context, upper layers have skips (Wu 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from annotated_types import Ge
from torch import Tensor, nn

from regard.fast.dropout import drop
from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, required
from regard.registry import Maker, maker, part
from regard.types import Attended, Attends, Count, Memory, Recurrent, Share, Widths


@part("predict", "google")
class Google(RecurrentDecoder):
    """Attention from the bottom layer, so that the layers above need not wait for one another.

    Settings:
        embed: how target words become vectors.
        hidden: the width of the states.
        layers: how many stand on one another.
        cell: the recurrent cell.
        context: what the layers above the bottom one read: "held", looked up with the bottom state of the step
            before (the paper; gnmt in its reference code), or "fresh", looked up with the one just made (gnmt_v2).
        residual: add what a layer reads from below (without the context) to its output.
        residual_from: the lowest layer that does so, counted from 1; in the paper the third.
        bridge: how the encoder's end starts the decoder.
        readout: from the top state to the vocabulary.
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
        layers: Count = 4,
        cell: Maker = maker("cell", "lstm"),
        context: Literal["held", "fresh"] = "held",
        residual: bool = True,
        residual_from: Annotated[int, Ge(2)] = 2,
        bridge: Maker = maker("bridge", "copy"),
        readout: Maker = maker("readout", "linear"),
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embed, self.dropout = embed(size), dropout
        self.fresh, self.skips = context == "fresh", residual_from if residual else layers + 1
        looks: Attends = required(attend, "google")(hidden, memory.keys, memory.values)
        self.attend = looks
        self.cells = nn.ModuleList(
            cell((hidden if layer else self.embed.width, looks.width), hidden) for layer in range(layers)
        )
        self.bridge = first_state(bridge, memory, self.cells)
        self.readout = readout(hidden, self.embed)

    @classmethod
    def asks_unread(cls, settings: Mapping[str, Any]) -> bool:
        """A held context is asked for with the bottom state of the step before."""
        return settings["context"] == "held"

    def begin(self, memory: Memory, state: RecurrentState) -> RecurrentState:
        """With a fresh context the bottom layer reads the one of the step before; at first there is none."""
        if not self.fresh:
            return state
        width = self.cells[0].project[1].in_features
        return replace(state, feed=memory.summary.new_zeros(memory.summary.shape[0], width))

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Ask before the bottom layer steps (held) or after it (fresh); then climb."""
        if self.fresh:
            bottom = self.cells[0](projected + self.cells[0].project[1](state.feed), state.layers[0])
            looked = self.ask(bottom.hidden, state, real)
        else:
            looked = self.ask(state.layers[0].hidden, state, real)
            bottom = self.cells[0](projected + looked.through(self.cells[0].project[1])[:, 0], state.layers[0])
        top, layers = self._climb(bottom, looked, state)
        feed = looked.context[:, 0] if self.fresh else None
        return Advanced(top, replace(state, layers=layers, feed=feed), (looked,))

    def _climb(
        self, bottom: Recurrent, looked: Attended, state: RecurrentState
    ) -> tuple[Tensor, tuple[Recurrent, ...]]:
        below, after = bottom.hidden, [bottom]
        for number, (cell, before) in enumerate(zip(list(self.cells)[1:], state.layers[1:], strict=True), 2):
            read = drop(below, self.dropout, self.training)
            after.append(cell(cell.project[0](read) + looked.through(cell.project[1])[:, 0], before))
            below = after[-1].hidden + below if number >= self.skips else after[-1].hidden
        return below, tuple(after)
