"""A step of Show, Attend and Tell for the few rows of one image, in as few calls and as little memory as it takes.

The equations are those of `predict/xu.py`. For a few rows a step is mostly the reading of matrices and the calling of
operations. What the state before the step is multiplied with (the query, the gate, the recurrence) is one matrix here,
and what enters the cell (word and context) another; both lie column by column, as products of few rows like it. The
score is that of `attend/additive.py`: share = 1 / (1 + e^2q e^2k), and a softmax does not mind the constant that is
left out of v . tanh(q + k) = sum v - 2 v . share.

Letters: N rows, K cells of the image, A width of the score, D width of the state, W of a word, E of a context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

LIMIT = 2 * 43.0  # what is projected for the score beyond it counts as 43: e^2x of more is infinite in float32


@dataclass(frozen=True)
class Matrices:
    """What a step multiplies with. Of the state's columns come A for the query (twice itself), 1 for the gate where
    there is one, and 4 D for the cell: enter, forget and leave, which are sigmoids, then new.
    """

    state: Float[Tensor, "D *"]
    bias: Float[Tensor, " *"]
    inputs: Float[Tensor, "W+E 4D"]
    join: Float[Tensor, "D+E W"]
    join_bias: Float[Tensor, " W"]
    vector: Float[Tensor, " A"]
    gate: int


class Stood(NamedTuple):
    """What a step leaves: the state, what the vocabulary is multiplied with, what was seen and with which weights."""

    hidden: Float[Tensor, "N D"]
    cell: Float[Tensor, "N D"]
    ready: Float[Tensor, "N W"]
    seen: Float[Tensor, "N E"]
    weights: Float[Tensor, "N K"]


class Layers(NamedTuple):
    """The layers of the decoder that a step is packed from; `select` makes the gate, where there is one."""

    query: nn.Linear
    vector: Tensor
    select: nn.Linear | None
    word: nn.Linear
    context: nn.Linear
    recur: nn.Linear
    join: nn.Linear

    @property
    def known(self) -> tuple[tuple[int, int], ...]:
        """Where all weights lie, and how often they were changed."""
        modules = [each for each in self if isinstance(each, nn.Module)]
        weights = [self.vector, *(weight for each in modules for weight in each.parameters(recurse=False))]
        return tuple((each.data_ptr(), each._version) for each in weights)


def pack(layers: Layers) -> Matrices:
    """The matrices of a step."""
    enter, forget, new, leave = layers.recur.weight.chunk(4)
    blocks = [2 * layers.query.weight, enter, forget, leave, new]
    enter, forget, new, leave = (layers.recur.bias + layers.word.bias).chunk(4)
    biases = [2 * layers.query.bias, enter, forget, leave, new]
    if layers.select is not None:
        blocks.insert(1, layers.select.weight)
        biases.insert(1, layers.select.bias)
    sides = [torch.cat([each.weight.chunk(4)[n] for n in (0, 1, 3, 2)]) for each in (layers.word, layers.context)]
    return Matrices(
        _columns(torch.cat(blocks)),
        torch.cat(biases),
        _columns(torch.cat(sides, 1)),
        _columns(layers.join.weight),
        layers.join.bias.clone(),
        -2 * layers.vector,
        int(layers.select is not None),
    )


def step(
    matrices: Matrices,
    word: Float[Tensor, "N W"],
    hidden: Float[Tensor, "N D"],
    cell: Float[Tensor, "N D"],
    keys: Float[Tensor, "1 K A"],
    values: Float[Tensor, "1 K E"],
) -> Stood:
    """Ask, gate, step, and make ready; `keys` are e^2k, and all of them may be looked at."""
    width, score = cell.shape[1], len(matrices.vector)
    found = torch.addmm(matrices.bias, hidden, matrices.state)
    asked, gate, gates = found.split((score, matrices.gate, 4 * width), 1)
    power = asked.clamp(-LIMIT, LIMIT).exp_()
    shares = torch.addcmul(keys.new_ones(()), power.unsqueeze(1), keys).reciprocal_()
    weights = torch.softmax(shares @ matrices.vector, 1)
    seen = weights @ values[0]
    context = seen * torch.sigmoid(gate) if matrices.gate else seen
    gates = torch.addmm(gates, torch.cat((word, context), 1), matrices.inputs)
    enter, forget, leave = gates[:, : 3 * width].sigmoid_().chunk(3, 1)
    cell = torch.addcmul(forget * cell, enter, gates[:, 3 * width :].tanh_())
    hidden = leave * torch.tanh(cell)
    ready = torch.addmm(matrices.join_bias, torch.cat((hidden, context), 1), matrices.join).add_(word).tanh_()
    return Stood(hidden, cell, ready, seen, weights)


def _columns(matrix: Float[Tensor, "V G"]) -> Float[Tensor, "G V"]:
    return matrix.detach().t().contiguous()
