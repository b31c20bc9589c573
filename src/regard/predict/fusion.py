"""Deep fusion: what was looked at in the source enters what a recurrent layer keeps (Cheng et al. 2016).

The source comes as two tapes, the states gamma_j and the cells alpha_j of a reader that is an LSTM:

    b_tj = score([x_t; gamma~_(t-1)], gamma_j)        p_t = softmax(b_t)
    gamma~_t = sum_j p_tj gamma_j        alpha~_t = sum_j p_tj alpha_j        r_t = sigmoid(W_r [gamma~_t; x_t] + b_r)

and the layer keeps c_t = r_t * alpha~_t + f_t * c~_t + i_t * g_t. One look serves both tapes, as in `regard.tape`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ShapeError, UsageError
from regard.predict.recurrent import required
from regard.registry import Maker
from regard.types import Attends, Memory, Widths

Fusion = Literal["shallow", "deep"]


class Gate(nn.Module):
    """How much of what the source kept is let in: the gate r_t."""

    def __init__(self, inputs: int, memory: Widths) -> None:
        super().__init__()
        self.states, self.gate = memory.values, nn.Linear(memory.values + inputs, memory.kept)

    def forward(
        self, seen: Float[Tensor, "B E"], below: Float[Tensor, "B I"]
    ) -> tuple[Float[Tensor, "B D"], Float[Tensor, "B C"]]:
        """Of what was read off both tapes: the state gamma~, and what is added to the layer's cell, r * alpha~."""
        state, cell = seen.split((self.states, seen.shape[-1] - self.states), -1)
        return state, torch.sigmoid(self.gate(torch.cat((state, below), -1))) * cell


def look_at_both(attend: Maker | None, inputs: int, memory: Widths, hidden: int, keeps: bool) -> Attends:
    """An attention over states and cells of the source, asked by an input and what was read before."""
    if not keeps:
        raise UsageError(
            "deep fusion adds to what a decoder's cell keeps, and this cell keeps nothing beside what it shows.",
            hint='Write cell = "lstm" in [predict], or fusion = "shallow".',
        )
    if not memory.kept:
        raise UsageError(
            "deep fusion reads the states and the cells of the source, and the encoder hands on no cells.",
            hint='Write part = "lstmn" with cell = "lstm" in [encode], or fusion = "shallow" in [predict].',
        )
    if memory.kept != hidden:
        raise ShapeError(
            f"deep fusion adds the encoder's cells to the decoder's: the encoder's are {memory.kept} wide, the "
            f"decoder's {hidden}.",
            hint="Write the same hidden in [encode] and [predict].",
        )
    looks: Attends = required(attend, "lstmn")(inputs + memory.values, memory.keys, memory.values + memory.kept)
    if looks.width != memory.values + memory.kept:
        raise ShapeError(
            f"deep fusion reads states and cells side by side, {memory.values + memory.kept} wide; the attention "
            f"brings {looks.width}.",
            hint=f"Write width = {memory.values + memory.kept} in [attend].",
        )
    return looks


def both_tapes(memory: Memory) -> Memory:
    """The memory with a state and its cell side by side as one value."""
    if memory.kept is None:
        raise TypeError("deep fusion was built for a memory that comes with cells")
    return replace(memory, values=torch.cat((memory.values, memory.kept), -1))
