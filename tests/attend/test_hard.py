"""Hard attention's choice: what a look is judged by, what it is compared with, and how soft training is."""

import pytest
import torch

from regard.attend import Attention, Heads
from regard.attend.hard import BY_PIECE, ERROR, Hard
from regard.errors import UsageError
from regard.hooks import Reward, loss_terms, writing
from regard.registry import maker

ALL = torch.ones(1, 1, 3, dtype=torch.bool)


def judged(hard, rate):
    """The choice as it is when a piece has had this log-likelihood so far."""
    hard.average.fill_(rate)
    hard.seen.fill_(BY_PIECE)
    return hard


def logs_of(drawn, scores):
    return (drawn * scores.log_softmax(-1)).sum(-1)


def test_what_is_to_go_by_hand():
    pieces = torch.tensor([[-1.0, -2.0, -4.0], [-8.0, -16.0, 0.0]])
    real = torch.tensor([[True, True, True], [True, True, False]])
    reward = Reward(pieces, real)
    gained, left = reward.to_go(1, 2)
    assert gained.tolist() == [[-6, -4], [-16, 0]] and left.tolist() == [[2, 1], [1, 0]]
    gained, left = reward.to_go(None, 2)
    assert gained.tolist() == [[-7], [-24]] and left.tolist() == [[3], [2]]
    assert reward.mean.item() == pytest.approx((-7 / 3 - 12) / 2), "the mean of the items, each the mean of its pieces"
    gained, left = Reward(pieces[:, :1], real[:, :1]).to_go(2, 1)
    assert gained.tolist() == [[-1], [-8]], "an item of which only log p in all is known"


def test_further_pieces_count_less_with_a_discount():
    """-1 - 2/2 - 4/4, and of as many pieces 1 + 1/2 + 1/4; the second item has two."""
    pieces = torch.tensor([[-1.0, -2.0, -4.0], [-8.0, -16.0, 0.0]])
    reward = Reward(pieces, torch.tensor([[True, True, True], [True, True, False]]))
    gained, left = reward.to_go(0, 3, 0.5)
    assert gained.tolist() == [[-3, -4, -4], [-16, -16, 0]] and left.tolist() == [[1.75, 1.5, 1], [1.5, 1, 0]]
    gained, left = reward.to_go(1, 1, 0.0)
    assert gained.tolist() == [[-2], [-16]] and left.tolist() == [[1], [1]], "its own piece alone"
    assert all(map(torch.equal, reward.to_go(1, 2, 1.0), reward.to_go(1, 2)))
    assert reward.to_go(None, 2, 0.5)[0].tolist() == [[-7], [-24]], "of the whole item"


def test_a_discounted_look_is_judged_by_what_is_near():
    """Of looks at pieces 0 and 1: R = -1 - 2/2 - 4/4 against 1.75 r, and -2 - 4/2 against 1.5 r."""
    hard, scores = judged(Hard(1, entropy=0.0, discount=0.5), -1.5), torch.randn(1, 2, 3)
    with loss_terms() as extra, writing(0):
        logs = logs_of(hard(scores, torch.ones(1, 2, 3, dtype=torch.bool)), scores)
    found = extra(torch.tensor([[-1.0, -2.0, -4.0]]), torch.ones(1, 3, dtype=torch.bool))
    rewards = torch.tensor([[-3.0 + 1.75 * 1.5, -4.0 + 1.5 * 1.5]])
    assert found.item() == pytest.approx(-(rewards * logs).sum().item(), abs=1e-5)


