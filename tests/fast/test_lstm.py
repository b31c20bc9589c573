"""All steps of an LSTM at once are PyTorch's own, and so are the gradients."""

import torch
from torch import nn
from torch.nn import functional as F

from regard.fast.lstm import lstm
from regard.predict.cell import Lstm
from regard.types import Recurrent

ROWS, STEPS, INPUTS, WIDTH = 3, 5, 7, 11


def given(kind=torch.float64):
    torch.manual_seed(0)
    network = nn.LSTM(INPUTS, WIDTH, batch_first=True).to(kind)
    words, start = torch.randn(ROWS, STEPS, INPUTS, dtype=kind), torch.randn(2, ROWS, WIDTH, dtype=kind)
    projected = F.linear(words, network.weight_ih_l0, network.bias_ih_l0)
    return network, words, start, projected


def test_it_is_pytorch_s():
    network, words, start, projected = given()
    found = lstm(projected, network.weight_hh_l0, network.bias_hh_l0, Recurrent(*start))
    assert torch.allclose(found, network(words, tuple(start.unsqueeze(1)))[0], atol=1e-12)
    blank = lstm(projected, network.weight_hh_l0, network.bias_hh_l0, Recurrent(torch.zeros(ROWS, WIDTH).double()))
    assert torch.allclose(blank, network(words)[0], atol=1e-12), "a cell that is not given is zero"


def test_gradients_are_right():
    network, _, start, projected = given()
    every = [projected, network.weight_hh_l0, network.bias_hh_l0, *start]
    every = [each.detach().clone().requires_grad_() for each in every]
    assert torch.autograd.gradcheck(
        lambda rows, weight, bias, *state: lstm(rows, weight, bias, Recurrent(*state)), every
    )


def test_in_half_precision_it_is_nearly_the_same():
    """Products alone are rounded: what is kept from step to step is not."""
    network, _, start, projected = given(torch.float32)
    plain = lstm(projected, network.weight_hh_l0, network.bias_hh_l0, Recurrent(*start))
    with torch.autocast("cpu", torch.bfloat16):
        half = lstm(projected, network.weight_hh_l0, network.bias_hh_l0, Recurrent(*start))
    assert half.dtype == torch.bfloat16 and torch.allclose(half.float(), plain, atol=0.02)
    half.float().sum().backward()
    assert network.weight_hh_l0.grad.dtype == torch.float32


def test_a_cell_runs_as_it_steps():
    torch.manual_seed(1)
    cell, state = Lstm((INPUTS,), WIDTH), Recurrent(torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH))
    projected, steps = torch.randn(ROWS, STEPS, 4 * WIDTH), []
    whole = cell.run(projected, state)
    for product in projected.unbind(1):
        state = cell(product, state)
        steps.append(state.hidden)
    assert torch.allclose(whole, torch.stack(steps, 1), atol=1e-6)
