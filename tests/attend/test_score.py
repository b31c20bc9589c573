"""Scores: cases by hand, and the formulas of the papers as loops."""

import math

import pytest
import torch
from torch.nn import functional as F

from regard.attend.additive import Additive, Fading, _room, additive, plain_additive
from regard.attend.score import Cosine, Dot, General, Location, ScaledDot, cosine, dot, scaled_dot
from regard.errors import ShapeError

QUERY = torch.tensor([[[1.0, 2.0], [0.0, -1.0]]])
KEYS = torch.tensor([[[3.0, 1.0], [1.0, 0.0], [-2.0, 4.0]]])


def test_by_hand():
    assert torch.equal(dot(QUERY, KEYS), torch.tensor([[[5.0, 1.0, 6.0], [-1.0, 0.0, -4.0]]]))
    assert torch.allclose(scaled_dot(QUERY, KEYS) * math.sqrt(2), dot(QUERY, KEYS))
    expected = torch.tensor([5 / math.sqrt(5 * 10), 1 / math.sqrt(5), 6 / math.sqrt(5 * 20)])
    assert torch.allclose(cosine(QUERY, KEYS)[0, 0], expected)


def test_general_by_hand():
    score = General(2, 2)
    score.project.weight.data = math.sqrt(2) * torch.tensor([[0.0, 1.0], [2.0, 0.0]])  # W k = (k2, 2 k1)
    assert torch.allclose(score(QUERY, score.prepare(KEYS))[0, 0], torch.tensor([1 + 12.0, 0 + 4.0, 4 - 8.0]))


def test_general_joins_any_two_widths():
    score = General(5, 3)
    query, keys = torch.randn(2, 7, 5), torch.randn(2, 11, 3)
    expected = torch.einsum("bqi,ij,bkj->bqk", query, score.project.weight / math.sqrt(3), keys)
    assert torch.allclose(score(query, score.prepare(keys)), expected, atol=1e-6)


def test_a_step_of_adam_moves_a_general_score_with_the_root_of_the_width():
    """All numbers of W move by the rate; the score of unit vectors that agree with the move grows by D / sqrt(D)."""
    moved = []
    for width in (16, 1024):
        score = General(width, width)
        query = keys = torch.full((1, 1, width), width**-0.5)
        before = score(query, score.prepare(keys))
        score.project.weight.data += 0.01
        moved.append(float((score(query, score.prepare(keys)) - before).detach()))
    assert moved == pytest.approx([0.01 * 4, 0.01 * 32], rel=1e-3)


def test_general_may_keep_w_itself():
    score = General(2, 2, scaled=False)
    score.project.weight.data = torch.tensor([[0.0, 1.0], [2.0, 0.0]])  # W k = (k2, 2 k1)
    assert torch.allclose(score(QUERY, score.prepare(KEYS))[0, 0], torch.tensor([1 + 12.0, 0 + 4.0, 4 - 8.0]))


def matrix(score, width):
    """W as the score multiplies with it, however it is kept."""
    return score.prepare(torch.eye(width).unsqueeze(0))[0].T


def test_w_begins_alike_either_way():
    torch.manual_seed(3)
    kept = General(5, 7)
    torch.manual_seed(3)
    assert torch.allclose(matrix(kept, 7), matrix(General(5, 7, scaled=False), 7), atol=1e-7)


@pytest.mark.parametrize("scaled", [False, True])
def test_plain_descent_moves_w_by_its_gradient_only_if_it_is_kept_as_it_is(scaled):
    """Of the score q' W k the gradient is q k'; a step of rate 1 moves W by that, or by a D-th of it."""
    score = General(2, 3, scaled=scaled)
    query, keys = torch.tensor([[[2.0, -1.0]]]), torch.tensor([[[1.0, 0.5, 3.0]]])
    before = matrix(score, 3).detach()
    score(query, score.prepare(keys)).sum().backward()
    torch.optim.SGD(score.parameters(), lr=1.0).step()
    moved = before - matrix(score, 3).detach()
    assert torch.allclose(moved, torch.tensor([[2.0, 1.0, 6.0], [-1.0, -0.5, -3.0]]) / (3 if scaled else 1), atol=1e-5)


