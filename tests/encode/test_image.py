"""The grid encoder: its sizes by hand, and one layer written out."""

import pytest
import torch
from torch.nn import functional as F

from regard.encode.image import GridEncoder, Shrink
from regard.types import Grid
from small import pictures


@pytest.mark.parametrize(
    ("hidden", "layers", "widths"), [(8, 3, [2, 4, 8]), (7, 2, [3, 7]), (2, 3, [1, 1, 2]), (5, 1, [5])]
)
def test_each_layer_is_half_as_wide_as_the_next(hidden, layers, widths):
    encoder = GridEncoder(3, hidden=hidden, layers=layers)
    assert [layer.convolve.out_channels for layer in encoder.layers] == widths
    assert [layer.convolve.in_channels for layer in encoder.layers] == [3, *widths[:-1]]
    assert (encoder.widths.keys, encoder.widths.values, encoder.widths.summary) == (hidden, hidden, hidden)


def test_a_picture_becomes_a_grid_row_by_row():
    encoder = GridEncoder(3, hidden=5, layers=2).eval()
    source = pictures([(13, 17), (11, 7)])
    memory = encoder(source)
    assert memory.grid == (4, 5)
    assert memory.keys.shape == (2, 20, 5)
    assert memory.mask.view(2, 4, 5)[1].tolist() == [[True, True, False, False, False]] * 3 + [[False] * 5]
    assert not memory.values[~memory.mask].any()
    assert torch.allclose(memory.summary[1], memory.values[1][memory.mask[1]].mean(0), atol=1e-6)
    cells = source.data
    for layer, mask in zip(encoder.layers, (source.mask[:, ::2, ::2], source.mask[:, ::4, ::4]), strict=True):
        cells = layer(cells, mask)
    assert torch.equal(memory.keys.view(2, 4, 5, 5), cells.movedim(1, -1))


def test_one_layer_by_hand():
    """Convolved in steps of two, normed in each cell by itself, cut at zero, and silent where the picture ends."""
    layer, data = Shrink(3, 5), torch.randn(2, 3, 7, 9)
    mask = torch.rand(2, 4, 5) < 0.7
    around = F.pad(data, (1, 1, 1, 1))
    patch = around[1, :, 2 * 2 : 2 * 2 + 3, 2 * 3 : 2 * 3 + 3]  # the cell in row 2, column 3
    numbers = torch.einsum("dcij,cij->d", layer.convolve.weight, patch) + layer.convolve.bias
    expected = F.relu(F.layer_norm(numbers, (5,)))
    found = layer(data, mask)
    assert torch.allclose(found[1, :, 2, 3], expected * mask[1, 2, 3], atol=1e-5)
    assert not found.movedim(1, -1)[~mask].any()


def test_a_picture_is_a_grid_of_numbers_and_a_mask():
    assert GridEncoder.sees_images
    one = Grid(torch.rand(1, 3, 1, 1), torch.ones(1, 1, 1, dtype=torch.bool))
    assert GridEncoder(3, hidden=5, layers=3)(one).grid == (1, 1)


def test_further_layers_keep_the_grid():
    encoder = GridEncoder(3, hidden=5, layers=2, further=2).eval()
    source = pictures([(13, 17), (11, 7)])
    memory, plain = encoder(source), GridEncoder(3, hidden=5, layers=2)(source)
    assert memory.grid == plain.grid == (4, 5) and torch.equal(memory.mask, plain.mask)
    assert [layer.stride for layer in encoder.layers] == [2, 2, 1, 1]
    cells, mask = source.data, source.mask
    for layer in encoder.layers:
        mask = mask[:, :: layer.stride, :: layer.stride]
        cells = layer(cells, mask)
    assert torch.equal(memory.keys.view(2, 4, 5, 5), cells.movedim(1, -1))


def test_a_layer_normed_over_the_batch_by_hand():
    """Each number over the real cells of all images; the convolution needs no bias."""
    layer, data = Shrink(3, 5, norm="batch"), torch.randn(2, 3, 7, 9)
    mask = torch.rand(2, 4, 5) < 0.7
    convolved = F.conv2d(data, layer.convolve.weight, stride=2, padding=1).movedim(1, -1)
    assert layer.convolve.bias is None
    real = convolved[mask]
    expected = F.relu((real - real.mean(0)) / (real.var(0, unbiased=False) + 1e-5).sqrt())
    found = layer(data, mask).movedim(1, -1)
    assert torch.allclose(found[mask], expected, atol=1e-5)
    assert not found[~mask].any()


def test_padding_changes_nothing_whatever_the_norm():
    for norm in ("cell", "batch"):
        encoder = GridEncoder(3, hidden=5, layers=2, norm=norm, places=4).eval()
        source = pictures([(13, 17), (11, 7)])
        together = encoder(source)
        alone = encoder(Grid(source.data[1:, :, :11, :7], source.mask[1:, :11, :7]))
        assert torch.allclose(alone.keys[0], together.keys[1][together.mask[1]], atol=1e-5)
        assert torch.allclose(alone.summary[0], together.summary[1], atol=1e-5)


def test_places_say_where_a_cell_is():
    """Two numbers more of each real cell, whose middle is half a cell from its edge."""
    encoder = GridEncoder(3, hidden=5, layers=2, places=4).eval()
    memory = encoder(pictures([(13, 17), (11, 7)]))
    assert (encoder.widths.keys, encoder.widths.values, encoder.widths.summary) == (7, 7, 7)
    down, right = memory.keys.view(2, 4, 5, 7)[..., 5:].unbind(-1)
    assert down[0].tolist() == [[row / 4 - 0.875] * 5 for row in range(4)]
    assert right[0].tolist() == [[-0.875, -0.625, -0.375, -0.125, 0.125]] * 4
    assert right[1].tolist() == [[-0.875, -0.625, 0, 0, 0]] * 3 + [[0] * 5]
    assert memory.summary[1, 5].item() == pytest.approx(-0.625)
