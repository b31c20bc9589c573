"""The decoder of long short-term memory-networks: each layer reads its past off a tape (Cheng et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from regard.fast.dropout import drop
from regard.predict.fusion import Fusion, Gate, both_tapes, look_at_both
from regard.predict.recurrent import Advanced, RecurrentDecoder, RecurrentState, first_state, no_gates, refused
from regard.predict.words import taught
from regard.registry import Maker, maker, part
from regard.tape import Tape, TapeLayer
from regard.types import Attended, Attends, Count, Memory, Modules, Padded, Recurrent, Share, Taught, Widths


@dataclass(frozen=True)
class TapeState(RecurrentState):
    """The state of a recurrent decoder, and the tape of each layer."""

    tapes: tuple[Tape, ...] = ()


@part("predict", "lstmn")
class Lstmn(RecurrentDecoder):
    """Recurrent layers, each of which goes on from what it reads off the tape of all its states.

    With a source and shallow fusion, the top state looks at the memory too, and a[t] = tanh(W [context; h[t]])
    predicts. With deep fusion, what is looked at enters the top layer's memory (`predict/fusion.py`), and h[t]
    predicts, as it does without a source.

    Settings:
        embed: how target words become vectors.
        hidden: the width of the states.
        layers: how many stand on one another.
        cell: the recurrent cell; the paper's is an LSTM.
        self_attend: how a tape is read; [attend] is the attention over the memory.
        fusion: where what was looked at in the source enters: after the top layer ("shallow"), or its cell ("deep").
        bridge: how the encoder's end starts the decoder: what is read off an empty tape.
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
        layers: Count = 1,
        cell: Maker = maker("cell", "lstm"),
        self_attend: Maker = maker("attend", "attention", score=maker("score", "additive")),
        fusion: Fusion = "shallow",
        bridge: Maker = maker("bridge", "zero"),
        readout: Maker = maker("readout", "linear"),
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embed, self.dropout = embed(size), dropout
        widths = [self.embed.width, *[hidden] * (layers - 1)]
        self.layers: Modules = nn.ModuleList(TapeLayer(width, hidden, cell, self_attend) for width in widths)
        self.attend, self.join, self.gate = None, None, None
        if not memory.keys:
            refused(attend, "without a source the decoder 'lstmn'")
        if fusion == "deep":
            self.attend = look_at_both(attend, widths[-1], memory, hidden, self.cells[0].keeps)
            self.gate = Gate(widths[-1], memory)
        elif attend is None:
            no_gates(memory, "the decoder 'lstmn' without [attend]")
        else:
            looks: Attends = attend(hidden, memory.keys, memory.values)
            self.attend, self.join = looks, nn.Linear(looks.width + hidden, hidden, bias=False)
        self.bridge = first_state(bridge, memory, self.cells)
        self.readout = readout(hidden, self.embed)

    @property
    def cells(self) -> Modules:
        """The cell of each layer."""
        return [layer.cell for layer in self.layers]

    @property
    def attends(self) -> bool:  # type: ignore[override]
        """Does it look at the memory?"""
        return self.attend is not None

    @property
    def continuous(self) -> bool:
        """No: the tapes of rows that began at different steps are of different lengths."""
        return False

    def start(self, memory: Memory) -> RecurrentState:
        """The state before the first word; deep fusion looks at the cells of the memory as well."""
        return super().start(memory if self.gate is None else both_tapes(memory))

    def begin(self, memory: Memory, state: RecurrentState) -> RecurrentState:
        """Empty tapes; nothing was read off the source yet."""
        tapes = tuple(Tape.empty(start) for start in state.layers)
        read = None if self.gate is None else memory.summary.new_zeros(len(memory.summary), self.gate.states)
        return TapeState(state.step, state.layers, state.memory, read, tapes=tapes)

    def teach(self, target: Padded, memory: Memory) -> Taught:
        """All steps; without a source layer by layer, where each layer has a way to do so."""
        if self.attend is not None:
            return super().teach(target, memory)
        rows = self.embed.vectors(target.data)
        for number, (layer, start) in enumerate(zip(self.layers, self.bridge(memory), strict=True)):
            rows = drop(rows, self.dropout, self.training) if number else rows
            found = layer.run(rows, layer.cell.project[0](rows), start)
            if found is None:
                return super().teach(target, memory)
            rows = found[0]
        return taught(self.readout, self._dropped(rows), ())

    def advance(self, word: Tensor, projected: Tensor, state: RecurrentState, real: Tensor | None) -> Advanced:
        """Read, step, and write down where it stands, layer by layer; then look at the memory."""
        if not isinstance(state, TapeState) or isinstance(state.step, Tensor):
            raise TypeError("the decoder 'lstmn' steps from a state of its own, all rows at one step")
        below, tapes, layers = word, list[Tape](), list[Recurrent]()
        fed, looked = None, tuple[Attended, ...]()
        for number, (layer, tape) in enumerate(zip(self.layers, state.tapes, strict=True)):
            product = layer.cell.project[0](below) if number else projected
            top = number + 1 == len(self.layers)
            added, fed, looked = self._fused(below, state, real) if top else (None, None, ())
            after, longer, _ = layer(below, product, tape, state.step, real, added)
            tapes.append(longer)
            layers.append(after)
            below = after.hidden if top else drop(after.hidden, self.dropout, self.training)
        stepped = replace(state, layers=tuple(layers), tapes=tuple(tapes), feed=fed)
        if self.join is None:
            return Advanced(below, stepped, looked)
        seen = self.ask(below, state, real)
        return Advanced(torch.tanh(self.join(torch.cat((seen.context[:, 0], below), -1))), stepped, (seen,))

    def _fused(
        self, below: Tensor, state: TapeState, real: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, tuple[Attended, ...]]:
        """Of the source, by deep fusion: what is added to the top layer's cell, the state that was read, the look."""
        if self.gate is None or state.feed is None:
            return None, None, ()
        seen = self.ask(torch.cat((below, state.feed), -1), state, real)
        read, added = self.gate(seen.context[:, 0], below)
        return added, read, (seen,)
