"""Choices: hard attention's estimator, gates, and what they add to the loss."""

from dataclasses import replace

import pytest
import torch

from regard import masks
from regard.attend import Attention, Heads
from regard.attend.choice import Sigmoid, Soft
from regard.attend.gated import Gated, draw_gates
from regard.attend.hard import BY_PIECE, Hard
from regard.hooks import loss_terms
from regard.registry import maker

ALL = torch.ones(1, 1, 3, dtype=torch.bool)


def test_soft_and_sigmoid_by_hand():
    scores = torch.log(torch.tensor([[[1.0, 3.0, 4.0]]]))
    assert torch.allclose(Soft(2)(scores, ALL), torch.tensor([[[0.125, 0.375, 0.5]]]))
    assert torch.allclose(Sigmoid(2)(scores, ALL), torch.tensor([[[0.5, 0.75, 0.8]]]))


def test_hard_takes_the_best_in_use_and_draws_in_training():
    scores = torch.log(torch.tensor([[[1.0, 3.0, 4.0]]])).expand(1, 4000, 3)
    hard = Hard(2)
    drawn = hard(scores, ALL)
    assert torch.equal(drawn.sum(-1), torch.ones(1, 4000))
    assert torch.allclose(drawn.mean(1), torch.tensor([[0.125, 0.375, 0.5]]), atol=0.03)
    assert torch.equal(hard.eval()(scores, ALL)[0, 0], torch.tensor([0.0, 0.0, 1.0]))


def test_hard_never_draws_what_is_hidden():
    allowed = torch.tensor([[[True, False, True]]])
    drawn = Hard(2)(torch.tensor([[[0.0, 50.0, 0.0]]]).expand(1, 500, 3), allowed)
    assert not drawn[..., 1].any()


def test_the_estimator_is_right_on_average():
    """E over draws of the estimate is the true gradient of the expected reward, with and without a baseline."""
    rewards, logits = torch.tensor([1.0, -2.0, 4.0]), torch.tensor([0.3, -0.2, 0.5])
    chances = torch.softmax(logits, 0)
    truth = chances * (rewards - chances @ rewards)
    for keep in (0.0, 0.9):
        hard = Hard(1, baseline=keep, entropy=0.0)
        hard.average.fill_(1.7)
        hard.seen.fill_(BY_PIECE)
        total = torch.zeros(3)
        rows = 40_000
        scores = logits.view(1, 1, 3).repeat(rows, 1, 1).requires_grad_()
        with loss_terms() as extra:
            drawn = hard(scores, ALL)
        loss = extra((drawn[:, 0] * rewards).sum(-1))
        total = torch.autograd.grad(loss, scores)[0].sum((0, 1))
        assert torch.allclose(-total, truth, atol=0.05)


def test_the_baseline_judges_a_draw_by_the_steps_before_it():
    hard = Hard(1, baseline=0.9, entropy=0.0)
    scores = torch.zeros(2, 5, 3, requires_grad=True)
    with loss_terms() as extra:
        for _ in range(4):  # four looks in one step are judged alike and move the average once
            hard(scores, ALL)
    extra(torch.tensor([2.0, 4.0]))
    assert hard.average.item() == pytest.approx(3.0), "the first average is the first reward"
    with loss_terms() as extra:
        hard(scores, ALL)
    extra(torch.tensor([13.0, 13.0]))
    assert hard.average.item() == pytest.approx(0.9 * 3 + 0.1 * 13)


def test_the_entropy_term_flattens():
    hard = Hard(1, entropy=1.0, reward=0.0)
    scores = torch.tensor([[[2.0, 0.0, 0.0]]], requires_grad=True)
    with loss_terms() as extra:
        hard(scores, ALL)
    extra(torch.zeros(1)).backward()
    assert scores.grad[0, 0, 0] > 0 > scores.grad[0, 0, 1], "descending lowers the high score and raises the low ones"


@pytest.mark.parametrize("heads", [(), (2,)], ids=["one head", "two heads"])
def test_the_side_term_of_hard_attention_by_hand(heads):
    """-(reward (log p(y) - b) log a_z + entropy H), summed over all looks of a pair, and the mean of the pairs."""
    shares = torch.tensor([0.125, 0.375, 0.5])
    hard = Hard(1, baseline=0.9, entropy=0.3, reward=0.7)
    hard.average.fill_(-4.0)
    hard.seen.fill_(BY_PIECE)
    with loss_terms() as extra:
        drawn = hard(shares.log().expand(2, *heads, 5, 3), ALL)
    likelihood = torch.tensor([-3.0, -11.0])
    looks = 5 * (2 if heads else 1)
    logs = (drawn * shares.log()).flatten(1).sum(1)
    entropy = -looks * (shares * shares.log()).sum()
    expected = -(0.7 * (likelihood + 4.0) * logs + 0.3 * entropy).mean()
    assert extra(likelihood).item() == pytest.approx(expected.item(), rel=1e-5)


