"""Recurrent cells for decoders, whose input products can be taken out of the loop.

A cell has several inputs (the previous word, the context ...), each with a matrix of its own. What does not
depend on the recurrence is projected for all steps at once: `cell.project[0](words)`; the loop adds the rest.
"""

from __future__ import annotations

from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from regard.fast.lstm import lstm
from regard.registry import part
from regard.types import Modules, Recurrent


class Cell(nn.Module):
    """What every cell offers: `project`, one matrix an input, and one step from their sum."""

    gates = 1
    is_lstm = False  # whether its step is that of `fast/lstm.py`
    keeps = False  # whether the state has a cell beside what it shows; to that, `added` may add

    def __init__(self, inputs: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.width = width
        projections = [nn.Linear(size, self.gates * width, bias=number == 0) for number, size in enumerate(inputs)]
        self.project: Modules = nn.ModuleList(projections)
        self.recur = nn.Linear(width, self.gates * width)
        for projection in projections:
            nn.init.xavier_uniform_(projection.weight)
        for block in self.recur.weight.data.chunk(self.gates):
            nn.init.orthogonal_(block)
        nn.init.zeros_(self.recur.bias)

    def forward(self, projected: Float[Tensor, "B G"], state: Recurrent) -> Recurrent:
        """One step; `projected` is the sum of the projected inputs."""
        raise TypeError(f"{type(self).__name__} does not say how it steps")

    def run(
        self, projected: Float[Tensor, "B T G"], state: Recurrent, weight: Float[Tensor, "G D"] | None = None
    ) -> Float[Tensor, "B T D"]:
        """All steps: what it shows at each. `weight` stands in for that of `recur`, where it is given."""
        swapped, shown = {} if weight is None else {"recur.weight": weight}, []
        for product in projected.unbind(1):
            state = functional_call(self, swapped, (product, state))
            shown.append(state.hidden)
        return torch.stack(shown, 1)


def _mixed(first: Tensor, second: Tensor, share: Tensor) -> Tensor:
    """(1 - share) first + share second; written out, because under autocast the three may differ in precision."""
    return first + share * (second - first)


@part("cell", "tanh")
class Tanh(Cell):
    """h' = tanh(x + U h)."""

    def __init__(self, inputs: tuple[int, ...], width: int) -> None:
        super().__init__(inputs, width)

    def forward(self, projected: Float[Tensor, "B G"], state: Recurrent) -> Recurrent:
        """One step."""
        return Recurrent(torch.tanh(projected + self.recur(state.hidden)))


@part("cell", "gru")
class Gru(Cell):
    """The gated unit as PyTorch has it: n = tanh(x + r (U h)), h' = (1 - z) n + z h."""

    gates = 3

    def __init__(self, inputs: tuple[int, ...], width: int) -> None:
        super().__init__(inputs, width)

    def forward(self, projected: Float[Tensor, "B G"], state: Recurrent) -> Recurrent:
        """One step."""
        reset_x, update_x, new_x = projected.chunk(3, -1)
        reset_h, update_h, new_h = self.recur(state.hidden).chunk(3, -1)
        new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
        return Recurrent(_mixed(new, state.hidden, torch.sigmoid(update_x + update_h)))


@part("cell", "cho")
class Cho(Cell):
    """The gated unit as Cho and Bahdanau wrote it: n = tanh(x + U (r h)), h' = (1 - z) h + z n."""

    gates = 3

    def __init__(self, inputs: tuple[int, ...], width: int) -> None:
        super().__init__(inputs, width)

    def forward(self, projected: Float[Tensor, "B G"], state: Recurrent) -> Recurrent:
        """One step."""
        gates_x, new_x = projected.split((2 * self.width, self.width), -1)
        gates_w, new_w = self.recur.weight.split((2 * self.width, self.width))
        gates_b, new_b = self.recur.bias.split((2 * self.width, self.width))
        gates = torch.sigmoid(gates_x + nn.functional.linear(state.hidden, gates_w, gates_b))
        reset, update = gates.chunk(2, -1)
        new = torch.tanh(new_x + nn.functional.linear(reset * state.hidden, new_w, new_b))
        return Recurrent(_mixed(state.hidden, new, update))


@part("cell", "lstm")
class Lstm(Cell):
    """c' = f c + i g, h' = o tanh(c'); begins by remembering (forget bias 1)."""

    gates = 4
    is_lstm = True
    keeps = True

    def __init__(self, inputs: tuple[int, ...], width: int) -> None:
        super().__init__(inputs, width)
        self.recur.bias.data.chunk(4)[1].fill_(1.0)

    def forward(
        self, projected: Float[Tensor, "B G"], state: Recurrent, added: Float[Tensor, "B D"] | None = None
    ) -> Recurrent:
        """One step."""
        enter, forget, new, leave = (projected + self.recur(state.hidden)).chunk(4, -1)
        kept = torch.sigmoid(forget) * cast(Tensor, state.cell) + torch.sigmoid(enter) * torch.tanh(new)
        kept = kept if added is None else kept + added
        return Recurrent(torch.sigmoid(leave) * torch.tanh(kept), kept)

    def run(
        self, projected: Float[Tensor, "B T G"], state: Recurrent, weight: Float[Tensor, "G D"] | None = None
    ) -> Float[Tensor, "B T D"]:
        """All steps, the fast way."""
        return lstm(projected, self.recur.weight if weight is None else weight, self.recur.bias, state)
