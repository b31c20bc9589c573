"""The row encoder: its sizes by hand, rows that do not meet, masked batch norm, and an LSTM with a first state."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.encode.recurrent import Layer
from regard.encode.rows import Convolution, RowEncoder, RowReader
from regard.types import Grid
from small import pictures


def test_the_network_of_the_paper():
    encoder = RowEncoder(1, features=512, hidden=512)
    sizes = [(each.convolve.in_channels, each.convolve.out_channels) for each in encoder.convolutions]
    assert sizes == [(1, 64), (64, 128), (128, 256), (256, 256), (256, 512), (512, 512)]
    assert [each.norm is not None for each in encoder.convolutions] == [False, False, True, False, True, True]
    assert [each.pool for each in encoder.convolutions] == [(2, 2), (2, 2), (1, 1), (2, 1), (1, 2), (1, 1)]
    assert encoder.across.start.shape == (2, 2, 20, 256)
    assert (encoder.widths.keys, encoder.widths.values, encoder.widths.summary) == (512, 512, 512)
    flat = RowEncoder(1, features=24, hidden=10, across=False)
    assert flat.across is None and flat.widths.keys == 24


def test_cells_may_stand_beside_the_states_of_their_row():
    torch.manual_seed(3)
    both = RowEncoder(1, features=16, hidden=6, skip=True).eval()
    assert (both.widths.keys, both.widths.values, both.widths.summary) == (22, 22, 22)
    source = pictures([(24, 40), (13, 17)], channels=1)
    found = both(source)
    both.skip = False
    states = both(source)
    both.across = None
    cells = both(source)
    assert torch.equal(found.keys, torch.cat((states.keys, cells.keys), -1))
    assert torch.allclose(found.summary, torch.cat((states.summary, cells.summary), -1), atol=1e-6)
    assert RowEncoder(1, features=24, hidden=10, across=False, skip=True).widths.keys == 24


def test_a_picture_becomes_cells_of_eight_pixels_row_by_row():
    encoder = RowEncoder(3, features=16, hidden=6, rows=2).eval()
    memory = encoder(pictures([(29, 41), (17, 9)]))
    assert memory.grid == (4, 6)
    assert memory.keys.shape == (2, 24, 6)
    assert memory.mask.view(2, 4, 6)[1].tolist() == [[True, True, False, False, False, False]] * 3 + [[False] * 6]
    assert not memory.values[~memory.mask].any()
    assert torch.allclose(memory.summary[1], memory.values[1][memory.mask[1]].mean(0), atol=1e-6)


@pytest.mark.parametrize(("across", "skip"), [(True, False), (True, True), (False, False)])
def test_padding_changes_nothing(across, skip):
    encoder = RowEncoder(1, features=16, hidden=6, across=across, skip=skip).eval()
    for norm in (each.norm for each in encoder.convolutions if each.norm):
        norm.mean.normal_(), norm.variance.uniform_(0.5, 2.0), nn.init.normal_(norm.bias)
    sizes = [(24, 40), (13, 17), (40, 7)]
    together = encoder(pictures_of(sizes))
    source = pictures_of(sizes)
    together = encoder(source)
    for row, (height, width) in enumerate(sizes):
        alone = encoder(
            Grid(source.data[row : row + 1, :, :height, :width], source.mask[row : row + 1, :height, :width])
        )
        assert torch.allclose(alone.keys[0], together.keys[row][together.mask[row]], atol=1e-5)
        assert torch.allclose(alone.summary[0], together.summary[row], atol=1e-5)


def pictures_of(sizes):
    return pictures(sizes, channels=1)


def test_one_convolution_by_hand():
    layer, data = Convolution(2, 3, False, (2, 1)), torch.randn(1, 2, 5, 4)
    mask = torch.ones(1, 5, 4, dtype=torch.bool)
    mask[:, :, 3] = False
    around = F.pad(data, (1, 1, 1, 1))
    column = [
        torch.einsum("dcij,cij->d", layer.convolve.weight, around[0, :, row : row + 3, 1:4]) + layer.convolve.bias
        for row in (2, 3)
    ]
    found, real = layer(data, mask)
    assert found.shape == (1, 3, 3, 4) and real.tolist() == [[[True, True, True, False]] * 3]
    assert torch.allclose(found[0, :, 1, 1], torch.stack(column).relu().amax(0), atol=1e-5)
    assert not found[..., 3].any()


def test_rows_do_not_meet():
    reader, mask = RowReader(5, 6, 2), torch.ones(1, 3, 7, dtype=torch.bool)
    cells = torch.randn(1, 3, 7, 5)
    changed = cells.clone()
    changed[0, 1, 2] += 1
    before, after = reader(cells, mask), reader(changed, mask)
    assert torch.equal(before[0, [0, 2]], after[0, [0, 2]])
    assert (before[0, 1] != after[0, 1]).any(-1).all(), "both directions carry it through the row"


def test_each_row_begins_in_its_own_state():
    reader = RowReader(5, 6, 2)
    cells, mask = torch.randn(1, 1, 7, 5).expand(1, 4, 7, 5), torch.ones(1, 4, 7, dtype=torch.bool)
    read = reader(cells, mask)[0]
    assert not torch.allclose(read[0], read[1])
    assert torch.equal(read[1], read[2]) and torch.equal(read[2], read[3]), "rows beyond share the last one's"
    shown, kept = reader.start[:, :, 1:2].contiguous()
    expected, _ = reader.layer.network(cells[:, 0], (shown, kept))
    assert torch.allclose(read[1], expected[0], atol=1e-6)


def test_a_first_state_is_that_of_every_row_in_a_ragged_batch():
    layer = Layer(5, 6, "lstm", "both")
    states, mask = torch.randn(3, 7, 5), torch.arange(7) < torch.tensor([7, 2, 5])[:, None]
    start = (torch.randn(2, 3, 3), torch.randn(2, 3, 3))
    together, _ = layer(states, mask, start)
    for row, length in enumerate((7, 2, 5)):
        first = tuple(each[:, row : row + 1].contiguous() for each in start)
        alone, _ = layer.network(states[row : row + 1, :length], first)
        assert torch.allclose(together[row, :length], alone[0], atol=1e-6)
    assert not torch.allclose(together, layer(states, mask)[0])