def test_all_looks_at_a_memory_are_soft_or_none():
    hard, scores = Hard(1, expected=0.5), torch.log(torch.tensor([[[1.0, 3.0, 2.0]]]))
    found = []
    for _ in range(64):
        hard.prepare(torch.zeros(1, 3, 1), ALL[0])
        found.append({bool((hard(scores, ALL) == 1).any()) for _ in range(5)})
    assert all(len(each) == 1 for each in found)
    assert 16 < sum(each == {True} for each in found) < 48
    hard.eval().prepare(torch.zeros(1, 3, 1), ALL[0])
    assert hard(scores, ALL).tolist() == [[[0, 1, 0]]]


def test_the_first_reward_is_judged_by_its_own_mean():
    hard = Hard(1, baseline=0.5, entropy=0.0)
    with loss_terms() as extra:
        drawn = hard(torch.log(torch.tensor([[[1.0, 3.0]], [[3.0, 1.0]]])), ALL[..., :2])
    logs = (drawn * torch.log(torch.tensor([[[0.25, 0.75]], [[0.75, 0.25]]]))).sum((1, 2))
    expected = -(torch.tensor([2.0, -2.0]) * logs).mean()
    assert extra(torch.tensor([-1.0, -5.0])).item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_entropy_is_summed_over_keys_and_looks():
    """Descending on -H alone moves a score by p (log p + H): by hand for two keys."""
    hard = Hard(1, entropy=1.0, reward=0.0, baseline=0.0)
    scores = torch.log(torch.tensor([[[0.2, 0.8], [0.5, 0.5]]])).requires_grad_()
    with loss_terms() as extra:
        hard(scores, ALL[..., :2])
    extra(torch.zeros(1)).backward()
    shares = torch.tensor([0.2, 0.8])
    entropy = -(shares * shares.log()).sum()
    assert torch.allclose(scores.grad[0, 0], shares * (shares.log() + entropy), atol=1e-6)
    assert torch.allclose(scores.grad[0, 1], torch.zeros(2), atol=1e-6)


def test_padded_queries_are_not_rewarded():
    hard = Hard(1, baseline=0.0)
    scores = torch.randn(2, 3, 3, requires_grad=True)
    with loss_terms() as extra:
        hard(scores, ALL, None, torch.tensor([[True, True, True], [True, False, False]]))
    extra(torch.ones(2)).backward()
    assert scores.grad[0].any(-1).all()
    assert scores.grad[1].any(-1).tolist() == [True, False, False]


def test_padded_queries_of_heads_are_not_rewarded():
    inner = maker("attend", "attention", score=maker("score", "dot"), choice=maker("choice", "hard", baseline=0.0))
    attend = Heads(4, 4, 4, heads=2, attend=inner)
    rows, query = torch.randn(2, 7, 4), torch.randn(2, 3, 4, requires_grad=True)
    real = torch.tensor([[True, True, True], [True, False, False]])
    with loss_terms() as extra:
        attend(query, attend.prepare(rows, rows), real=real)
    extra(torch.ones(2)).backward()
    assert torch.equal(query.grad.any(-1), real)


def test_expected_steps_take_the_soft_weights():
    scores = torch.randn(1, 5, 3)
    assert torch.allclose(Hard(1, expected=1.0)(scores, ALL), torch.softmax(scores, -1))


def test_gates_are_zero_or_one_and_open_as_often_as_they_should():
    logits = torch.log(torch.tensor([0.25, 0.75]) / torch.tensor([0.75, 0.25])).repeat(8000, 1).requires_grad_()
    gates = draw_gates(logits, 0.5, straight_through=True)
    assert set(gates.detach().unique().tolist()) == {0.0, 1.0}
    assert torch.allclose(gates.mean(0), torch.tensor([0.25, 0.75]), atol=0.02)
    gates.sum().backward()
    assert (logits.grad >= 0).all()
    assert (logits.grad > 0).float().mean() > 0.99, "the gradient passes straight through"


def test_open_gates_are_soft_attention_and_closed_gates_are_nothing():
    scores, open_gates = torch.randn(2, 5, 3), torch.ones(2, 1, 3)
    gated = Gated(4)
    assert torch.allclose(gated(scores, ALL, open_gates), torch.softmax(scores, -1))
    assert not gated(scores, ALL, 0 * open_gates).any()
    high = torch.tensor([[[100.0, 99.0, 40.0]]])
    assert torch.allclose(gated(high, ALL, open_gates[:1]), torch.softmax(high, -1))


def test_a_closed_key_cannot_drown_the_open_ones():
    scores = torch.tensor([[[500.0, 1.0, 1.0]]], requires_grad=True)
    weights = Gated(4)(scores, ALL, torch.tensor([[[0.0, 1.0, 1.0]]]))
    assert torch.allclose(weights, torch.tensor([[[0.0, 0.5, 0.5]]]))
    weights.square().sum().backward()
    assert torch.isfinite(scores.grad).all()


