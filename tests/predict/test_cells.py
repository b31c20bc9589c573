"""Cells against PyTorch's, Cho's unit by its equations, bridges and readouts."""

import pytest
import torch
from torch import nn

from regard.embed.tokens import Tokens
from regard.errors import ShapeError
from regard.predict.bridge import Copy, Project, Zero
from regard.predict.cell import Cho, Gru, Lstm, Tanh
from regard.predict.words import Linear, Maxout, Tied
from regard.types import Memory, Recurrent, Widths


@pytest.mark.parametrize(("cell", "theirs"), [(Tanh, nn.RNNCell), (Gru, nn.GRUCell), (Lstm, nn.LSTMCell)])
def test_cells_are_pytorchs(cell, theirs):
    ours, theirs = cell((3, 2), 5), theirs(5, 5)
    with torch.no_grad():
        ours.recur.bias.normal_()
        theirs.weight_ih.copy_(torch.cat([projection.weight for projection in ours.project], 1))
        theirs.bias_ih.copy_(ours.project[0].bias)
        theirs.weight_hh.copy_(ours.recur.weight)
        theirs.bias_hh.copy_(ours.recur.bias)
    first, second, hidden, kept = torch.randn(7, 3), torch.randn(7, 2), torch.randn(7, 5), torch.randn(7, 5)
    found = ours(ours.project[0](first) + ours.project[1](second), Recurrent(hidden, kept if ours.keeps else None))
    given = torch.cat((first, second), 1)
    if ours.keeps:
        expected, expected_kept = theirs(given, (hidden, kept))
        assert torch.allclose(found.cell, expected_kept, atol=1e-6)
    else:
        expected = theirs(given, hidden)
    assert torch.allclose(found.hidden, expected, atol=1e-6)


def test_chos_unit_by_its_equations():
    cell = Cho((3,), 2)
    word, hidden = torch.randn(1, 3), torch.randn(1, 2)
    x = cell.project[0](word)[0]
    u, b = cell.recur.weight, cell.recur.bias
    r = torch.sigmoid(x[0:2] + u[0:2] @ hidden[0] + b[0:2])
    z = torch.sigmoid(x[2:4] + u[2:4] @ hidden[0] + b[2:4])
    n = torch.tanh(x[4:6] + u[4:6] @ (r * hidden[0]) + b[4:6])
    assert torch.allclose(
        cell(cell.project[0](word), Recurrent(hidden)).hidden[0], (1 - z) * hidden[0] + z * n, atol=1e-6
    )


@pytest.mark.parametrize("cell", [Tanh, Gru, Cho, Lstm])
def test_how_the_weights_of_a_cell_begin(cell):
    """Inputs by Xavier, one bias for their sum; the recurrence orthogonal gate by gate; a forget gate begins open."""
    torch.manual_seed(3)
    built = cell((101, 67), 31)
    for projection in built.project:
        bound = (6 / sum(projection.weight.shape)) ** 0.5
        assert 0.99 * bound < float(projection.weight.detach().abs().max()) <= bound
    assert [projection.bias is None for projection in built.project] == [False, True]
    for block in built.recur.weight.chunk(built.gates):
        assert torch.allclose(block @ block.T, torch.eye(31), atol=1e-5)
    open_gates = [0.0, 1.0, 0.0, 0.0] if cell is Lstm else [0.0] * built.gates
    assert torch.equal(built.recur.bias, torch.tensor(open_gates).repeat_interleave(31))


def memory(width=4, layers=2, cells=True):
    states = torch.randn(3, 7, width)
    final = tuple(Recurrent(torch.randn(3, width), torch.randn(3, width) if cells else None) for _ in range(layers))
    return Memory(states, states, torch.ones(3, 7, dtype=torch.bool), torch.randn(3, width), final)


def test_bridges():
    widths, given = Widths(4, 4, 4, (4, 4), True), memory()
    copied = Copy(widths, (4, 4), True)(given)
    assert torch.equal(copied[1].cell, given.final[1].cell)
    assert Copy(widths, (4, 4), False)(given)[0].cell is None
    project = Project(widths, (5,), True)
    started = project(given)
    assert torch.allclose(started[0].hidden, torch.tanh(project.hidden[0](given.summary)))
    assert not started[0].cell.any()
    assert not Zero(widths, (5, 6), False)(given)[1].hidden.any()


def test_a_copy_needs_layers_alike():
    with pytest.raises(
        ShapeError, match=r"ends with 1 layers of 4, the decoder starts with 2 LSTM layers of 4, 4(.|\n)*project"
    ):
        Copy(Widths(4, 4, 4, (4,), False), (4, 4), True)
    with pytest.raises(ShapeError, match="ends with no recurrent layers"):
        Copy(Widths(4, 4, 4), (4,), False)


def test_readouts():
    embed, features = Tokens(11, width=6), torch.randn(3, 5, 6)
    assert Linear(6, embed)(features).shape == (3, 5, 11)
    tied = Tied(6, embed)
    assert torch.allclose(tied(features), features @ embed.table.weight.T)
    assert sum(weight.numel() for weight in tied.parameters()) == embed.table.weight.numel() + 11
    assert [tuple(weight.shape) for weight in Tied(7, embed).fit.parameters()] == [(6, 7)]
    maxout = Maxout(6, embed, hidden=4)
    pairs = maxout.pairs(features)
    largest = torch.stack([pairs[..., 2 * i : 2 * i + 2].max(-1).values for i in range(4)], -1)
    assert torch.allclose(maxout(features), maxout.score(largest), atol=1e-6)


@pytest.mark.parametrize("cell", [Tanh, Gru, Cho, Lstm])
def test_cells_step_where_products_are_in_half_precision(cell):
    built = cell((3,), 5)
    state = Recurrent(torch.randn(7, 5), torch.randn(7, 5) if built.keeps else None)
    word = torch.randn(7, 3)
    with torch.autocast("cpu", torch.bfloat16):
        half = built(built.project[0](word), state)
    assert torch.allclose(half.hidden.float(), built(built.project[0](word), state).hidden, atol=0.05)