@pytest.mark.parametrize("heads", [(), (2,)], ids=["one head", "two heads"])
def test_a_look_while_writing_is_judged_by_what_is_left_of_it(heads):
    """Looks at pieces 1 and 2 of three at once: R = -6, -4 against 2 r, r for the first item."""
    hard, scores = judged(Hard(1, entropy=0.0), -1.5), torch.randn(2, *heads, 2, 3)
    with loss_terms() as extra, writing(1):
        logs = logs_of(hard(scores, ALL), scores)
    pieces = torch.tensor([[-1.0, -2.0, -4.0], [-8.0, -16.0, 0.0]])
    real = torch.tensor([[True, True, True], [True, True, False]])
    gains = torch.tensor([[-6 + 3.0, -4 + 1.5], [-16 + 1.5, 0.0]])
    expected = -(gains.view(2, *(1 for _ in heads), 2) * logs).sum() / 2
    assert extra(pieces, real).item() == pytest.approx(expected.item(), rel=1e-5)


def test_what_was_drawn_later_does_not_disturb_a_look():
    """Seven looks, each with a piece of its own: of all draws' noise, only that of later ones is left."""
    rewards, rows, steps = torch.tensor([1.0, -2.0, 4.0]), 20_000, 7
    scores = torch.tensor([0.3, -0.2, 0.5]).expand(rows, 1, 3)
    chances = torch.softmax(scores[0, 0], 0)
    truth, found = chances * (rewards - chances @ rewards), {}
    for kind in ("to go", "whole"):
        hard = judged(Hard(1, entropy=0.0), float(chances @ rewards))
        looks, pieces = [], []
        with loss_terms() as extra:
            for step in range(steps):
                looks.append(scores.clone().requires_grad_())
                with writing(step):
                    pieces.append((hard(looks[-1], ALL)[:, 0] * rewards).sum(-1))
        likelihood = torch.stack(pieces, 1)
        loss = extra(likelihood if kind == "to go" else likelihood.sum(1)) * rows
        estimates = [-each[:, 0] for each in torch.autograd.grad(loss, looks)]
        for each in estimates if kind == "to go" else ():
            errors = (each.mean(0) - truth) / (each.std(0) / rows**0.5)
            assert errors.abs().max() < 4
        found[kind] = [each.std(0).norm().item() for each in estimates]
    assert found["to go"][-1] < 0.5 * found["whole"][-1]
    assert found["to go"] == sorted(found["to go"], reverse=True)


def test_a_learned_baseline_reads_the_query_and_learns_alone():
    """b = n (r + w . q + c); its error is that of log p of a piece, and reaches nothing but itself."""
    attend = Attention(
        2, 2, 2, score=maker("score", "dot"), choice=maker("choice", "hard", baseline="learned", entropy=0.0)
    )
    hard = judged(attend.choice, -1.5)
    with torch.no_grad():
        hard.judge.weight.copy_(torch.tensor([[0.5, -2.0]]))
        hard.judge.bias.fill_(0.25)
    query, keys = torch.tensor([[[1.0, 1.0]]], requires_grad=True), torch.randn(1, 3, 2)
    with loss_terms() as extra, writing(1):
        attend(query, attend.prepare(keys, keys))
    pieces, rate = torch.tensor([[-9.0, -2.0, -4.0]]), -1.5 + 0.5 - 2.0 + 0.25
    found = extra(pieces)
    shares = (query @ keys.mT).log_softmax(-1)
    wrong = ERROR * (rate - -3) ** 2
    told = {round(wrong - (-6 - 2 * rate) * float(log), 4) for log in shares.detach().flatten()}
    assert round(found.item(), 4) in told
    gradients = torch.autograd.grad(found, list(hard.judge.parameters()))
    assert torch.allclose(gradients[1], torch.tensor([2 * ERROR * (rate + 3)]))
    assert torch.allclose(gradients[0], 2 * ERROR * (rate + 3) * query.detach()[0])


def test_a_learned_baseline_finds_what_the_queries_tell():
    """Items of two kinds, one far more likely: the draws of both are judged fairly in the end."""
    attend = Attention(
        2, 2, 2, score=maker("score", "dot"), choice=maker("choice", "hard", baseline="learned", entropy=0.0)
    )
    adam = torch.optim.Adam(attend.parameters(), lr=0.05)
    query, keys = torch.eye(2).view(2, 1, 2), torch.randn(2, 3, 2)
    for _ in range(200):
        with loss_terms() as extra:
            attend(query, attend.prepare(keys, keys))
        adam.zero_grad()
        extra(torch.tensor([[-1.0], [-9.0]])).backward()
        adam.step()
    rates = attend.choice.average + attend.choice.judge(query).flatten()
    assert torch.allclose(rates, torch.tensor([-1.0, -9.0]), atol=0.1)


