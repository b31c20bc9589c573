"""Residual units and the frames they work in: by hand, and beside PyTorch's own pools and stretches."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.encode.units import Activate, Frame, Unit, Units
from small import pictures


@pytest.mark.parametrize("size", [(8, 8), (7, 5), (1, 6), (2, 1)])
def test_stretching_within_padding_is_stretching_alone(size):
    """Each image as PyTorch would stretch it, the corners on the corners, and up to its exact size."""
    torch.manual_seed(0)
    frame = Frame.of(pictures([(9, 11), size]).mask)
    below = frame.shrunk(2)
    coarse = torch.randn(2, 3, *below.mask.shape[1:])
    found = frame.spread(coarse)
    for row, (height, width) in enumerate([(9, 11), size]):
        part = coarse[row : row + 1, :, : -(-height // 2), : -(-width // 2)]
        expected = F.interpolate(part, (height, width), mode="bilinear", align_corners=True)
        torch.testing.assert_close(found[row : row + 1, :, :height, :width], expected, atol=1e-5, rtol=1e-5)
    alone = Frame.of(torch.ones(1, *size, dtype=torch.bool))
    torch.testing.assert_close(alone.spread(part), expected)


def test_a_pool_by_hand():
    """The largest of three by three real cells around every second; what padding holds is never taken."""
    frame = Frame.of(torch.tensor([[[True, True, True, False]] * 3, [[True, True, True, True]] * 3]))
    data = torch.arange(24.0).view(2, 1, 3, 4) - 30
    data[0, 0, :, 3] = 99
    found = frame.pooled(data)
    assert found[0, 0].tolist() == [[-25, -24], [-21, -20]]
    assert found[1, 0].tolist() == [[-13, -11], [-9, -7]]
    assert not frame.whole and frame.shrunk(2).mask.tolist() == [[[True, True]] * 2] * 2
    narrow = Frame.of(torch.tensor([[[True, False, False]]]))
    assert narrow.pooled(torch.tensor([[[[-5.0, 7.0, 7.0]]]])).tolist() == [[[[-5.0, 0.0]]]]
    full = Frame.of(torch.ones(2, 3, 4, dtype=torch.bool))
    assert full.whole and torch.equal(full.pooled(data), F.max_pool2d(data, 3, 2, 1))
    assert full.shrunk(1) is full


def test_a_unit_by_hand():
    """Norm, cut and convolution, twice; and what came in."""
    torch.manual_seed(0)
    unit, data = Unit(3, 3), torch.randn(2, 3, 5, 7)
    frame = Frame.of(torch.ones(2, 5, 7, dtype=torch.bool))
    first = F.conv2d(F.relu(F.batch_norm(data, None, None, training=True)), unit.convolve[0].weight, padding=1)
    second = F.conv2d(F.relu(F.batch_norm(first, None, None, training=True)), unit.convolve[1].weight, padding=1)
    torch.testing.assert_close(unit(data, frame), data + second, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bottleneck", [False, True])
def test_where_width_or_grid_change_the_skip_is_a_convolution(bottleneck):
    frame = Frame.of(torch.ones(2, 7, 5, dtype=torch.bool))
    data = torch.randn(2, 4, 7, 5)
    wider = Unit(4, 8, 2, bottleneck=bottleneck)
    assert wider(data, frame).shape == (2, 8, 4, 3)
    for each in wider.convolve:  # silent units leave the skip alone
        nn.init.zeros_(each.weight)
    active = F.relu(F.batch_norm(data, None, None, training=True))
    torch.testing.assert_close(wider(data, frame), F.conv2d(active, wider.skip.weight, stride=2), atol=1e-5, rtol=1e-5)
    assert Unit(4, 4, 2).skip is not None and Unit(4, 8).skip is not None and Unit(4, 4).skip is None
    kernels = [each.kernel_size[0] for each in wider.convolve]
    assert kernels == ([1, 3, 1] if bottleneck else [3, 3])
    assert [each.out_channels for each in wider.convolve] == ([2, 2, 8] if bottleneck else [8, 8])
    assert [each.stride[0] for each in wider.convolve] == ([1, 2, 1] if bottleneck else [2, 1])


def test_padding_leaves_the_norms_and_is_silent():
    frame = Frame.of(pictures([(5, 7), (3, 2)]).mask)
    data = torch.randn(2, 3, 5, 7)
    active = Activate(3)
    found = active(data, frame)
    hidden = ~frame.mask.unsqueeze(1).expand_as(found)
    assert not found[hidden].any() and (found >= 0).all()
    loud = data.masked_fill(hidden, 1e4)
    assert torch.equal(Activate(3)(loud, frame), found)
    assert len(Units(3, 5)) == 3 and torch.equal(Units(0, 5)(data, frame), data)