def test_additive_is_a_double_loop():
    score = Additive(3, 5, hidden=7)
    query, keys = torch.randn(2, 11, 3), torch.randn(2, 13, 5)
    found = score(query, score.prepare(keys))
    for b in range(2):
        for q in range(11):
            for k in range(13):
                inside = score.of_query.weight @ query[b, q] + score.of_query.bias + score.of_key.weight @ keys[b, k]
                assert torch.isclose(found[b, q, k], score.vector @ torch.tanh(inside), atol=1e-6)


def test_concat_is_additive_with_one_wide_matrix():
    score = Additive(3, 5, hidden=7)
    query, keys = torch.randn(2, 11, 3), torch.randn(2, 13, 5)
    wide = torch.cat((score.of_query.weight, score.of_key.weight), 1)
    pairs = torch.cat((query.unsqueeze(2).expand(-1, -1, 13, -1), keys.unsqueeze(1).expand(-1, 11, -1, -1)), -1)
    expected = torch.tanh(F.linear(pairs, wide, score.of_query.bias)) @ score.vector
    assert torch.allclose(score(query, score.prepare(keys)), expected, atol=1e-6)


def test_additive_begins_uniform_as_the_paper_does():
    score = Additive(3, 5, uniform=True)
    assert not score(torch.randn(2, 1, 3), score.prepare(torch.randn(2, 7, 5))).any()


HELD = {"two rows": 1499, "two queries": 149, "one query": 97, "some keys": 31, "all kept": None}


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
@pytest.mark.parametrize("leading", [(3,), (2, 3)])
def test_additive_of_powers_is_plain_additive(monkeypatch, leading, held):
    if held:
        monkeypatch.setattr("regard.attend.additive.SLICE", held)
        monkeypatch.setattr("regard.attend.additive.KEPT", 0)
    query, keys, vector = (
        torch.randn(*shape, dtype=torch.float64) for shape in ((*leading, 11, 5), (*leading, 13, 5), (5,))
    )
    upstream = torch.randn(*leading, 11, 13, dtype=torch.float64)
    results = []
    for function in (plain_additive, additive):
        given = [each.clone().requires_grad_() for each in (query, keys, vector)]
        scores = function(*given)
        scores.backward(upstream)
        results.append([scores.detach(), *(each.grad for each in given)])
    for plain, sliced in zip(*results, strict=True):
        assert torch.allclose(plain, sliced, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kept", [0, 1000], ids=["sliced", "kept"])
def test_additive_passes_gradcheck(monkeypatch, kept, count):
    monkeypatch.setattr("regard.attend.additive.SLICE", 2)
    monkeypatch.setattr("regard.attend.additive.KEPT", kept)
    given = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, count, 2), (2, 5, 2), (2,))]
    assert torch.autograd.gradcheck(additive, given)


def test_additive_of_large_numbers_is_finite_and_right():
    """Up to 43 either side has a power; a tanh is 1 long before, and what is beyond counts as 43."""
    query, keys = torch.tensor([[[40.0], [-40.0], [1e4]]]), torch.tensor([[[40.0], [-40.0], [39.5], [-1e4]]])
    vector = torch.tensor([0.5])
    given = [each.clone().requires_grad_() for each in (query, keys, vector)]
    scores = additive(*given)
    assert torch.allclose(scores[:, :2, :3], plain_additive(query, keys, vector)[:, :2, :3], atol=1e-6)
    scores.sum().backward()
    assert all(torch.isfinite(each).all() for each in (scores, *(each.grad for each in given)))


def test_additive_is_as_exact_as_single_precision_is():
    query, keys, vector = (3 * torch.randn(*shape, dtype=torch.float64) for shape in ((2, 7, 31), (2, 13, 31), (31,)))
    exact = plain_additive(query, keys, vector)
    assert (additive(query.float(), keys.float(), vector.float()) - exact).abs().max() < 1e-6 * vector.abs().sum()


def test_step_by_step_over_long_sentences_the_pairs_are_not_kept(monkeypatch):
    """One query a step: what is kept for the way back are queries, keys and vector, and the room is the same."""
    monkeypatch.setattr("regard.attend.additive.LONG", 12)
    keys, vector = (torch.randn(*shape, requires_grad=True) for shape in ((2, 13, 5), (5,)))
    kept, rooms = [], set()

    def keep(tensor):
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        for _ in range(3):
            additive(torch.randn(2, 1, 5, requires_grad=True), keys, vector)
            rooms.add(_room.kept.data_ptr())
    assert max(kept) == keys.numel()
    assert len(rooms) == 1


