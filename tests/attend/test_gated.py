"""Gates: how they are drawn, what they cost, how they cool, and where they come from."""

import pytest
import torch

from regard import masks
from regard.attend import Attention, Heads
from regard.attend.gated import Gated, density, draw_gates, relaxed_gates
from regard.attend.hard import Hard
from regard.errors import UsageError
from regard.hooks import loss_terms
from regard.registry import maker

MASK = masks.from_lengths(torch.tensor([7, 3]))
MEMORY = maker("choice", "gated", gates="memory")


def attention(choice, score="dot"):
    return Attention(5, 5, 5, score=maker("score", score), choice=choice)


def rows(*shape):
    return torch.randn(*shape, 5, dtype=torch.float64, requires_grad=True)


def test_a_relaxed_gate_by_hand():
    """u = 0.5 adds nothing; u = 0.8 adds log 4: at odds of 3 and a temperature of 0.5 the odds are 12 squared."""
    logits = torch.log(torch.tensor([3.0, 3.0]))
    found = relaxed_gates(logits, torch.tensor([0.5, 0.8]), 0.5)
    assert torch.allclose(found, torch.tensor([9 / 10, 144 / 145]))


def test_relaxed_gates_lie_between_and_are_open_as_often_as_they_should():
    logits = torch.log(torch.tensor([0.25, 0.75]) / torch.tensor([0.75, 0.25])).repeat(8000, 1)
    gates = draw_gates(logits, 0.5)
    assert ((gates > 0) & (gates < 1)).float().mean() > 0.99
    assert torch.allclose((gates > 0.5).float().mean(0), torch.tensor([0.25, 0.75]), atol=0.02)


def test_cold_gates_are_zero_or_one():
    cold = draw_gates(torch.randn(1000), 1e-4)
    assert (torch.minimum(cold, 1 - cold) < 1e-3).float().mean() > 0.99
    warm = draw_gates(torch.randn(1000), 1.0)
    assert (torch.minimum(warm, 1 - warm) < 1e-3).float().mean() < 0.1


def test_the_gradients_of_relaxed_gates_are_right():
    logits = torch.randn(2, 7, dtype=torch.float64, requires_grad=True)
    uniform, scores = torch.rand(2, 7, dtype=torch.float64), rows(2, 3)[..., :1].expand(2, 3, 7) * torch.randn(7)

    def look(logits, scores):
        return Gated(5)(scores, MASK.unsqueeze(1), relaxed_gates(logits, uniform, 0.7).unsqueeze(1))

    assert torch.autograd.gradcheck(look, (logits, scores.detach().requires_grad_()))


@pytest.mark.parametrize("gates", [[0.2, 0.3, 0.1], [1.0, 1e-20, 0.4], [1.0, 1.0, 1.0]])
def test_weights_are_shares_of_gated_strengths(gates):
    """g exp(e) / sum g exp(e), also where no gate is more open than closed."""
    gates, scores = torch.tensor([[gates]]), torch.tensor([[[3.0, 1.0, -2.0]]])
    strength = gates * scores.exp()
    assert torch.allclose(Gated(5)(scores, torch.ones(1, 1, 3).bool(), gates), strength / strength.sum())


def test_open_gates_at_no_price_are_soft_attention():
    soft, gated = attention(maker("choice", "soft")).double(), attention(MEMORY).double()
    query, keys, values = rows(2, 3), rows(2, 7), rows(2, 7)
    with loss_terms() as extra:
        found = gated(query, gated.prepare(keys, values, MASK, gates=torch.full((2, 7), 1e9, dtype=torch.float64)))
    wanted = soft(query, soft.prepare(keys, values, MASK))
    assert torch.allclose(found.context, wanted.context, atol=1e-14)
    assert torch.allclose(found.weights, wanted.weights, atol=1e-14)
    assert extra(torch.zeros(2)).item() == 0
    upstream = torch.randn_like(wanted.context)
    both = [torch.autograd.grad(each.context, (query, keys, values), upstream) for each in (found, wanted)]
    assert all(torch.allclose(one, two, atol=1e-12) for one, two in zip(*both, strict=True))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("logit", [-1e9, -200.0])
def test_closed_gates_bring_home_nothing_and_send_back_finite_numbers(training, logit):
    attend = attention(maker("choice", "gated", gates="memory", price=1.0)).double().train(training)
    query, keys, values = rows(2, 3), rows(2, 7), rows(2, 7)
    logits = torch.full((2, 7), logit, dtype=torch.float64, requires_grad=True)
    with loss_terms() as extra:
        found = attend(query, attend.prepare(keys, values, MASK, gates=logits))
    if not training or logit < -1e3:
        assert not found.context.any()
        assert not found.gates.any()
    loss = found.context.square().sum() + extra(torch.zeros(2))
    gradients = torch.autograd.grad(loss, (query, keys, values, logits), allow_unused=True)
    assert all(torch.isfinite(each).all() for each in gradients if each is not None)


def test_in_use_a_gate_is_open_where_that_is_likelier():
    gated = Gated(5, gates="memory").eval()
    found = gated.draw(torch.tensor([[0.1, -0.1, 0.0, 3.0]]), torch.tensor([[True, True, True, False]]))
    assert found.tolist() == [[1, 0, 0, 0]], "neither a doubtful gate nor padding is open"
    assert torch.equal(found, gated.draw(torch.tensor([[0.1, -0.1, 0.0, 3.0]]), torch.tensor([[True] * 3 + [False]])))


