"""All steps of a tape's layer at once, with a backward pass of its own: an LSTM that reads with the additive score.

The equations are those of `tape.py`. Step by step each of them copies the tape, and autograd keeps some fifty small
tensors a step. Here a tape is one piece of memory, of which step t sees the first t places; products with what does not
depend on the recurrence are made by the caller for all steps; and gradients of matrices are one product of all steps.
The score is that of `attend/additive.py`: share = 1 / (1 + e^2q e^2k), v . tanh(q + k) = sum v - 2 v . share. Where the
query has a number more than the key, the score rises with the place of a key by softplus of that number.

Letters: B rows, T steps, D width of a state, G = 4 D gates (enter, forget, new, leave), A width of the score,
Q that of a query: A, or A + 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.types import Recurrent

LIMIT = 43.0  # what is projected for the score beyond it counts as 43: e^2x of more is infinite in float32


class TapeWeights(NamedTuple):
    """What a step multiplies with: the cell's matrix, and of the score those of what was read and of keys, and v."""

    recur: Float[Tensor, "G D"]
    read: Float[Tensor, "Q D"]
    key: Float[Tensor, "A D"]
    vector: Float[Tensor, " A"]


def run_tape(
    entered: Float[Tensor, "B T G"], asked: Float[Tensor, "B T Q"], weights: TapeWeights, start: Recurrent
) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B T D"]]:
    """The states and cells of all steps.

    `entered` and `asked` are what inputs bring to the gates and to the query of each step, biases included.
    """
    cell = torch.zeros_like(start.hidden) if start.cell is None else start.cell
    kind = weights.recur.dtype
    with torch.autocast(entered.device.type, enabled=False):
        given = (entered, asked, torch.cat((start.hidden, cell), -1))
        both: Tensor = _Tape.apply(*(each.to(kind) for each in given), *weights)
    states, cells = both.chunk(2, -1)
    return states, cells