@pytest.mark.parametrize(("rows", "count", "length"), [(0, 1, 13), (2, 0, 13), (2, 1, 0)])
def test_nothing_to_ask_or_to_look_at_has_no_scores(monkeypatch, rows, count, length):
    monkeypatch.setattr("regard.attend.additive.LONG", -1)
    given = [torch.randn(*shape, requires_grad=True) for shape in ((rows, count, 5), (rows, length, 5), (5,))]
    assert additive(*given).shape == (rows, count, length)


def test_the_room_of_one_who_only_looks_serves_one_who_learns(monkeypatch):
    monkeypatch.setattr("regard.attend.additive.SLICE", 10)
    monkeypatch.setattr("regard.attend.additive.KEPT", 0)
    monkeypatch.setattr(_room, "kept", None)
    given = [torch.randn(*shape) for shape in ((2, 1, 5), (2, 13, 5), (5,))]
    with torch.inference_mode():
        seen = additive(*given)
    learnt = additive(*(each.requires_grad_() for each in given))
    learnt.sum().backward()
    assert torch.equal(learnt, seen)


def test_cosine_ignores_lengths_and_learns_its_sharpness():
    score = Cosine(3, 3)
    query, keys = torch.randn(2, 5, 3), torch.randn(2, 7, 3)
    found = score(query, score.prepare(keys))
    sharpness = 1 + F.softplus(torch.tensor(4.0))
    assert torch.allclose(
        found, sharpness * F.cosine_similarity(query.unsqueeze(2), keys.unsqueeze(1), dim=-1), atol=1e-5
    )
    assert torch.allclose(score(query, score.prepare(100 * keys)), found, atol=1e-5)
    found.sum().backward()
    assert score.sharpness.weight.grad.any()
    assert torch.isfinite(score(query, score.prepare(torch.zeros_like(keys)))).all()


def test_without_sharpness_cosine_cannot_exceed_its_bound():
    keys = -torch.eye(20)[:1].repeat(20, 1)
    keys[0] *= -1  # one key along the query, nineteen against it: the sharpest case there is
    weights = torch.softmax(cosine(torch.eye(20)[None, :1], keys[None]), -1)
    assert torch.isclose(weights.max(), torch.tensor(math.e**2 / (math.e**2 + 19)), atol=1e-6)


def test_fading_falls_with_every_place_as_steeply_as_the_query_says():
    score = Fading(2, 3, hidden=5, fall=0.7)
    query, keys = torch.randn(2, 1, 2), torch.randn(2, 4, 3)
    plain = Additive.forward(score, query, Additive.prepare(score, keys))
    fell = torch.tensor([-2.1, -1.4, -0.7, 0.0])
    found = torch.softmax(score(query, score.prepare(keys)), -1)
    assert torch.allclose(found, torch.softmax(plain + fell, -1), atol=1e-6)
    score.of_fall.weight.data[0, 0] = 1.0  # softplus(b + q_1)
    steep = F.softplus(score.of_fall.bias + query[..., :1])
    found = torch.softmax(score(query, score.prepare(keys, start=11)), -1)
    assert torch.allclose(found, torch.softmax(plain + steep * torch.arange(4), -1), atol=1e-5), "wherever they stand"


def test_location_reads_the_query_alone():
    score = Location(2, 3, longest=5)
    query = torch.randn(2, 7, 2)
    found = score(query, score.prepare(torch.randn(2, 4, 3)))
    assert torch.allclose(found, score.project(query)[..., :4])
    assert torch.equal(found, score(query, score.prepare(torch.randn(2, 4, 3))))


def test_location_refuses_what_it_cannot_place():
    with pytest.raises(ShapeError, match=r"knows 5 positions; the source has 6(.|\n)*longest = 6"):
        Location(2, 3, longest=5).prepare(torch.randn(1, 6, 3))


@pytest.mark.parametrize("score", [Dot, ScaledDot, Cosine])
def test_one_width_for_both_or_a_clear_refusal(score):
    with pytest.raises(ShapeError, match="the query has 3, the key 5(.|\n)*general"):
        score(3, 5)
