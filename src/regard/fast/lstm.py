"""All steps of an LSTM layer at once, with a backward pass of its own.

Step by step, autograd keeps a dozen small tensors a step, and adds up the gradient of the recurrent matrix as often as
there are steps. Here a step is one product and a few numbers written in place, and that gradient is one product of all
steps. Products are made in half precision under autocast; gates and cells are kept in float32 at least.

Letters: B rows, T steps, D width, G = 4 D gates: enter, forget, new, leave.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.types import Recurrent


def lstm(
    projected: Float[Tensor, "B T G"], weight: Float[Tensor, "G D"], bias: Float[Tensor, " G"], start: Recurrent
) -> Float[Tensor, "B T D"]:
    """What the layer shows at every step; `projected` are the products of its inputs."""
    kind, device = weight.dtype, weight.device.type
    if torch.is_autocast_enabled(device):
        kind = torch.get_autocast_dtype(device)
    wide = torch.promote_types(weight.dtype, torch.float32)
    gates = (projected.to(wide) + bias).transpose(0, 1).contiguous()
    cell = torch.zeros_like(start.hidden) if start.cell is None else start.cell
    with torch.autocast(device, enabled=False):
        shown: Tensor = _Lstm.apply(gates, weight.to(kind), start.hidden.to(wide), cell.to(wide))
    return shown.transpose(0, 1)


class _Lstm(torch.autograd.Function):
    """c' = f c + i g, h' = o tanh(c'), with i, f, o sigmoids and g a tanh of what enters + U h."""

    @staticmethod
    def forward(context: Any, entered: Tensor, weight: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        steps, rows, width = len(entered), len(hidden), hidden.shape[-1]
        gates, bent = entered.clone(), entered.new_empty(steps, rows, width)
        cells, shown = entered.new_empty(steps + 1, rows, width), weight.new_empty(steps + 1, rows, width)
        cells[0], shown[0] = cell, hidden
        for step in range(steps):
            enter, forget, new, leave = gates[step].add_(shown[step] @ weight.mT).chunk(4, -1)
            gates[step, :, : 2 * width].sigmoid_()
            new.tanh_()
            leave.sigmoid_()
            torch.mul(forget, cells[step], out=cells[step + 1]).addcmul_(enter, new)
            torch.tanh(cells[step + 1], out=bent[step])
            shown[step + 1] = leave * bent[step]
        context.save_for_backward(gates, bent, cells, shown, weight)
        return shown[1:]

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, ...]:
        gates, bent, cells, shown, weight = context.saved_tensors
        back, each = weight.new_empty(gates.shape), torch.empty_like(gates[0])
        parts = each.chunk(4, -1)
        of_hidden, of_cell = torch.zeros_like(cells[0]), torch.zeros_like(cells[0])
        for step in reversed(range(len(gates))):
            enter, forget, new, leave = gates[step].chunk(4, -1)
            of_hidden = of_hidden + upstream[step]
            of_cell = of_cell + of_hidden * leave * (1 - bent[step].square())
            torch.mul(of_cell * new, enter * (1 - enter), out=parts[0])
            torch.mul(of_cell * cells[step], forget * (1 - forget), out=parts[1])
            torch.mul(of_cell * enter, 1 - new.square(), out=parts[2])
            torch.mul(of_hidden * bent[step], leave * (1 - leave), out=parts[3])
            back[step] = each
            of_hidden, of_cell = (back[step] @ weight).to(of_cell.dtype), of_cell * forget
        of_weight = back.flatten(0, 1).mT @ shown[:-1].flatten(0, 1)
        return back.to(gates.dtype), of_weight, of_hidden, of_cell
