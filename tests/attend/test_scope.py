"""Scopes: windows where they should be, local-p as the paper's loop, limits."""

import math

import pytest
import torch

from regard.attend import Attention
from regard.attend.attention import window
from regard.attend.scope import LocalMonotonic, LocalPredictive
from regard.registry import maker
from regard.types import Prepared


def prepared(batch=2, keys=11, lengths=(11, 6)):
    mask = torch.arange(keys) < torch.tensor(lengths)[:, None]
    return Prepared(torch.randn(batch, keys, 3), torch.randn(batch, keys, 5), mask.unsqueeze(1))


def test_local_m_walks_along_and_stops_at_the_last_word():
    view = LocalMonotonic(3, reach=2)(torch.randn(2, 9, 3), prepared(), start=0)
    seen = [
        [index[ok].tolist() for index, ok in zip(*row, strict=True)]
        for row in zip(view.index, view.allowed, strict=True)
    ]
    assert seen[0][0] == [0, 1, 2]
    assert seen[0][5] == [3, 4, 5, 6, 7]
    assert seen[1][5] == [3, 4, 5]
    assert seen[1][8] == [3, 4, 5], "past the end it looks at the last words"


def test_local_m_starts_where_it_is_told():
    scope, memory = LocalMonotonic(3, reach=1), prepared()
    many = scope(torch.randn(2, 7, 3), memory, start=0)
    one = scope(torch.randn(2, 1, 3), memory, start=4)
    assert torch.equal(one.index[:, 0], many.index[:, 4])


def test_a_window_that_covers_everything_is_global():
    query, keys, values = torch.randn(2, 7, 3), torch.randn(2, 11, 3), torch.randn(2, 11, 5)
    mask = torch.arange(11) < torch.tensor([11, 6])[:, None]
    wide = Attention(3, 3, 5, score=maker("score", "general"), scope=maker("scope", "local_m", reach=11))
    whole = Attention(3, 3, 5, score=maker("score", "general"))
    whole.score.load_state_dict(wide.score.state_dict())
    found, expected = (each(query, each.prepare(keys, values, mask)) for each in (wide, whole))
    assert torch.allclose(found.context, expected.context, atol=1e-6)
    assert torch.allclose(found.weights, expected.weights, atol=1e-6)


@pytest.mark.parametrize("renormalise", [False, True])
def test_local_p_is_the_papers_loop(renormalise):
    scope = maker("scope", "local_p", reach=3, renormalise=renormalise)
    attend = Attention(2, 2, 5, score=maker("score", "dot"), scope=scope)
    query, keys, values = torch.randn(2, 7, 2), torch.randn(2, 13, 2), torch.randn(2, 13, 5)
    lengths = (13, 8)
    looked = attend(query, attend.prepare(keys, values, torch.arange(13) < torch.tensor(lengths)[:, None]))
    inner = attend.scope
    for b, length in enumerate(lengths):
        for t in range(7):
            p = (length - 1) * torch.sigmoid(
                inner.vector.weight[0] @ torch.tanh(inner.project.weight @ query[b, t])
            ).item()
            places = [s for s in range(math.floor(p) - 3, math.floor(p) + 4) if 0 <= s < length]
            weights = torch.softmax(torch.stack([query[b, t] @ keys[b, s] for s in places]), 0)
            weights = weights * torch.tensor([math.exp(-((s - p) ** 2) / (2 * 1.5**2)) for s in places])
            if renormalise:
                weights = weights / weights.sum()
            expected = torch.zeros(13)
            expected[places] = weights
            assert torch.allclose(looked.weights[b, t], expected, atol=1e-5)
            assert torch.allclose(looked.context[b, t], expected @ values[b], atol=1e-5)


def test_a_wide_gaussian_leaves_the_window_alone():
    attend = Attention(2, 2, 5, score=maker("score", "dot"), scope=maker("scope", "local_p", reach=3, sigma=1e6))
    query, keys, values = torch.randn(2, 7, 2), torch.randn(2, 13, 2), torch.randn(2, 13, 5)
    looked = attend(query, attend.prepare(keys, values))
    assert torch.allclose(looked.weights.sum(-1), torch.ones(2, 7), atol=1e-5)


def test_local_p_learns_where_to_point_through_the_gaussian_alone():
    scope = LocalPredictive(3, reach=2)
    query = torch.randn(2, 7, 3)
    view = scope(query, prepared())
    view.tilt.sum().backward()
    assert scope.project.weight.grad.any()
    assert scope.vector.weight.grad.any()


@pytest.mark.parametrize("name", ["local_m", "local_p"])
def test_outside_the_window_the_weight_is_exactly_zero(name):
    attend = Attention(3, 3, 5, score=maker("score", "dot"), scope=maker("scope", name, reach=2))
    looked = attend(torch.randn(2, 7, 3), attend.prepare(torch.randn(2, 23, 3), torch.randn(2, 23, 5)))
    assert ((looked.weights != 0).sum(-1) <= 5).all()


def test_causal_counts_from_the_lower_right_corner():
    attend = Attention(3, 3, 5, score=maker("score", "dot"), scope=maker("scope", "causal"))
    keys, values = torch.randn(2, 7, 3), torch.randn(2, 7, 5)
    looked = attend(torch.randn(2, 2, 3), attend.prepare(keys, values))
    assert (looked.weights[:, 0, 6] == 0).all()
    assert (looked.weights[:, 0, :6] > 0).all()
    assert (looked.weights[:, 1] > 0).all()


def test_a_window_gathers_the_right_rows():
    rows, index = torch.randn(2, 3, 7, 5), torch.randint(0, 7, (2, 3, 11, 4))
    found = window(rows, index)
    for b in range(2):
        for h in range(3):
            assert torch.equal(found[b, h], rows[b, h][index[b, h]])