def test_a_learned_baseline_in_a_window_and_in_heads():
    inner = maker(
        "attend",
        "attention",
        score=maker("score", "dot"),
        scope=maker("scope", "local_m", reach=1),
        choice=maker("choice", "hard", baseline="learned"),
    )
    attend = Heads(4, 4, 4, heads=2, attend=inner)
    rows, query = torch.randn(3, 7, 4), torch.randn(3, 5, 4, requires_grad=True)
    real = torch.tensor([[True] * 5, [True, False, False, False, False], [False] * 5])
    with loss_terms() as extra, writing(0):
        attend(query, attend.prepare(rows, rows), real=real)
    extra(torch.randn(3, 5), real).backward()
    assert torch.equal(query.grad.any(-1), real)
    assert attend.attend.choice.judge.weight.grad.any()


def test_a_padded_query_teaches_a_learned_baseline_nothing():
    """Outside of a decoder a look bears on the whole output, which a padded query has no part in."""
    attend = Attention(2, 2, 2, score=maker("score", "dot"), choice=maker("choice", "hard", baseline="learned"))
    torch.nn.init.ones_(attend.choice.judge.bias)
    query, keys = torch.randn(1, 2, 2), torch.randn(1, 3, 2)

    def gradient(padded):
        with loss_terms() as extra:
            attend(torch.cat((query[:, :1], padded), 1), attend.prepare(keys, keys), real=torch.tensor([[True, False]]))
        return torch.autograd.grad(extra(torch.tensor([[-3.0]])), attend.choice.judge.weight)[0]

    torch.testing.assert_close(gradient(query[:, 1:]), gradient(7 * query[:, 1:]))  # the average moves by a last digit
    assert gradient(query[:, 1:]).any()


def test_a_learned_baseline_alone_is_refused():
    hard = Hard(2, baseline="learned")
    with pytest.raises(UsageError, match="reads the queries"):
        hard(torch.zeros(1, 1, 3), ALL)


def test_the_others_by_hand():
    """Three samples of two items, one after another; each is compared with the mean of the other two of its item."""
    hard, scores = Hard(1, baseline="others", samples=3, entropy=0.0), torch.randn(6, 1, 3)
    with loss_terms() as extra:
        logs = logs_of(hard(scores, ALL), scores)[:, 0]
    gains = torch.tensor([-1.0, -10.0, -2.0, -20.0, -4.0, -70.0])
    others = torch.tensor([-3.0, -45.0, -2.5, -40.0, -1.5, -15.0])
    expected = -((gains - others) * logs).mean()
    assert extra(gains, samples=3).item() == pytest.approx(expected.item(), rel=1e-5)


def test_others_want_more_than_one_sample():
    with pytest.raises(UsageError, match="there is one"):
        Hard(1, baseline="others")
    hard = Hard(1, baseline="others", samples=3, harden=7, warmup=5)
    assert hard.wanted_samples == 1, "what is soft is the same every time"
    hard.progress(6, None)
    assert hard.wanted_samples == 3


def test_straight_through_is_right_where_the_output_is_linear_in_the_weights():
    """The output is r . weights: the way back is that of the shares, whatever was drawn."""
    rewards, scores = torch.tensor([1.0, -2.0, 4.0]), torch.randn(5, 7, 3, requires_grad=True)
    hard = Hard(1, estimator="straight_through", entropy=0.0)
    drawn = hard(scores, ALL)
    assert torch.equal(drawn.detach().sort(-1).values, torch.tensor([0.0, 0.0, 1.0]).expand(5, 7, 3))
    found = torch.autograd.grad((drawn @ rewards).sum(), scores)[0]
    chances = torch.softmax(scores, -1)
    assert torch.allclose(found, chances * (rewards - (chances @ rewards).unsqueeze(-1)), atol=1e-5)


