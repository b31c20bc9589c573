"""The encoder of long short-term memory-networks: a word is read with a look at all words before it (Cheng 2016)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.fast.dropout import drop
from regard.registry import Maker, maker, part
from regard.tape import Tape, TapeLayer
from regard.types import Count, Memory, Modules, Padded, Recurrent, Share, Widths


@part("encode", "lstmn")
class LstmnEncoder(nn.Module):
    """Recurrent layers that read from left to right, each going on from what it reads off the tape of its states.

    Settings:
        hidden: the width of a layer's states.
        layers: how many stand on one another.
        cell: the recurrent cell; the paper's is an LSTM.
        attend: how a tape is read.
        dropout: share of the numbers dropped between layers in training.
    """

    def __init__(
        self,
        width: int,
        *,
        hidden: Count = 256,
        layers: Count = 1,
        cell: Maker = maker("cell", "lstm"),
        attend: Maker = maker("attend", "attention", score=maker("score", "additive")),
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        widths = [width, *[hidden] * (layers - 1)]
        made = [TapeLayer(each, hidden, cell, attend) for each in widths]
        self.layers: Modules = nn.ModuleList(made)
        cells = bool(made[0].cell.keeps)
        final, kept = (hidden,) * layers, hidden if cells else 0
        self.widths = Widths(keys=hidden, values=hidden, summary=hidden, final=final, cells=cells, kept=kept)

    def forward(self, source: Padded) -> Memory:
        """Read the source; hand on the top layer's states, what it kept at each, and every layer's last state."""
        mask = source.mask
        # A padded position may hold anything, and a NaN times the zero that comes back to it is a NaN.
        states, finals, kept = source.data.masked_fill(~mask.unsqueeze(-1), 0.0), list[Recurrent](), None
        for number, layer in enumerate(self.layers):
            read = drop(states, self.dropout, self.training) if number else states
            states, kept, final = _through(layer, read, mask)
            finals.append(final)
        return Memory(states, states, mask, finals[-1].hidden, tuple(finals), kept=kept)


def _through(
    layer: TapeLayer, rows: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]
) -> tuple[Float[Tensor, "B S E"], Float[Tensor, "B S E"] | None, Recurrent]:
    """One layer over all positions: its states and cells, zero where there is padding; each row's last real ones."""
    cell = layer.cell
    blank = rows.new_zeros(len(rows), layer.width)
    start, projected = Recurrent(blank, blank if cell.keeps else None), cell.project[0](rows)
    states, cells = layer.run(rows, projected, start) or _step_by_step(layer, rows, projected, start, mask)
    states = states * mask.unsqueeze(-1)
    last = (mask.sum(1).clamp(min=1) - 1).view(-1, 1, 1).expand(-1, 1, layer.width)
    if cells is None:
        return states, None, Recurrent(states.gather(1, last).squeeze(1))
    cells = cells * mask.unsqueeze(-1)
    return states, cells, Recurrent(*(rows.gather(1, last).squeeze(1) for rows in (states, cells)))


def _step_by_step(
    layer: TapeLayer,
    rows: Float[Tensor, "B S D"],
    projected: Float[Tensor, "B S G"],
    start: Recurrent,
    mask: Bool[Tensor, "B S"],
) -> tuple[Float[Tensor, "B S E"], Float[Tensor, "B S E"] | None]:
    """All states and cells, in the open."""
    tape, found = Tape.empty(start), list[Recurrent]()
    for step, (word, product, real) in enumerate(zip(rows.unbind(1), projected.unbind(1), mask.unbind(1), strict=True)):
        after, tape, _ = layer(word, product, tape, step, real)
        found.append(after)
    cells = [state.cell for state in found if state.cell is not None]
    return torch.stack([state.hidden for state in found], 1), torch.stack(cells, 1) if cells else None
