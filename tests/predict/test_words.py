"""Readouts: the scores of some pieces are those that they have among all."""

import pytest
import torch
from torch.nn import functional as F

from regard.embed.tokens import Tokens
from regard.predict.words import Apart, Readout, Table, stepped
from regard.registry import names
from regard.types import Attended, State

PRODUCTS = [name for name, cls in names("readout").items() if issubclass(cls, Readout)]


@pytest.mark.parametrize("name", PRODUCTS)
@torch.no_grad()
def test_some_pieces_score_as_among_all(name):
    readout = names("readout")[name](17, Tokens(31, width=13))
    features, pieces = torch.randn(3, 5, 17), torch.tensor([29, 2, 2, 7])
    whole = readout(features)
    few = readout.narrow(pieces)
    assert torch.allclose(few(features), whole[..., pieces], atol=1e-6)
    assert torch.allclose(few.narrow(torch.tensor([3, 0]))(features), whole[..., [7, 29]], atol=1e-6)


@pytest.mark.parametrize("name", PRODUCTS)
@torch.no_grad()
def test_a_context_beside_the_features_is_one_of_them(name):
    readout = names("readout")[name](17, Tokens(31, width=13))
    features, context = torch.randn(3, 11), torch.randn(3, 1, 6)
    whole = readout(torch.cat((features, context[:, 0]), -1))
    looked, some = Attended(context, lambda: context), torch.tensor([29, 2, 7])
    found = stepped(readout, features, State(0), (looked,), looked)
    assert torch.allclose(found.logits, whole, atol=1e-6)
    assert torch.allclose(found.some(slice(1, 3)), whole[1:], atol=1e-6)
    few = stepped(readout.narrow(some), features, State(0), (looked,), looked)
    assert torch.allclose(few.logits, whole[:, some], atol=1e-6)


@torch.no_grad()
def test_any_module_may_read_out():
    """One that is no readout sees the features, and the context after them."""
    features, context = torch.randn(3, 11), torch.randn(3, 2, 6)
    looked = Attended(context, lambda: context)
    alone, both = torch.nn.Linear(11, 5), torch.nn.Linear(17, 5)
    assert torch.equal(stepped(alone, features, State(0), (looked,)).logits, alone(features))
    found = stepped(both, features, State(0), (looked,), looked)
    assert torch.allclose(found.logits, both(torch.cat((features, context[:, 0]), -1)))


def test_a_table_by_hand():
    table = Table(torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.0]]), torch.tensor([0.5, 0.0, -1.0]))
    assert table(torch.tensor([1.0, 1.0])).tolist() == [3.5, -1.0, 2.0]
    assert table.narrow(torch.tensor([2, 0]))(torch.tensor([1.0, 1.0])).tolist() == [2.0, 3.5]


def test_the_product_may_be_made_by_another():
    readout = names("readout")["maxout"](17, Tokens(31, width=13))
    other = Table(torch.zeros(5, 8), torch.arange(5.0))
    assert Apart(readout, other)(torch.randn(3, 17)).tolist() == [[0.0, 1.0, 2.0, 3.0, 4.0]] * 3


def test_a_maxout_that_learns_is_the_one_that_is_used():
    """By hand: the larger of two neighbours, which alone gets the gradient."""
    readout = names("readout")["maxout"](5, Tokens(31, width=13), hidden=3).double()
    features = torch.randn(2, 7, 5, dtype=torch.float64, requires_grad=True)
    pairs = F.linear(features, readout.pairs.weight, readout.pairs.bias).unflatten(-1, (3, 2))
    wanted = torch.where(pairs[..., 0] > pairs[..., 1], pairs[..., 0], pairs[..., 1])
    learnt = readout.ready(features)
    with torch.no_grad():
        used = readout.ready(features)
    assert torch.allclose(learnt, wanted) and torch.allclose(used, wanted)
    upstream = torch.randn_like(wanted)
    given = [features, readout.pairs.weight, readout.pairs.bias]
    for ours, plain in zip(
        torch.autograd.grad(learnt, given, upstream), torch.autograd.grad(wanted, given, upstream), strict=True
    ):
        assert torch.allclose(ours, plain)


@pytest.mark.parametrize(("inputs", "hidden", "width"), [(17, 0, 8), (17, 5, 5), (1, 0, 1)])
def test_a_maxout_takes_half_the_features(inputs, hidden, width):
    readout = names("readout")["maxout"](inputs, Tokens(31, width=13), hidden=hidden)
    assert (readout.pairs.out_features, readout.score.in_features) == (2 * width, width)


def test_of_two_equal_neighbours_the_second_learns():
    readout = names("readout")["maxout"](2, Tokens(31, width=13), hidden=1)
    readout.pairs.weight.data = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    readout.pairs.bias.data.zero_()
    readout.ready(torch.tensor([[3.0, 3.0]])).sum().backward()
    assert readout.pairs.weight.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]
