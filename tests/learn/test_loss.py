"""The loss by hand: smoothing, side terms, and teacher forcing that lets go."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from regard.data.sides.text import Text
from regard.hooks import LossTerms
from regard.learn.cross_entropy import negative_log_likelihoods
from regard.learn.forcing import mixed
from regard.learn.loss import sequence_loss
from regard.tasks.goals.write import Write
from small import DECODERS, batch, model, overrides


def test_smoothing_by_hand():
    logits = torch.tensor([[[0.0, 1.0, 2.0]]], dtype=torch.float64)
    chances = [each - torch.logsumexp(logits, -1).item() for each in (0.0, 1.0, 2.0)]
    plain, goal = negative_log_likelihoods(logits.float(), torch.tensor([[2]]), 0.3)
    assert plain.item() == pytest.approx(-chances[2], rel=1e-6)
    assert goal.item() == pytest.approx(-(0.7 * chances[2] + 0.3 * sum(chances) / 3), rel=1e-6)


@given(smoothing=st.floats(0.0, 0.95), size=st.integers(2, 23), seed=st.integers(0, 999))
def test_smoothing_is_pytorchs(smoothing, size, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(3, 5, size, generator=generator)
    wanted = torch.randint(size, (3, 5), generator=generator)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    plain, goal = negative_log_likelihoods(ours, wanted, smoothing)
    flat = theirs.flatten(0, 1), wanted.flatten()
    expected = F.cross_entropy(*flat, reduction="none", label_smoothing=smoothing)
    assert torch.allclose(goal.flatten(), expected, atol=1e-5)
    assert torch.allclose(plain.flatten(), F.cross_entropy(*flat, reduction="none"), atol=1e-5)
    goal.sum().backward()
    expected.sum().backward()
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-5)


def test_what_is_reported_is_not_smoothed():
    built, pairs = model(), batch()
    plain, smooth = sequence_loss(built, pairs), sequence_loss(built, pairs, smoothing=0.2)
    assert smooth.nll.item() == pytest.approx(plain.nll.item(), rel=1e-6)
    logits, wanted = built.teach(pairs).logits.flatten(0, 1), pairs.target.data[:, 1:].flatten()
    real = pairs.target.mask[:, 1:].flatten()
    expected = F.cross_entropy(logits[real], wanted[real], label_smoothing=0.2)
    assert smooth.total.item() == pytest.approx(expected.item(), rel=1e-5)


def uniform(choice, *settings):
    """A small model in training whose attention looks at all source pieces alike, before it chooses."""
    built = model([*overrides("choice", choice), *(f"attend.choice.{each}" for each in settings)]).train()
    for weight in built.predict.attend.score.parameters():
        weight.data.zero_()
    return built


def test_what_gates_cost_is_one_price_a_pair():
    """Wide open gates are paid in full, gates that are shut are free."""
    built, pairs = uniform("gated", "price=5.0"), batch()
    for weight in built.predict.attend.choice.judge[-1].parameters():
        weight.data.fill_(0.0 if weight.dim() > 1 else 40.0)
    loss = sequence_loss(built, pairs)
    pieces = 5 + 2 + 4
    assert loss.count == pieces
    assert (loss.total - loss.nll).item() == pytest.approx(5.0 * 3 / pieces, rel=1e-4)


def test_the_entropy_of_hard_looks_is_that_of_every_piece():
    """Even looks at 7, 5 and 2 pieces have an entropy of log 7, log 5 and log 2, for each piece that is written."""
    built, pairs = uniform("hard", "entropy=0.25", "reward=0.0"), batch()
    loss = sequence_loss(built, pairs)
    entropy = torch.tensor([7.0, 5.0, 2.0]).log() @ torch.tensor([5.0, 2.0, 4.0])
    assert (loss.total - loss.nll).item() == pytest.approx(-0.25 * entropy.item() / 11, rel=1e-4)


@pytest.mark.parametrize("own", [0.0, 1.0])
def test_the_reward_of_hard_looks_is_the_likelihood_of_the_pieces_to_come(own):
    """Even looks at 7 and 2 pieces: the log of a seventh or a half times what is left to write, for each piece."""
    built, pairs = uniform("hard", "entropy=0.0", "reward=0.5", "baseline=0.0"), batch((7, 2), (6, 4))
    pieces = []
    extra = LossTerms.__call__

    def hear(terms, likelihood, real, samples):
        pieces.append(likelihood.detach())
        return extra(terms, likelihood, real, samples)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LossTerms, "__call__", hear)
        loss = sequence_loss(built, pairs, own=own)
    judges = torch.arange(1.0, 6.0)  # the first piece is told to one look, the last of five to all
    looks = -torch.tensor([7.0, 2.0]).log()
    assert not pieces[0][1, 3:].any(), "padding earns nothing"
    expected = -0.5 * (pieces[0] * judges).sum(1) @ looks / (5 + 3)
    assert (loss.total - loss.nll).item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("decoder", ["luong", "transformer"])
def test_several_samples_of_each_pair_count_as_one(decoder):
    """Where every sample is the same there is nothing to learn from draws, and the loss is that of one."""
    settings = [f"attend.choice.{each}" for each in ("part=hard", "entropy=0", "baseline=others", "samples=3")]
    still = ["predict.dropout=0", "encode.dropout=0", "embed.dropout=0"]
    built, pairs = model([*overrides("predict", decoder), *settings, *still]).train(), batch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "multinomial", lambda shares, count: shares.argmax(-1, keepdim=True))
        three = sequence_loss(built, pairs)
        built.predict.requires_grad_(False)
        patch.setattr("regard.learn.loss.wanted_samples", lambda model: 1)
        patch.setattr("regard.attend.hard.Hard._tell", lambda *told: None)
        one = sequence_loss(built, pairs)
    assert three.count == one.count == 11
    assert three.nll.item() == pytest.approx(one.nll.item(), rel=1e-5)
    assert three.total.item() == pytest.approx(one.total.item(), rel=1e-5)


@pytest.mark.parametrize("decoder", DECODERS)
def test_letting_go_never_is_full_forcing(decoder):
    built, pairs = model(overrides("predict", decoder)), batch()
    real = pairs.target.mask[:, 1:]
    assert torch.allclose(mixed(built, pairs, 0.0)[real], built.teach(pairs).logits[real], atol=1e-5)


def test_letting_go_always_feeds_what_the_model_said():
    built, pairs = model(), batch()
    logits = mixed(built, pairs, 1.0)
    state, token = built.start(pairs.source), pairs.target.data[:, 0]
    for step in range(logits.shape[1]):
        stepped = built.step(token, state)
        assert torch.allclose(stepped.logits, logits[:, step], atol=1e-6)
        state, token = stepped.state, stepped.logits.argmax(-1)


def test_a_share_of_own_pieces_is_drawn_piece_by_piece():
    built, pairs = model(), batch()
    fed = []
    step = built.step
    built.step = lambda token, state: (fed.append(token), step(token, state))[1]
    torch.manual_seed(3)
    sequence_loss(built, pairs, own=0.5)
    given_, right = torch.stack(fed, 1), pairs.target.data[:, :-1]
    assert torch.equal(given_[:, 0], right[:, 0]), "the first piece is always the start"
    same = (given_ == right)[:, 1:].float().mean().item()
    assert 0.2 < same < 0.8


def test_the_share_of_own_pieces_rises():
    goal = partial(Write, Text("source"), Text("target"), sampling_rate=0.6, sampling_ramp=10)
    settings = goal(forcing="scheduled")
    assert [settings.own_share(number) for number in (1, 5, 10, 99)] == pytest.approx([0.06, 0.3, 0.6, 0.6])
    assert goal().own_share(99) == 0.0
