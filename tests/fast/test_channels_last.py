"""Channels last: a memory format, never other numbers."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.embed.image import Pixels
from regard.fast.channels_last import channels_last
from regard.types import Grid

LAST = torch.channels_last


@pytest.mark.parametrize("channels", [1, 3])
def test_the_format_changes_and_the_numbers_do_not(channels: int) -> None:
    images = torch.randn(2, channels, 5, 7)
    found = channels_last(images)
    assert torch.equal(found, images)
    assert found.stride() == (channels * 35, 1, channels * 7, channels)  # written out, even where one channel would do


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_enter_a_model_so_and_convolutions_hand_it_on(channels: int) -> None:
    torch.manual_seed(0)
    source = Grid(torch.rand(2, channels, 11, 13), torch.ones(2, 11, 13, dtype=torch.bool))
    first, second = nn.Conv2d(channels, 5, 3, padding=1), nn.Conv2d(5, 5, 3, padding=1)
    norm = nn.BatchNorm2d(5)

    def network(data: torch.Tensor) -> torch.Tensor:
        inner = F.relu(norm(first(data)))
        outer = F.max_pool2d(inner + second(inner), 2)
        return torch.cat((outer, F.interpolate(second(outer), outer.shape[2:], mode="bilinear")), 1)

    entered = Pixels(channels)(source).data
    found = network(entered)
    assert found.is_contiguous(memory_format=LAST)
    plain = network(entered.clone(memory_format=torch.contiguous_format))
    assert not plain.is_contiguous(memory_format=LAST)
    torch.testing.assert_close(found, plain, atol=1e-5, rtol=1e-5)


def test_weights_and_gradients_keep_their_own_format() -> None:
    convolve = nn.Conv2d(3, 5, 3)
    convolve(channels_last(torch.randn(2, 3, 7, 7))).square().sum().backward()
    for each in (convolve.weight, convolve.weight.grad):
        assert each is not None
        assert each.is_contiguous()
