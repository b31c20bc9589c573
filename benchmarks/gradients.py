"""How far back learning reaches: the gradient of the last state for each input, and of an attention read.

|d h_T / d x_t| over T - t for Regard's recurrent layers as they are before training: tanh with its recurrence scaled
to a spectral radius of 0.9, GRU, and LSTM, whose forget bias is 1. Beside them an attention read at T over the same
inputs, |d c_T / d x_t| through the values, with the weights as they are. |.| is the root mean square over the outputs,
so that passing an input on unchanged counts as 1, and attention's gradient is its weight itself.
Run by `python benchmarks/figures.py --only gradients`.
"""

from __future__ import annotations

import math
from typing import Any, get_args

import torch
from jaxtyping import Float
from measure import slope, table
from torch import Tensor

import regard
from regard.encode.recurrent import Cell, Layer

STEPS, WIDTH, DRAWS, RADIUS = 100, 32, 16, 0.9
QUICK = {"steps": 40, "width": 8, "draws": 4}
NAMES = {
    "tanh": f"tanh RNN, spectral radius {RADIUS}",
    "gru": "GRU",
    "lstm": "LSTM, forget bias 1",
    "attention": "attention, read at T",
}
Found = dict[str, Any]


def recurrent(cell: Cell, width: int) -> Layer:
    """A layer as it is before training, in double precision; the recurrence of tanh is scaled to the radius."""
    layer = Layer(width, width, cell, "forward").double()
    if cell == "tanh":
        weights = layer.network.weight_hh_l0.data
        weights *= RADIUS / torch.linalg.eigvals(weights).abs().max()
    return layer


def size(jacobians: Float[Tensor, "D T C"]) -> Float[Tensor, " T"]:
    """The size of d output / d input for each step; that of the identity is 1."""
    return jacobians.square().sum((0, 2)).div(jacobians.shape[0]).sqrt()


def through_states(layer: Layer, inputs: Float[Tensor, "T C"]) -> Float[Tensor, " T"]:
    """|d h_T / d x_t| for each t, from one backward pass: row i of a batch of equal rows asks for output i."""
    width = layer.network.hidden_size
    rows = inputs.expand(width, -1, -1).clone().requires_grad_()
    states, _ = layer(rows, torch.ones(rows.shape[:2], dtype=torch.bool))
    return size(torch.autograd.grad(states[:, -1].diagonal().sum(), rows)[0])


def through_attention(query: Float[Tensor, " C"], inputs: Float[Tensor, "T C"]) -> tuple[Tensor, Tensor]:
    """|d c_T / d x_t| for each t, and the weights that the query gives each t."""
    width = inputs.shape[1]
    values = inputs.expand(width, -1, -1).clone().requires_grad_()
    read = regard.attention(query.expand(width, 1, -1), values.detach(), values, score="scaled_dot")
    return size(torch.autograd.grad(read.context[:, 0].diagonal().sum(), values)[0]), read.weights[0, 0].detach()


def draw_once(steps: int, width: int, seed: int) -> dict[str, Float[Tensor, " T"]]:
    """The sizes of one draw of weights and inputs, nearest first."""
    torch.manual_seed(seed)
    inputs = torch.randn(steps, width, dtype=torch.float64)
    found = {cell: through_states(recurrent(cell, width), inputs) for cell in get_args(Cell)}
    found["attention"], _ = through_attention(torch.randn(width, dtype=torch.float64), inputs)
    return {name: sizes.flip(0) for name, sizes in found.items()}


def measure(steps: int = STEPS, width: int = WIDTH, draws: int = DRAWS) -> Found:
    """The mean sizes over several draws, and what remains of each from one step to the next."""
    every = [draw_once(steps, width, seed) for seed in range(draws)]
    means = {name: torch.stack([each[name] for each in every]).mean(0).tolist() for name in every[0]}
    kinds = {
        name: {"sizes": sizes, "log slope": slope(list(range(steps)), [math.log(each) for each in sizes])}
        for name, sizes in means.items()
    }
    return {"settings": {"steps": steps, "width": width, "draws": draws, "radius": RADIUS}, "kinds": kinds}


def tell(found: Found) -> None:
    """A table: the size near, midway and far, the slope of its logarithm, and what remains after each step."""
    last = found["settings"]["steps"] - 1
    shown = (0, last // 4, last // 2, last)
    print(f"|d h_T / d x_t| by T - t, mean of {found['settings']['draws']} draws\n")
    table(
        ["", *map(str, shown), "log slope", "remains a step"],
        [
            [name, *(f"{kind['sizes'][at]:.2g}" for at in shown), f"{kind['log slope']:.3f}",
             f"{math.exp(kind['log slope']):.3f}"]
            for name, kind in found["kinds"].items()
        ],
    )  # fmt: skip
