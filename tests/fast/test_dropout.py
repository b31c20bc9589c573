"""Dropout: the right share, the right mean, every number by itself, and nothing outside training."""

import pytest
import torch

from regard.fast.dropout import drop, factors


def test_outside_training_nothing_is_touched():
    rows = torch.randn(100, 100)
    assert drop(rows, 0.5, False) is rows
    assert drop(rows, 0.0, True) is rows


@pytest.mark.parametrize("share", [0.001, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("place", range(4))
def test_each_of_the_four_numbers_of_a_draw_is_dropped_as_often(share, place):
    torch.manual_seed(place)
    some = factors(torch.Size((400_000,)), share)[place::4]
    dropped, deviation = (some == 0).float().mean().item(), (share * (1 - share) / len(some)) ** 0.5
    assert abs(dropped - share) < 5 * deviation + 1 / 32768
    assert torch.allclose(some[some > 0], torch.tensor(1 / (1 - share)), rtol=1e-3)


def test_numbers_are_dropped_independently():
    torch.manual_seed(1)
    dropped = (factors(torch.Size((100_000, 8)), 0.3) == 0).double()
    related = torch.corrcoef(dropped.T) - torch.eye(8)
    assert related.abs().max() < 5 * 100_000**-0.5


def test_the_mean_stays():
    torch.manual_seed(2)
    assert factors(torch.Size((1000, 1000)), 0.3).mean().item() == pytest.approx(1.0, abs=0.004)


@pytest.mark.parametrize("shape", [(3,), (70, 61), (9, 70, 61)])
def test_what_is_kept_is_scaled_and_so_is_its_gradient(shape):
    torch.manual_seed(3)
    rows = torch.randn(shape, requires_grad=True)
    found = drop(rows, 0.25, True)
    found.sum().backward()
    kept = found != 0
    assert torch.allclose(found[kept], rows[kept] / 0.75, rtol=1e-3)
    assert torch.equal(rows.grad != 0, kept)
    assert torch.allclose(rows.grad[kept], torch.tensor(1 / 0.75), rtol=1e-3)


def test_a_seed_decides_what_is_dropped():
    found = []
    for seed in (4, 4, 5):
        torch.manual_seed(seed)
        found.append(factors(torch.Size((5000,)), 0.5))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_precision_is_kept():
    assert drop(torch.ones(5000, dtype=torch.float64), 0.5, True).dtype == torch.float64
    assert drop(torch.ones(5000, dtype=torch.bfloat16), 0.5, True).dtype == torch.bfloat16
