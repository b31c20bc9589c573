"""Readouts: the scores of some pieces are those that they have among all."""

import pytest
import torch

from regard.embed.tokens import Tokens
from regard.predict.words import Apart, Readout, Table
from regard.registry import names

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


def test_a_table_by_hand():
    table = Table(torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.0]]), torch.tensor([0.5, 0.0, -1.0]))
    assert table(torch.tensor([1.0, 1.0])).tolist() == [3.5, -1.0, 2.0]
    assert table.narrow(torch.tensor([2, 0]))(torch.tensor([1.0, 1.0])).tolist() == [2.0, 3.5]


def test_the_product_may_be_made_by_another():
    readout = names("readout")["maxout"](17, Tokens(31, width=13))
    other = Table(torch.zeros(5, 8), torch.arange(5.0))
    assert Apart(readout, other)(torch.randn(3, 17)).tolist() == [[0.0, 1.0, 2.0, 3.0, 4.0]] * 3
