"""What keeps a recurrent language model from learning by heart: words, numbers and weights dropped all along a text."""

import pytest
import torch

from regard.embed.tokens import Tokens
from regard.fast.dropout import drop
from regard.predict.cell import Gru, Lstm
from regard.recipe import resolve
from regard.recipe.resolve import Recipe
from regard.types import Recurrent
from small import TARGET, smaller, words

OFF = {"dropout": 0.0, "embed.dropout": 0.0, "embed.drop_words": 0.0, "weight_drop": 0.0}


def decoder(name="awd-lstm", **changes):
    torch.manual_seed(0)
    asked = resolve(name, [f"predict.{key}={value}" for key, value in changes.items()])
    small = Recipe(asked.about, smaller(asked.model, {"width": 13, "hidden": 13}), asked.train, asked.task)
    return small.build(0, TARGET)


def rows(model, ids):
    torch.manual_seed(5)
    return model.predict.teach(ids, model.nothing_read(len(ids.data))).rows


@pytest.fixture(scope="module")
def ids():
    torch.manual_seed(1)
    return words(TARGET, (11, 11, 11))


def test_nothing_dropped_is_the_plain_part(ids):
    """Bit for bit, in training too."""
    plain = decoder("lstm-lm", **{"dropout": 0.0, "embed.dropout": 0.0})
    assert torch.equal(rows(decoder(**OFF).train(), ids), rows(plain.train(), ids))


def test_in_use_nothing_is_dropped(ids):
    assert torch.equal(rows(decoder().eval(), ids), rows(decoder(**OFF).eval(), ids))


@pytest.mark.parametrize(
    "change", [{"dropout": 0.5}, {"embed.dropout": 0.5}, {"embed.drop_words": 0.5}, {"weight_drop": 0.5}]
)
def test_each_of_them_counts_in_training(change, ids):
    assert not torch.allclose(rows(decoder(**(OFF | change)).train(), ids), rows(decoder(**OFF).train(), ids))


def test_the_same_numbers_are_dropped_at_every_step():
    torch.manual_seed(2)
    found = drop(torch.ones(3, 7, 501), 0.4, True, locked=True)
    assert torch.equal(found, found[:, :1].expand_as(found)), "at every step"
    assert not torch.equal(found[0], found[1]), "not in every row"
    assert (found == 0).float().mean().item() == pytest.approx(0.4, abs=0.05)
    assert torch.allclose(found[found > 0], torch.tensor(1 / 0.6), rtol=1e-3)


def test_what_the_readout_sees_lacks_the_same_numbers_at_every_step(ids):
    zero = rows(decoder(**(OFF | {"dropout": 0.5})).train(), ids) == 0
    assert torch.equal(zero, zero[:, :1].expand_as(zero)) and zero.any() and not zero.all()
    loose = rows(decoder(**(OFF | {"dropout": 0.5, "locked": "false"})).train(), ids) == 0
    assert not torch.equal(loose, loose[:, :1].expand_as(loose))


def test_a_word_is_dropped_wherever_it_stands():
    torch.manual_seed(3)
    embed = Tokens(503, width=5, drop_words=0.3).train()
    ids = torch.arange(4, 503).repeat(2, 2)
    found = embed.vectors(ids)
    gone = (found == 0).all(-1)
    assert torch.equal(gone, gone[:1, :499].repeat(2, 2)), "in both rows, at both places"
    assert gone.float().mean().item() == pytest.approx(0.3, abs=0.07)
    assert torch.allclose(found[~gone], embed.table(ids)[~gone] / 0.7, rtol=1e-3)


def test_the_numbers_of_a_vector_are_dropped_along_a_row():
    zero = Tokens(31, width=17, dropout=0.5, locked=True).train().vectors(torch.randint(4, 31, (3, 7))) == 0
    assert torch.equal(zero, zero[:, :1].expand_as(zero)) and zero.any()


@pytest.mark.parametrize("kind", [Lstm, Gru])
def test_a_weight_that_is_dropped_is_dropped_at_every_step(kind):
    torch.manual_seed(4)
    cell, other = kind((7,), 11), kind((7,), 11)
    other.load_state_dict(cell.state_dict())
    kept = torch.rand_like(cell.recur.weight) > 0.5
    other.recur.weight.data *= kept
    projected = torch.randn(3, 5, cell.gates * 11)
    start = Recurrent(torch.randn(3, 11), torch.randn(3, 11) if cell.keeps else None)
    found = cell.run(projected, start, cell.recur.weight * kept)
    assert torch.allclose(found, other.run(projected, start), atol=1e-6)
    assert not torch.allclose(found, cell.run(projected, start), atol=1e-3)
    found.sum().backward()
    assert (cell.recur.weight.grad[~kept] == 0).all() and cell.recur.weight.grad[kept].any()
