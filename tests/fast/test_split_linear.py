"""A layer that reads several things side by side is the sum of a layer for each."""

import pytest
import torch
from torch import nn

from regard.fast.split_linear import input_linears


@pytest.mark.parametrize("bias", [False, True])
@torch.no_grad()
def test_the_sides_of_a_layer_add_up_to_it(bias):
    layer, things = nn.Linear(10, 4, bias=bias), [torch.randn(3, width) for width in (5, 2, 3)]
    parts = input_linears(layer, 5, 2, 3)
    found = sum(part(thing) for part, thing in zip(parts, things, strict=True))
    assert torch.allclose(found, layer(torch.cat(things, -1)), atol=1e-6)


def test_the_same_side_is_the_same_key():
    layer = nn.Linear(5, 4)
    assert input_linears(layer, 3, 2) == input_linears(layer, 3, 2)
    assert input_linears(layer, 3, 2) != input_linears(nn.Linear(5, 4), 3, 2)
    assert len({*input_linears(layer, 3, 2), *input_linears(layer, 3, 2)}) == 2


@pytest.mark.parametrize("layer", [None, nn.Identity(), nn.Bilinear(2, 2, 2)])
def test_what_is_not_a_linear_layer_stays_whole(layer):
    assert input_linears(layer, 1, 1) == ()
