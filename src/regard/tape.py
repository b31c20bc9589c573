"""The layer of a long short-term memory-network (Cheng, Dong, Lapata 2016), for encoders and decoders alike.

A recurrent cell goes on from its last state. Here it goes on from what an attention reads off a tape of all its states:

    a_ti = score([x_t; h~_(t-1)], h_i),  i < t        s_t = softmax(a_t)
    h~_t = sum_i s_ti h_i        c~_t = sum_i s_ti c_i        (h_t, c_t) = cell(x_t, (h~_t, c~_t))

One look serves both tapes: a value is a state and its cell side by side. Before the first step the tape is empty, and
what is read is what the layer starts from: zero, or what a bridge hands over.

Letters: B rows, I numbers of an input, D of a state, G of all gates.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError, UsageError
from regard.fast import shortcuts
from regard.fast.tape import TapeWeights, run_tape
from regard.registry import Maker
from regard.types import Attended, Prepared, Recurrent, Reorderable


@dataclass(frozen=True)
class Tape(Reorderable):
    """The states of a layer so far, prepared to be looked at; what was read last; what an empty tape reads as."""

    start: Recurrent
    read: Float[Tensor, "B D"]
    slots: Prepared | None = None

    @classmethod
    def empty(cls, start: Recurrent) -> Tape:
        """Without a state on it; nothing was read yet."""
        return cls(start, torch.zeros_like(start.hidden))


class TapeLayer(nn.Module):
    """One recurrent layer with a tape; cell and attention are given."""

    def __init__(self, inputs: int, hidden: int, cell: Maker, attend: Maker) -> None:
        super().__init__()
        self.cell = cell((inputs,), hidden)
        self.width = hidden
        value = 2 * hidden if self.cell.keeps else hidden
        self.self_attend = attend(inputs + hidden, hidden, value)
        if self.self_attend.width != value:
            raise ShapeError(
                f"what is read off a tape is as wide as what stands on it, {value}; the attention brings "
                f"{self.self_attend.width}.",
                hint=f"Write width = {value} in its table.",
            )
        if any(getattr(module, "sequential", False) for module in self.self_attend.modules()):
            raise UsageError(
                "the gates of a tape's attention read their neighbours, and a tape grows by one state at a time.",
                hint="Take the encode table out of its choice: then each key is judged by itself.",
            )

    def forward(
        self,
        below: Float[Tensor, "B I"],
        projected: Float[Tensor, "B G"],
        tape: Tape,
        step: int,
        real: Bool[Tensor, " B"] | None = None,
        added: Float[Tensor, "B D"] | None = None,
    ) -> tuple[Recurrent, Tape, Attended]:
        """One step from an input and its product with the cell's matrix: the state, the longer tape, the look at it.

        `added` is what else comes to what the cell keeps. On a CPU a step is as precise as its weights even under
        autocast: its products are so small that half precision costs more than it saves.
        """
        if below.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
            return self._step(below, projected, tape, step, real, added)
        kind = self.cell.recur.weight.dtype
        hidden, cell = tape.start.hidden, tape.start.cell
        start = Recurrent(hidden.to(kind), None if cell is None else cell.to(kind))
        wide = Tape(start, tape.read.to(kind), tape.slots)
        with torch.autocast("cpu", enabled=False):
            extra = None if added is None else added.to(kind)
            return self._step(below.to(kind), projected.to(kind), wide, step, real, extra)

    def run(
        self, below: Float[Tensor, "B T I"], projected: Float[Tensor, "B T G"], start: Recurrent
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B T D"]] | None:
        """The states and cells of all steps, the fast way; none where there is no such way, or somebody watches."""
        found = getattr(self.self_attend, "network", None)
        if found is None or not (self.cell.is_lstm and shortcuts()) or torch.compiler.is_compiling():
            return None
        query, fall = found.query, found.fall
        # What the fall of a score is worked out with stands below what the score itself is.
        weight = query.weight if fall is None else torch.cat((query.weight, fall.weight))
        bias = query.bias if fall is None else torch.cat((query.bias, fall.bias))
        inputs, read = weight.split((below.shape[-1], self.width), 1)
        recur = self.cell.recur
        weights = TapeWeights(recur.weight, read, found.key.weight, found.vector)
        return run_tape(projected + recur.bias, F.linear(below, inputs, bias), weights, start)

    def _step(
        self,
        below: Float[Tensor, "B I"],
        projected: Float[Tensor, "B G"],
        tape: Tape,
        step: int,
        real: Bool[Tensor, " B"] | None,
        added: Float[Tensor, "B D"] | None,
    ) -> tuple[Recurrent, Tape, Attended]:
        """Look, and step."""
        query = torch.cat((below, tape.read), -1).unsqueeze(1)
        # The last place is that of the input itself, which nobody may look at yet: so a look has a column for each.
        keys = self._blank(tape) if tape.slots is None else tape.slots.filled(0, 1)
        looked = self.self_attend(query, keys, start=step, real=None if real is None else real.unsqueeze(1))
        before = tape.start if tape.slots is None else self._apart(looked.context[:, 0])
        after = self.cell(projected, before) if added is None else self.cell(projected, before, added)
        slot = self._slot(after, step)
        return after, Tape(tape.start, before.hidden, slot if tape.slots is None else tape.slots.extend(slot)), looked

    def _apart(self, context: Float[Tensor, "B E"]) -> Recurrent:
        """A state and its cell, of what was read."""
        if not self.cell.keeps:
            return Recurrent(context)
        hidden, cell = context.chunk(2, -1)
        return Recurrent(hidden, cell)

    def _slot(self, state: Recurrent, step: int) -> Prepared:
        """A state as it stands on the tape."""
        shown = state.hidden.unsqueeze(1)
        values = shown if state.cell is None else torch.cat((state.hidden, state.cell), -1).unsqueeze(1)
        there = torch.ones(len(shown), 1, dtype=torch.bool, device=shown.device)
        return self.self_attend.prepare(shown, values, there, step)

    def _blank(self, tape: Tape) -> Prepared:
        """A place that nobody may look at."""
        slot = self._slot(Recurrent(tape.read, tape.read if self.cell.keeps else None), 0)
        return Prepared(slot.keys, slot.values, torch.zeros_like(slot.mask), slot.gates)
