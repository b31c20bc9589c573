"""Bridges: from an encoder's end to a decoder's start."""

from __future__ import annotations

import torch
from torch import nn

from regard.errors import ShapeError
from regard.registry import part
from regard.types import Memory, Recurrent, Widths


@part("bridge", "project")
class Project(nn.Module):
    """tanh(W summary) for each layer: any encoder can start any decoder (Bahdanau 2014, A.2.2)."""

    def __init__(self, memory: Widths, widths: tuple[int, ...], cells: bool) -> None:
        super().__init__()
        self.hidden = nn.ModuleList(nn.Linear(memory.summary, width) for width in widths)
        self.cells = cells

    def forward(self, memory: Memory) -> tuple[Recurrent, ...]:
        """The first state of every layer; what an LSTM keeps starts at zero."""
        shown = [torch.tanh(layer(memory.summary)) for layer in self.hidden]
        return tuple(Recurrent(state, torch.zeros_like(state) if self.cells else None) for state in shown)


@part("bridge", "copy")
class Copy(nn.Module):
    """The encoder's last states as they are, layer by layer (Sutskever 2014, Luong 2015)."""

    def __init__(self, memory: Widths, widths: tuple[int, ...], cells: bool) -> None:
        super().__init__()
        if not memory.summary:
            raise ShapeError(
                "the bridge 'copy' hands on an encoder's last states, and there is no source.",
                hint='Write part = "zero" for the bridge.',
            )
        if memory.final != widths or (cells and not memory.cells):
            raise ShapeError(
                f"the bridge 'copy' needs encoder layers like the decoder's: the encoder ends with "
                f"{_tell(memory.final, memory.cells)}, the decoder starts with {_tell(widths, cells)}.",
                hint='Give both the same layers, hidden and cell, or write part = "project" for the bridge.',
            )
        self.cells = cells

    def forward(self, memory: Memory) -> tuple[Recurrent, ...]:
        """The first state of every layer."""
        return tuple(Recurrent(state.hidden, state.cell if self.cells else None) for state in memory.final)


def _tell(widths: tuple[int, ...], cells: bool) -> str:
    if not widths:
        return "no recurrent layers"
    return f"{len(widths)} {'LSTM ' if cells else ''}layers of {', '.join(map(str, widths))}"


@part("bridge", "zero")
class Zero(nn.Module):
    """Nothing: the decoder starts blank and knows the source through attention alone."""

    def __init__(self, memory: Widths, widths: tuple[int, ...], cells: bool) -> None:
        super().__init__()
        self.widths, self.cells = widths, cells

    def forward(self, memory: Memory) -> tuple[Recurrent, ...]:
        """Zeros for every layer."""
        blank = [memory.summary.new_zeros(memory.summary.shape[0], width) for width in self.widths]
        return tuple(Recurrent(state, state if self.cells else None) for state in blank)
