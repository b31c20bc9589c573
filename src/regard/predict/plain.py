"""No attention: all that the decoder knows of the source is the state it starts from (Sutskever 2014)."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from regard.fast.dropout import drop
from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, no_gates, refused, stacked
from regard.predict.words import taught
from regard.registry import Maker, maker, part
from regard.types import Count, Memory, Padded, Share, Taught, Widths


@part("predict", "plain")
class Plain(RecurrentDecoder):
    """Recurrent layers started from the encoder's end; nothing is looked at.

    Settings:
        embed: how target words become vectors.
        hidden: the width of the states.
        layers: how many stand on one another.
        cell: the recurrent cell.
        bridge: how the encoder's end starts the decoder.
        readout: from the top state to the vocabulary.
        dropout: share of the numbers dropped between layers and before the readout in training.
        locked: drop the same numbers at every step of a row (Gal and Ghahramani 2016).
        weight_drop: share of the weights from state to state that are dropped in training, the same ones at every
            step and in every row (Merity et al. 2018); for a pass with the right words, not with the model's own.
    """

    attends = False

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
        bridge: Maker = maker("bridge", "copy"),
        readout: Maker = maker("readout", "linear"),
        dropout: Share = 0.0,
        locked: bool = False,
        weight_drop: Share = 0.0,
    ) -> None:
        super().__init__()
        refused(attend, "the decoder 'plain'")
        no_gates(memory, "the decoder 'plain'")
        self.embed, self.dropout, self.attend = embed(size), dropout, None
        self.locked, self.weight_drop = locked, weight_drop
        self.cells = stacked(cell, (self.embed.width,), hidden, layers)
        self.bridge = first_state(bridge, memory, self.cells)
        self.readout = readout(hidden, self.embed)

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Step."""
        layers = self.climb(projected, state.layers)
        return Advanced(layers[-1].hidden, replace(state, layers=layers))

    def teach(self, target: Padded, memory: Memory) -> Taught:
        """All steps, layer by layer: nothing but the layer itself goes on from one step to the next."""
        rows = self.embed.vectors(target.data)
        for number, (cell, before) in enumerate(zip(self.cells, self.start(memory).layers, strict=True)):
            rows = self._dropped(rows) if number else rows
            weight = drop(cell.recur.weight, self.weight_drop, self.training)
            rows = cell.run(cell.project[0](rows), before, weight)
        return taught(self.readout, self._dropped(rows), ())

    def _dropped(self, features: Tensor) -> Tensor:
        return drop(features, self.dropout, self.training, self.locked and features.dim() > 2)
