"""Recurrent encoders: plain, gated and LSTM; one way, both ways, stacked, with skips, Google's bottom.

Sequences are packed, so padding changes nothing: the backward direction starts at the last real word, and a
final state is the state after it.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard import masks
from regard.drop import drop
from regard.errors import ShapeError
from regard.registry import part
from regard.types import Count, Memory, Padded, Recurrent, Share, Widths

Cell = Literal["tanh", "gru", "lstm"]
Direction = Literal["forward", "backward", "both", "bottom"]
_CELLS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class Layer(nn.Module):
    """One recurrent layer over a packed batch, in one direction or both."""

    def __init__(self, inputs: int, width: int, cell: Cell, direction: Literal["forward", "backward", "both"]) -> None:
        super().__init__()
        both = direction == "both"
        if both and width % 2:
            raise ShapeError(f"two directions cannot share a width of {width}.", hint=f"Write hidden = {width + 1}.")
        self.backward_only = direction == "backward"
        self.network = _CELLS[cell](inputs, width // 2 if both else width, batch_first=True, bidirectional=both)
        _initialise(self.network)

    def forward(self, states: Float[Tensor, "B S C"], mask: Bool[Tensor, "B S"]) -> tuple[Tensor, Recurrent]:
        """The state at every position, and the last state (of both directions side by side)."""
        if self.backward_only:
            states = masks.flip(states, mask)
        lengths = mask.sum(1).clamp(min=1)  # a row of padding alone is read as one step, then hidden
        packed = pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, final = self.network(packed)
        found, _ = pad_packed_sequence(out, batch_first=True, total_length=states.shape[1])
        found = found * mask.unsqueeze(-1)
        if self.backward_only:
            found = masks.flip(found, mask)
        some = mask.any(1, keepdim=True)
        hidden, cell = final if isinstance(final, tuple) else (final, None)
        return found, Recurrent(_side_by_side(hidden) * some, None if cell is None else _side_by_side(cell) * some)


def _side_by_side(state: Float[Tensor, "N B D"]) -> Float[Tensor, "B W"]:
    return torch.cat(state.unbind(0), -1)


def _initialise(network: nn.RNNBase) -> None:
    """Orthogonal recurrences (Bahdanau 2014, B.1), and LSTMs that begin by remembering (forget bias 1)."""
    for name, weights in network.named_parameters():
        if "weight_hh" in name:
            for block in weights.data.chunk(weights.shape[0] // weights.shape[1]):
                nn.init.orthogonal_(block)
        elif "weight_ih" in name:
            nn.init.xavier_uniform_(weights)
        else:
            nn.init.zeros_(weights)
            if isinstance(network, nn.LSTM) and "bias_ih" in name:
                weights.data.chunk(4)[1].fill_(1.0)


@part("encode", "recurrent")
class RecurrentEncoder(nn.Module):
    """Recurrent layers, one on another.

    The summary is the last state of the top layer; where it reads both ways, the backward half of it, which has
    just read the first word (Bahdanau 2014, A.2.2).

    Settings:
        hidden: the width of a layer's states; two directions share it.
        layers: how many stand on one another.
        cell: "tanh", "gru" or "lstm".
        direction: "forward"; "backward", which is reading the source reversed (Sutskever 2014); "both"; or
            "bottom", Google's: the lowest layer both ways and twice as wide, the others forward.
        residual: add a layer's input to its output where their widths agree, from the second layer on.
        dropout: share of the numbers dropped between layers in training.
    """

    def __init__(
        self,
        width: int,
        *,
        hidden: Count = 256,
        layers: Count = 1,
        cell: Cell = "gru",
        direction: Direction = "forward",
        residual: bool = False,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.residual, self.dropout, self.google = residual, dropout, direction == "bottom"
        self.layers = nn.ModuleList()
        for number in range(layers):
            bottom = self.google and number == 0
            way = "both" if bottom else "forward" if direction == "bottom" else direction
            self.layers.append(Layer(width, 2 * hidden if bottom else hidden, cell, way))
            width = 2 * hidden if bottom else hidden
        self.halves = direction == "both" or (self.google and layers == 1)
        self.widths = Widths(
            keys=width,
            values=width,
            summary=width // 2 if self.halves else width,
            final=(hidden,) * layers,
            cells=cell == "lstm",
        )

    def forward(self, source: Padded) -> Memory:
        """Read the source; hand on the top layer's states and every layer's last state."""
        states, finals = source.data, []
        for number, layer in enumerate(self.layers):
            read, final = layer(drop(states, self.dropout, self.training) if number else states, source.mask)
            states = read + states if self.residual and number and read.shape == states.shape else read
            finals.append(final)
        last = finals[-1].hidden
        if self.google:
            finals[0] = _backward(finals[0])
        return Memory(states, states, source.mask, last.chunk(2, -1)[1] if self.halves else last, tuple(finals))


def _backward(state: Recurrent) -> Recurrent:
    """The half of a two-way layer's last state that has read the whole source from its end."""
    return Recurrent(state.hidden.chunk(2, -1)[1], None if state.cell is None else state.cell.chunk(2, -1)[1])
