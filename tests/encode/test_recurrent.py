"""Recurrent encoders: PyTorch's own layers, the directions, Google's bottom."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.encode.recurrent import Layer, RecurrentEncoder
from regard.errors import ShapeError
from regard.masks import flip, from_lengths
from regard.types import Padded, Widths

CELLS = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def source(lengths=(7, 5, 2), width=3):
    mask = from_lengths(torch.tensor(lengths))
    return Padded(torch.randn(*mask.shape, width), mask)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("both", [False, True])
def test_stacked_layers_are_pytorchs(cell, both):
    encoder = RecurrentEncoder(3, hidden=10, layers=2, cell=cell, direction="both" if both else "forward")
    theirs = CELLS[cell](3, 5 if both else 10, num_layers=2, bidirectional=both, batch_first=True)
    with torch.no_grad():
        for number, layer in enumerate(encoder.layers):
            for name, weight in layer.network.named_parameters():
                getattr(theirs, name.replace("l0", f"l{number}")).copy_(weight)
    given = source()
    memory = encoder(given)
    for row, length in enumerate((7, 5, 2)):
        states, final = theirs(given.data[row : row + 1, :length])
        hidden = final[0] if cell == "lstm" else final
        assert torch.allclose(memory.values[row, :length], states[0], atol=1e-5)
        ends = hidden.view(2, 2 if both else 1, -1)
        for layer in range(2):
            assert torch.allclose(memory.final[layer].hidden[row], ends[layer].flatten(), atol=1e-5)
        assert torch.allclose(memory.summary[row], ends[1, -1], atol=1e-5), (
            "read both ways, the backward half is the summary"
        )
    assert not memory.values[~given.mask].any()


@pytest.mark.parametrize("cell", CELLS)
def test_backward_is_the_reversed_source_in_its_own_order(cell):
    backward, forward = (
        RecurrentEncoder(3, hidden=5, layers=2, cell=cell, direction=way) for way in ("backward", "forward")
    )
    forward.load_state_dict(backward.state_dict())
    given = source()
    memory, mirror = backward(given), forward(Padded(flip(given.data, given.mask), given.mask))
    assert torch.allclose(memory.values, flip(mirror.values, given.mask), atol=1e-6)
    assert torch.allclose(memory.summary, mirror.summary, atol=1e-6)
    assert torch.allclose(memory.summary, memory.values[:, 0], atol=1e-6), "it ends on the first word"


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("direction", ["forward", "both"])
@pytest.mark.parametrize("lengths", [(5, 7, 2), (3, 3, 3)])
def test_gradients_are_those_of_packed_sequences_whatever_the_padding_holds(cell, direction, lengths):
    layer, given = Layer(3, 10, cell, direction), source(lengths)
    states = given.data.masked_fill(~given.mask.unsqueeze(-1), torch.nan).requires_grad_()
    weights = [states, *layer.parameters()]
    found, final = layer(states, given.mask)
    packed = pack_padded_sequence(states, given.mask.sum(1), batch_first=True, enforce_sorted=False)
    out, ends = layer.network(packed)
    theirs, end = pad_packed_sequence(out, batch_first=True)[0], ends[0] if cell == "lstm" else ends
    assert torch.allclose(found, theirs, atol=1e-6)
    cotangents = torch.randn_like(found), torch.randn_like(final.hidden)
    ours = torch.autograd.grad((found, final.hidden), weights, cotangents)
    expected = torch.autograd.grad((theirs, torch.cat(end.unbind(0), -1)), weights, cotangents)
    for one, other in zip(ours, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_residuals_add_what_was_read():
    plain, skipping = (RecurrentEncoder(3, hidden=5, layers=3, residual=skip) for skip in (False, True))
    skipping.load_state_dict(plain.state_dict())
    given = source()
    first, _ = plain.layers[0](given.data, given.mask)
    second, _ = plain.layers[1](first, given.mask)
    third, _ = plain.layers[2](second + first, given.mask)
    assert torch.allclose(skipping(given).values, third + second + first, atol=1e-6)


def test_googles_bottom_layer_reads_both_ways_and_is_twice_as_wide():
    encoder = RecurrentEncoder(3, hidden=5, layers=3, cell="lstm", direction="bottom", residual=True)
    assert encoder.layers[0].network.bidirectional
    assert not encoder.layers[1].network.bidirectional
    assert encoder.layers[1].network.input_size == 10
    given = source()
    memory = encoder(given)
    bottom, end = encoder.layers[0](given.data, given.mask)
    second, _ = encoder.layers[1](bottom, given.mask)
    third, _ = encoder.layers[2](second, given.mask)
    assert torch.allclose(memory.values, third + second, atol=1e-6), (
        "skips begin at the third layer, where widths agree"
    )
    assert [state.hidden.shape[1] for state in memory.final] == [5, 5, 5]
    assert torch.allclose(memory.final[0].cell, end.cell[:, 5:])


def test_a_row_of_padding_alone_is_silent():
    given = Padded(torch.randn(2, 3, 3), torch.tensor([[True, True, True], [False, False, False]]))
    memory = RecurrentEncoder(3, hidden=4, direction="both")(given)
    assert not memory.values[1].any()
    assert not memory.summary[1].any()


@pytest.mark.parametrize("cell", CELLS)
def test_recurrences_begin_orthogonal_and_biases_at_zero(cell):
    """Each gate's own square; what is read comes in by a Xavier draw over all gates."""
    network = Layer(31, 14, cell, "both").network
    for name, weight in network.named_parameters():
        if "weight_hh" in name:
            for square in weight.split(7):
                assert torch.allclose(square @ square.T, torch.eye(7), atol=1e-5)
        elif "weight_ih" in name:
            most = (6 / (31 + len(weight))) ** 0.5
            assert 0.9 * most < weight.abs().max() <= most
        elif cell != "lstm":
            assert not weight.any()


def test_an_lstm_begins_by_remembering():
    layer = RecurrentEncoder(3, hidden=7, cell="lstm").layers[0].network
    assert torch.equal(layer.bias_ih_l0 + layer.bias_hh_l0, torch.tensor([0.0] * 7 + [1.0] * 7 + [0.0] * 14))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("direction", "layers", "keys", "summary"),
    [("forward", 3, 10, 10), ("backward", 1, 10, 10), ("both", 2, 10, 5), ("bottom", 1, 20, 10), ("bottom", 3, 10, 10)],
)
def test_widths_are_told_before_anything_runs(cell, direction, layers, keys, summary):
    encoder = RecurrentEncoder(3, hidden=10, layers=layers, cell=cell, direction=direction)
    assert encoder.widths == Widths(keys, keys, summary, final=(10,) * layers, cells=cell == "lstm")


def test_two_directions_cannot_share_an_odd_width():
    with pytest.raises(ShapeError, match=r"cannot share a width of 7(.|\n)*hidden = 8"):
        RecurrentEncoder(3, hidden=7, direction="both")