def test_the_density_is_a_share_of_what_is_real():
    gates = torch.tensor([[1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    mask = masks.from_lengths(torch.tensor([4, 3, 0]))
    assert density(gates, mask).tolist() == [0.75, 1.0, 0.0]


def test_the_price_is_the_mean_of_a_sentence_and_then_of_sentences():
    """A short sentence costs as much as a long one, and padding nothing, whatever its gates would be."""
    gated = Gated(5, gates="memory", price=3.0)
    logits = torch.randn(2, 7)
    logits[1, 3:] = 50.0
    with loss_terms() as extra:
        gates = gated.draw(logits, MASK)
    assert not gates[1, 3:].any()
    expected = 3.0 * (gates[0].mean() + gates[1, :3].mean()) / 2
    assert extra(torch.zeros(2)).item() == pytest.approx(expected.item(), rel=1e-5)
    with loss_terms() as extra:
        gated.eval().draw(logits, MASK)
    assert extra(torch.zeros(2)).item() == 0, "in use nothing is paid"


def test_the_price_closes_gates():
    gated = Gated(5, gates="memory", price=2.0)
    logits = torch.zeros(2, 7, requires_grad=True)
    with loss_terms() as extra:
        gated.draw(logits, MASK)
    extra(torch.zeros(2)).backward()
    assert torch.equal(logits.grad > 0, MASK), "descending closes the gates of what is real"


def test_temperature_and_price_follow_the_updates():
    gated = Gated(5, temperature=1.0, final_temperature=0.2, anneal=100, price=2.0, warmup=20)
    told = []
    for number in (0, 10, 20, 60, 100, 1000):
        gated.progress(number, None)
        told.append((round(gated.temperature, 6), round(gated.price, 6)))
    assert told == [(1.0, 0.0), (0.92, 0.0), (0.84, 0.0), (0.52, 1.0), (0.2, 2.0), (0.2, 2.0)]


def test_the_share_of_the_budget_changes_nothing():
    gated = Gated(5, anneal=100)
    gated.progress(50, 0.9)
    assert gated.temperature == pytest.approx(0.65)


def test_without_annealing_both_stay_as_they_are_written():
    gated = Gated(5, temperature=0.7, price=2.0)
    gated.progress(1000, 1.0)
    assert (gated.temperature, gated.price) == (0.7, 2.0)


def test_the_temperature_of_now_is_the_one_drawn_with():
    gated, logits = Gated(5, gates="memory", final_temperature=1e-4, anneal=10), torch.randn(2, 7)
    mask = torch.ones(2, 7, dtype=torch.bool)
    gated.progress(10, None)
    cold = gated.draw(logits, mask)
    assert (torch.minimum(cold, 1 - cold) < 1e-2).float().mean() > 0.9


def test_what_was_told_is_not_saved():
    """The loop tells it again before every update; folders of before it was there can still be read."""
    assert "updates" in dict(Gated(5).named_buffers())
    assert "updates" not in Gated(5).state_dict()


def test_straight_through_gates_are_whole_and_learn():
    gated = Gated(5, gates="memory", straight_through=True)
    logits = torch.randn(2, 7, requires_grad=True)
    gates = gated.draw(logits, MASK)
    assert set(gates.detach().unique().tolist()) <= {0.0, 1.0}
    gates.sum().backward()
    assert torch.equal(logits.grad > 0, MASK)


def test_heads_look_through_the_same_gates():
    attend = Heads(4, 4, 4, heads=2, attend=maker("attend", "attention", score=maker("score", "dot"), choice=MEMORY))
    source, logits = torch.randn(2, 7, 4), torch.randn(2, 7)
    looked = attend(source[:, :3], attend.prepare(source, source, MASK, gates=logits))
    assert looked.gates.shape == (2, 2, 7)
    assert torch.equal(looked.gates[:, 0], looked.gates[:, 1])
    used = attend.eval()(source[:, :3], attend.prepare(source, source, MASK, gates=logits))
    shut = (logits <= 0) | ~MASK
    assert not used.weights.masked_select(shut.view(2, 1, 1, 7)).any()
    assert torch.equal(used.gates[:, 0] > 0, ~shut)


def test_a_window_is_gated_too():
    attend = Attention(
        5, 5, 5, score=maker("score", "dot"), scope=maker("scope", "local_m", reach=2), choice=MEMORY
    ).eval()
    logits = torch.tensor([[1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0]])
    source = torch.randn(1, 7, 5)
    looked = attend(source, attend.prepare(source, source, gates=logits), start=0)
    assert (looked.weights[0, 2] > 0).int().tolist() == [1, 0, 1, 1, 0, 0, 0]
    assert torch.equal(looked.gates, (logits > 0).float())


def test_gates_of_a_memory_need_one_that_has_them():
    source = torch.randn(2, 7, 5)
    with pytest.raises(UsageError, match="this one has none") as error:
        attention(MEMORY).prepare(source, source, MASK)
    assert 'part = "gated" in [encode]' in error.value.hint


@pytest.mark.parametrize("choice", ["soft", "gated", "hard", "sigmoid"])
def test_gates_that_nobody_looks_through_are_refused(choice):
    source = torch.randn(2, 7, 5)
    with pytest.raises(UsageError, match="does not use them") as error:
        attention(maker("choice", choice)).prepare(source, source, MASK, gates=torch.zeros(2, 7))
    assert 'gates = "memory"' in error.value.hint


def test_a_choice_without_gates_says_so():
    with pytest.raises(TypeError, match="Hard has no gates"):
        Hard(5).draw(torch.zeros(2, 7), MASK)


def test_settings_that_contradict_one_another_are_refused():
    with pytest.raises(UsageError, match="an encode table of its own"):
        Gated(5, gates="memory", encode=maker("encode", "recurrent"))
    with pytest.raises(UsageError, match="warmup = 50 to anneal = 50") as error:
        Gated(5, anneal=50, warmup=50)
    assert "anneal = 100" in error.value.hint
    with pytest.raises(UsageError, match="to anneal = 0"):
        Gated(5, warmup=1)
