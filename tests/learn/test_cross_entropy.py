"""The surprise of pieces slice by slice is that of all scores at once, and so are its gradients."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.learn import cross_entropy
from regard.learn.cross_entropy import negative_log_likelihoods, product_nll
from regard.learn.loss import sequence_loss
from regard.types import Taught
from small import DECODERS, batch, model, overrides


def sides(count=7, size=11, width=5, seed=0):
    draw = torch.Generator().manual_seed(seed)
    rows, table = (torch.randn(each, width, generator=draw, dtype=torch.float64) for each in (count, size))
    bias, wanted = torch.randn(size, generator=draw, dtype=torch.float64), torch.randint(size, (count,), generator=draw)
    return rows.requires_grad_(), table.requires_grad_(), bias.requires_grad_(), wanted


@settings(deadline=None, derandomize=True)
@given(
    count=st.integers(0, 9),
    size=st.integers(1, 13),
    smoothing=st.floats(0.0, 0.95),
    held=st.integers(1, 60),
    seed=st.integers(0, 999),
)
def test_slices_are_the_whole(count, size, smoothing, held, seed):
    *given_sides, wanted = sides(count, size, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_entropy, "SLICE", held)
        plain, goal = product_nll(*given_sides, wanted, smoothing)
    gradients = torch.autograd.grad(3 * goal, given_sides)
    rows, table, bias = given_sides
    expected, mixed = negative_log_likelihoods(rows @ table.mT + bias, wanted, smoothing)
    assert torch.allclose(plain, expected)
    assert torch.allclose(goal, mixed.sum())
    for ours, theirs in zip(gradients, torch.autograd.grad(3 * mixed.sum(), given_sides), strict=True):
        assert torch.allclose(ours, theirs)


def test_gradients_by_differences():
    *given_sides, wanted = sides()
    assert torch.autograd.gradcheck(lambda *some: product_nll(*some, wanted, 0.2)[1], given_sides)


def test_without_a_bias():
    rows, table, bias, wanted = sides()
    zero = torch.zeros_like(bias)
    assert torch.equal(product_nll(rows, table, None, wanted, 0.1)[1], product_nll(rows, table, zero, wanted, 0.1)[1])


def test_large_scores_do_not_overflow():
    rows, table, bias, wanted = sides()
    plain, goal = product_nll(1e4 * rows, table, bias, wanted, 0.1)
    assert plain.isfinite().all()
    assert all(each.isfinite().all() for each in torch.autograd.grad(goal, (rows, table)))


@pytest.mark.parametrize("decoder", DECODERS)
def test_the_loss_of_a_model_is_that_of_its_scores(decoder, monkeypatch):
    """A decoder that hands over its scores, and one that hands over what they are made of, learn the same."""
    built, pairs = model(overrides("predict", decoder)).eval(), batch()
    parts = sequence_loss(built, pairs, smoothing=0.1)
    gradients = torch.autograd.grad(parts.total, list(built.parameters()), allow_unused=True)
    teach = built.predict.teach

    def scored(*given_arguments):
        taught = teach(*given_arguments)
        assert taught.table is not None
        return Taught(taught.logits, taught.looked)

    monkeypatch.setattr(built.predict, "teach", scored)
    whole = sequence_loss(built, pairs, smoothing=0.1)
    assert parts.total.item() == pytest.approx(whole.total.item(), rel=1e-5)
    assert parts.nll.item() == pytest.approx(whole.nll.item(), rel=1e-5)
    for ours, theirs in zip(
        gradients, torch.autograd.grad(whole.total, list(built.parameters()), allow_unused=True), strict=True
    ):
        assert (ours is None) == (theirs is None)
        assert ours is None or torch.allclose(ours, theirs, atol=1e-5)