def test_a_row_is_divided_by_its_sum_and_a_row_of_zeros_stays_one():
    rows = torch.tensor([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    found = masks.normalise(rows)
    assert torch.equal(found, torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64))
    (found * torch.tensor([4.0, 0.0, 8.0])).sum().backward()
    # d (4 a + 8 c) / (a + b + c) at (1, 3, 0): (4 - 1) / 4, (0 - 1) / 4, (8 - 1) / 4
    assert torch.allclose(rows.grad, torch.tensor([[0.75, -0.25, 1.75], [0.0, 0.0, 0.0]], dtype=torch.float64))
    assert torch.autograd.gradcheck(masks.normalise, torch.rand(5, 3, dtype=torch.float64, requires_grad=True))


def test_a_query_whose_keys_are_all_closed_sends_back_zeros():
    """Its strengths are zero and so is their sum: 0 / 0 on the way forward, infinity times 0 on the way back."""
    scores = torch.randn(1, 2, 3, requires_grad=True)
    gates = torch.tensor([[[0.0, 1.0, 1.0]]], requires_grad=True)
    allowed = torch.tensor([[[True, False, False], [True, True, True]]])  # of the past the first query sees one key
    weights = Gated(4)(scores, allowed, gates)
    assert not weights[0, 0].any()
    assert weights[0, 1, 0] == 0
    assert weights[0, 1].sum().item() == pytest.approx(1)
    (weights * torch.tensor([2.0, 3.0, 5.0])).sum().backward()
    assert not scores.grad[0, 0].any()
    assert torch.isfinite(scores.grad).all()
    assert torch.isfinite(gates.grad).all()
    assert gates.grad.any(), "the second query has something to say"


def test_the_gradients_of_gates_are_right():
    gates = torch.tensor([[[1.0, 0.8, 1.0]], [[1.0, 0.9, 0.7]]], dtype=torch.float64, requires_grad=True)
    scores = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    allowed = torch.tensor([[[True, True, False]], [[False, False, False]]])
    assert torch.autograd.gradcheck(lambda *given: Gated(4)(given[0], allowed, given[1]), (scores, gates))


@pytest.mark.parametrize("choice", ["gated", "hard", "sigmoid", "soft"])
def test_a_window_whose_weights_are_all_zero_is_renormalised_to_zeros(choice):
    scope = maker("scope", "local_p", reach=1, renormalise=True)
    attend = Attention(4, 4, 4, score=maker("score", "dot"), scope=scope, choice=maker("choice", choice))
    query, keys, values = (torch.randn(2, 3, 4, requires_grad=True) for _ in range(3))
    prepared = attend.prepare(keys, values, torch.tensor([[True] * 3, [False] * 3]))
    if choice == "gated":
        prepared = replace(prepared, gates=0 * prepared.gates)
    looked = attend(query, prepared)
    assert not looked.context[1].any()
    looked.context.sum().backward()
    learnt = (query, keys, values, *attend.parameters())
    assert all(each.grad is None or torch.isfinite(each.grad).all() for each in learnt)


def test_gates_may_read_the_keys_in_order():
    choice = maker("choice", "gated", encode=maker("encode", "recurrent", hidden=6, direction="both"))
    attend = Attention(4, 4, 4, score=maker("score", "dot"), choice=choice)
    with loss_terms() as extra:
        looked = attend(torch.randn(2, 3, 4), attend.prepare(torch.randn(2, 7, 4), torch.randn(2, 7, 4)))
    (looked.context.square().sum() + extra(torch.zeros(2))).backward()
    assert all(weight.grad is not None for weight in attend.choice.encode.parameters())


@pytest.mark.parametrize("keys", [1, 7, 16, 31])
@pytest.mark.parametrize("hidden", [False, True])
def test_softmax_is_pytorchs(keys, hidden):
    """Values and gradients; a row that may look at nothing has zeros and sends nothing back."""
    allowed = torch.rand(3, 1, keys) < 0.7 if hidden else torch.ones(3, 1, keys, dtype=torch.bool)
    allowed[1] &= not hidden
    scores = (20 * torch.randn(3, 5, keys, dtype=torch.float64)).requires_grad_()
    some = allowed.any(-1, keepdim=True)
    wanted = torch.softmax(scores.masked_fill(~allowed & some, -torch.inf), -1) * some
    found = masks.softmax(scores, allowed)
    assert torch.allclose(found, wanted)
    upstream = torch.randn_like(found)
    ours, plain = (torch.autograd.grad(each, scores, upstream)[0] for each in (found, wanted))
    assert torch.allclose(ours, plain.nan_to_num())
    assert torch.autograd.gradcheck(lambda given: masks.softmax(given, allowed), scores)


def test_gates_begin_open():
    """In use all of them, and in training nearly three of four: learning starts as soft attention."""
    torch.manual_seed(3)
    gated, keys, mask = Gated(7), 0.1 * torch.randn(2, 5, 7), torch.ones(2, 5, dtype=torch.bool)
    assert gated.judge[-1].bias.item() == 1.0
    assert gated.eval().prepare(keys, mask).all()