class _Tape(torch.autograd.Function):
    """Look, mix, step; `both` has a state and its cell side by side, which is the tape."""

    @staticmethod
    def forward(context: Any, entered: Tensor, asked: Tensor, start: Tensor, *weights: Tensor) -> Tensor:
        recur, read, key, vector = weights
        (rows, steps, _), width, size = entered.shape, recur.shape[1], len(vector)
        both = entered.new_empty(rows, steps, 2 * width)
        gates = entered.transpose(0, 1).clone(memory_format=torch.contiguous_format)
        bent = entered.new_empty(steps, rows, width)
        mixed, queries = entered.new_zeros(steps, rows, 2 * width), asked.new_empty(steps, rows, size)
        keys, looks = asked.new_empty(rows, steps, size), entered.new_zeros(steps, rows, steps)
        falls, places = asked.new_empty(steps, rows, asked.shape[-1] - size), _places(asked)
        before = torch.zeros_like(start)  # nothing was read before the first step
        for step in range(steps):
            query = torch.addmm(asked[:, step], before[:, :width], read.mT)
            falls[step] = query[:, size:]
            _powers(query[:, :size], queries[step])
            if step:
                scores = (_shares(queries[step], keys[:, :step]).flatten(0, 1) @ vector).view(rows, step).mul_(-2)
                if falls.shape[-1]:
                    scores.addcmul_(F.softplus(falls[step]), places[:step])
                look = looks[step, :, :step]
                look.copy_(scores.softmax(-1))  # the sum of v is the same for all keys
                torch.bmm(look.unsqueeze(1), both[:, :step], out=mixed[step].unsqueeze(1))
            else:
                mixed[step] = start
            before = mixed[step]
            enter, forget, new, leave = gates[step].addmm_(before[:, :width], recur.mT).chunk(4, -1)
            gates[step, :, : 2 * width].sigmoid_()
            new.tanh_()
            leave.sigmoid_()
            state, cell = both[:, step].chunk(2, -1)
            torch.mul(forget, before[:, width:], out=cell).addcmul_(enter, new)
            torch.mul(leave, torch.tanh(cell, out=bent[step]), out=state)
            _powers(state @ key.mT, keys[:, step])
        context.save_for_backward(both, gates, bent, mixed, queries, keys, looks, falls, *weights)
        return both

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, ...]:
        both, gates, bent, mixed, queries, keys, looks, falls, *weights = context.saved_tensors
        recur, read, key, vector = weights
        steps, rows, width = bent.shape
        size, places = len(vector), _places(keys)
        into, into_keys = upstream.clone(), torch.zeros_like(keys)
        into_queries = queries.new_zeros(steps, rows, size + falls.shape[-1])
        back, into_vector, steep = torch.empty_like(gates), torch.zeros_like(vector), 4 * vector
        of_read = torch.zeros_like(bent[0])  # of what a step reads, by the query of the step after it
        for step in reversed(range(steps)):
            into[:, step, :width].addmm_(into_keys[:, step].mul_(steep), key)
            of_state, of_cell = into[:, step].chunk(2, -1)
            of_cell = _cell_back(of_state, of_cell, gates[step], bent[step], mixed[step, :, width:], back[step])
            of_mixed = torch.cat((torch.addmm(of_read, back[step], recur), of_cell), -1)
            if not step:
                break
            look, of_mixed = looks[step, :, :step], of_mixed.unsqueeze(1)
            of_look = torch.bmm(of_mixed, both[:, :step].mT).squeeze(1)
            into[:, :step].baddbmm_(look.unsqueeze(2), of_mixed)
            of_scores = look * (of_look - (of_look * look).sum(-1, keepdim=True))
            shares = _shares(queries[step], keys[:, :step])
            # Scores of a softmax may all have any number added: what comes back to them sums to zero, and so does
            # what would come to v from its sum.
            into_vector -= 2 * (of_scores.reshape(1, -1) @ shares.flatten(0, 1)).squeeze(0)
            slopes = torch.ops.aten.sigmoid_backward(of_scores.unsqueeze(-1).expand_as(shares), shares)
            into_keys[:, :step] += slopes
            into_queries[step, :, :size] = slopes.sum(1).mul_(steep)
            if falls.shape[-1]:
                risen = (of_scores * places[:step]).sum(-1, keepdim=True)
                into_queries[step, :, size:] = risen * falls[step].sigmoid()
            of_read = into_queries[step] @ read
        earlier = mixed[:-1, :, :width].flatten(0, 1)
        of_weights = (
            back.flatten(0, 1).mT @ mixed[:, :, :width].flatten(0, 1),
            into_queries[1:].flatten(0, 1).mT @ earlier,
            into_keys.flatten(0, 1).mT @ both[:, :, :width].flatten(0, 1),
            into_vector,
        )
        return back.transpose(0, 1), into_queries.transpose(0, 1), of_mixed, *of_weights


def _places(like: Tensor) -> Float[Tensor, " T"]:
    """0, 1, 2 ... along the tape."""
    return torch.arange(like.shape[1], dtype=like.dtype, device=like.device)


def _powers(rows: Tensor, out: Tensor) -> None:
    """e^2x."""
    torch.clamp(rows, -LIMIT, LIMIT, out=out).mul_(2).exp_()


def _shares(query: Float[Tensor, "B A"], keys: Float[Tensor, "B t A"]) -> Float[Tensor, "B t A"]:
    """1 / (1 + e^2q e^2k), which is (1 - tanh(q + k)) / 2."""
    return torch.addcmul(query.new_ones(()), query.unsqueeze(1), keys).reciprocal_()


def _cell_back(
    of_state: Tensor, of_cell: Tensor, gates: Tensor, bent: Tensor, before: Tensor, back: Tensor
) -> Float[Tensor, "B D"]:
    """What comes back to the cell that was read; to the gates it is written in `back`."""
    enter, forget, new, leave = gates.chunk(4, -1)
    to_enter, to_forget, to_new, to_leave = back.chunk(4, -1)
    of_cell = of_cell + of_state * leave * (1 - bent.square())
    torch.mul(of_cell * new, enter * (1 - enter), out=to_enter)
    torch.mul(of_cell * before, forget * (1 - forget), out=to_forget)
    torch.mul(of_cell * enter, 1 - new.square(), out=to_new)
    torch.mul(of_state * bent, leave * (1 - leave), out=to_leave)
    return of_cell * forget
