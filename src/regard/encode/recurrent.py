"""Recurrent encoders: plain, gated and LSTM; one way, both ways, stacked, with skips, Google's bottom.

Padding changes nothing: the backward direction starts at the last real word, and a final state is the state after the
last one read. PyTorch has packed sequences for that; on a CPU their backward pass costs half as much again as a plain
one, and grows faster than the length. They are kept for where a plain pass does not tell enough (see `Layer`).

Letters: B rows, S positions, C and D numbers of a position before and after a layer, W of all directions, N directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard import masks
from regard.errors import ShapeError
from regard.fast.dropout import drop
from regard.registry import part
from regard.types import Count, Memory, Padded, Recurrent, Share, Widths

Cell = Literal["tanh", "gru", "lstm"]
Direction = Literal["forward", "backward", "both", "bottom"]
Read = tuple[Float[Tensor, "B S W"], Float[Tensor, "N B D"], Float[Tensor, "N B D"] | None]
Start = tuple[Float[Tensor, "N B D"], Float[Tensor, "N B D"]]
_CELLS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class Layer(nn.Module):
    """One recurrent layer over a padded batch, in one direction or both."""

    def __init__(self, inputs: int, width: int, cell: Cell, direction: Literal["forward", "backward", "both"]) -> None:
        super().__init__()
        both = direction == "both"
        if both and width % 2:
            raise ShapeError(f"two directions cannot share a width of {width}.", hint=f"Write hidden = {width + 1}.")
        self.backward_only = direction == "backward"
        self.network = _CELLS[cell](inputs, width // 2 if both else width, batch_first=True, bidirectional=both)
        _initialise(self.network)

    def forward(
        self, states: Float[Tensor, "B S C"], mask: Bool[Tensor, "B S"], start: Start | None = None
    ) -> tuple[Tensor, Recurrent]:
        """The state at every position, and the last state (of both directions side by side).

        `start` is the first state of an LSTM, what it shows and what it keeps, where that is not zero.
        """
        if self.backward_only:
            states = masks.flip(states, mask)
        found, hidden, cell = self._read(states, mask, start)
        found = found * mask.unsqueeze(-1)
        if self.backward_only:
            found = masks.flip(found, mask)
        some = mask.any(1, keepdim=True)
        return found, Recurrent(_side_by_side(hidden) * some, None if cell is None else _side_by_side(cell) * some)

    def _read(self, states: Float[Tensor, "B S C"], mask: Bool[Tensor, "B S"], start: Start | None) -> Read:
        """Plainly where that tells the last state: of an LSTM's memory only where no row is shorter than another."""
        if mask.all():
            found, final = self.network(states, start)
        elif isinstance(self.network, nn.LSTM) or states.is_cuda:
            lengths = mask.sum(1).clamp(min=1)  # a row of padding alone is read as one step, then hidden
            packed = pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
            out, final = self.network(packed, start)
            found, _ = pad_packed_sequence(out, batch_first=True, total_length=states.shape[1])
        else:
            found, final = _each_way(self.network, states, mask)
        return (found, *final) if isinstance(final, tuple) else (found, final, None)


def _each_way(
    network: nn.RNNBase, states: Float[Tensor, "B S C"], mask: Bool[Tensor, "B S"]
) -> tuple[Float[Tensor, "B S W"], Float[Tensor, "N B D"]]:
    """Rows of different lengths, padding read along: it comes after all that is real, in both directions."""
    # A padded position may hold anything, and a NaN times the zero that comes back to it is a NaN.
    states = states.masked_fill(~mask.unsqueeze(-1), 0.0)
    last = (mask.sum(1).clamp(min=1) - 1).view(-1, 1, 1).expand(-1, 1, network.hidden_size)
    found, finals = [], []
    for backward, weights in enumerate(network.all_weights):
        read = _run(network, masks.flip(states, mask) if backward else states, weights)
        finals.append(read.gather(1, last).squeeze(1))
        found.append(masks.flip(read, mask) if backward else read)
    return torch.cat(found, -1), torch.stack(finals)


def _run(network: nn.RNNBase, states: Float[Tensor, "B S C"], weights: Sequence[Tensor]) -> Float[Tensor, "B S D"]:
    """One direction with the weights of one."""
    run = torch.gru if isinstance(network, nn.GRU) else torch.rnn_tanh
    start = states.new_zeros(1, len(states), network.hidden_size)
    return run(states, start, list(weights), True, 1, 0.0, network.training, False, True)[0]


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