@pytest.mark.parametrize("estimator", ["straight_through", "gumbel"])
def test_biased_estimators_draw_as_likely_as_the_shares_and_never_what_is_hidden(estimator):
    scores = torch.log(torch.tensor([[[1.0, 3.0, 90.0, 4.0]]])).expand(1, 4000, 4)
    allowed = torch.tensor([[[True, True, False, True]]])
    drawn = Hard(2, estimator=estimator)(scores, allowed)
    assert torch.allclose(drawn.mean(1), torch.tensor([[0.125, 0.375, 0.0, 0.5]]), atol=0.03)
    assert not Hard(2, estimator=estimator)(scores, torch.zeros_like(allowed)).any()


def test_a_gumbel_draw_is_the_greatest_of_its_relaxed_weights():
    """The colder, the nearer to the draw: then there is hardly a gradient."""
    scores, rewards = torch.randn(1, 400, 3, requires_grad=True), torch.tensor([1.0, -2.0, 4.0])
    sizes = {}
    for temperature in (0.01, 1.0):
        torch.manual_seed(2)
        drawn = Hard(1, estimator="gumbel", temperature=temperature)(scores, ALL)
        sizes[temperature] = torch.autograd.grad((drawn @ rewards).sum(), scores)[0].abs().median().item()
    assert sizes[0.01] < 1e-6 < 1e-2 < sizes[1.0]


def test_training_hardens():
    hard = Hard(1, expected=0.2, harden=10)
    found = []
    for update in (0, 1, 5, 10, 17):
        hard.progress(update, None)
        found.append(hard.softness)
    assert found == pytest.approx([1.0, 0.92, 0.6, 0.2, 0.2])
    assert Hard(1, expected=0.2).softness == pytest.approx(0.2)
    late = Hard(1, harden=17, warmup=7)
    for update, share in ((0, 1.0), (7, 1.0), (12, 0.5), (17, 0.0), (18, 0.0)):
        late.progress(update, None)
        assert late.softness == pytest.approx(share)
    with pytest.raises(UsageError, match="must be later"):
        Hard(1, harden=7, warmup=7)


def test_the_first_update_of_a_soft_start_is_soft_and_a_hard_one_is_not():
    hard, scores = Hard(1, harden=10), torch.randn(1, 5, 3)
    hard.prepare(torch.zeros(1, 3, 1), ALL[0])
    assert torch.allclose(hard(scores, ALL), torch.softmax(scores, -1))
    hard.progress(10, None)
    hard.prepare(torch.zeros(1, 3, 1), ALL[0])
    assert set(hard(scores, ALL).flatten().tolist()) == {0.0, 1.0}


def test_a_soft_update_gives_a_learned_baseline_zeros():
    """Of many processes some may be soft, and all wait for every gradient."""
    choice = maker("choice", "hard", baseline="learned", expected=1.0)
    attend = Attention(2, 2, 2, score=maker("score", "dot"), choice=choice)
    with loss_terms() as extra:
        attend(torch.randn(1, 1, 2), attend.prepare(torch.randn(1, 3, 2), torch.randn(1, 3, 2)))
    extra(torch.tensor([-3.0])).backward()
    assert all(not each.grad.any() for each in attend.choice.judge.parameters())


def test_an_average_of_whole_items_is_begun_anew():
    """Runs of before kept log p of an item, and marked it with 1."""
    hard = Hard(1, entropy=0.0)
    hard.average.fill_(-40.0)
    hard.seen.fill_(1.0)
    with loss_terms() as extra:
        hard(torch.zeros(1, 1, 3), ALL)
    assert extra(torch.tensor([[-3.0, -5.0]])).item() == pytest.approx(0, abs=1e-6)
    assert hard.average.item() == pytest.approx(-4) and hard.seen == BY_PIECE
