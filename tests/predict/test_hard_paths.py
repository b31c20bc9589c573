"""Hard attention's estimators in decoders: the mean of many against the gradient over all paths, enumerated."""

from dataclasses import dataclass
from itertools import product

import pytest
import torch

from regard.attend.hard import BY_PIECE, Hard
from regard.hooks import loss_terms
from regard.types import Batch, Padded
from small import model, pictures

# Two words are written: one look of one head at four cells each, or two heads of two layers at two words each.
XU = [
    *("predict.part=xu", "predict.hidden=5", "predict.embed.width=3", "predict.coverage=0.0"),
    *("attend.score.part=additive", "attend.choice.part=hard", "attend.choice.entropy=0.0"),
    *("embed.part=pixels", "encode.part=grid", "encode.hidden=6", "encode.layers=2"),
]
TRANSFORMER = [
    *("predict.part=transformer", "predict.layers=2", "predict.feed=7", "predict.embed.width=6", "predict.dropout=0"),
    *("predict.self_attend.heads=2", "attend.part=heads", "attend.heads=2"),
    *("attend.attend.choice.part=hard", "attend.attend.choice.entropy=0.0", "embed.width=6"),
]
TARGET = [[2, 7, 11]]
CHUNKS, ROWS = 24, 500


@dataclass
class Toy:
    """A model that looks hard, its one pair, and the gradient of the expected log-likelihood."""

    name: str
    model: object
    pair: Batch
    keys: int
    looks: int  # in all
    truth: object = None
    expected: float = 0.0  # log p of a piece
    samples: int = 1

    @property
    def choices(self):
        return [each for each in self.model.modules() if isinstance(each, Hard)]

    @property
    def weights(self):
        return [each for name, each in self.model.named_parameters() if "judge" not in name]

    def batch(self, rows):
        data, mask = (each.expand(rows, *each.shape[1:]) for each in (self.pair.source.data, self.pair.source.mask))
        target = self.pair.target.data.expand(rows, -1)
        return Batch(type(self.pair.source)(data, mask), Padded(target, torch.ones_like(target).bool()))

    def likelihoods(self, rows, samples=1):
        """log p of each word, of every row."""
        batch = self.batch(rows)
        logits = self.model.teach(batch, samples).logits.log_softmax(-1)
        return logits.gather(-1, batch.target.data[:, 1:, None].repeat(samples, 1, 1)).squeeze(-1)

    def estimate(self, rows=ROWS):
        """An estimate of the gradient of the expected log-likelihood: the mean of so many."""
        with loss_terms() as extra:
            rewards = self.likelihoods(rows // self.samples, self.samples)
        loss = extra(rewards, samples=self.samples) - rewards.sum(1).mean()
        return -flat(torch.autograd.grad(loss, self.weights, allow_unused=True), self.weights)

    def estimates(self, chunks=CHUNKS):
        found = []
        for number in range(chunks):
            for choice in self.choices:
                choice.average.fill_(self.expected)
                choice.seen.fill_(BY_PIECE)
            torch.manual_seed(number)
            found.append(self.estimate())
        return torch.stack(found)

    def enumerate(self):
        """Every path with its probability."""
        paths = torch.tensor(list(product(range(self.keys), repeat=self.looks)))
        chances, at = torch.ones(len(paths), dtype=torch.double), 0

        def drawn(shares, some):
            nonlocal chances, at
            each = shares.view(len(paths), -1, self.keys)
            taken = paths[:, at : at + each.shape[1]]
            chances = chances * each.gather(-1, taken.unsqueeze(-1)).flatten(1).prod(1)
            at += each.shape[1]
            return taken.view(shares.shape[:-1])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("regard.attend.hard._drawn", drawn)
            rewards = self.likelihoods(len(paths)).sum(1)
        assert at == self.looks and chances.sum().item() == pytest.approx(1, abs=1e-12)
        assert rewards.std() > 0.05, "where it looks matters"
        self.truth = flat(torch.autograd.grad((chances * rewards).sum(), self.weights), self.weights)
        self.expected = (chances * rewards).sum().item() / 2


def flat(gradients, weights):
    pairs = zip(gradients, weights, strict=True)
    return torch.cat([(torch.zeros_like(like) if each is None else each).flatten() for each, like in pairs])


def like(toy_, *settings):
    """The same weights with another choice."""
    found = toy(toy_.name, *settings)
    found.model.load_state_dict(toy_.model.state_dict(), strict=False)
    found.truth, found.expected, found.pair = toy_.truth, toy_.expected, toy_.pair
    return found


def toy(name, *settings):
    torch.manual_seed(5)
    if name == "xu":
        built = model([*XU, *(f"attend.choice.{each}" for each in settings)], source=3, target=13)
        torch.manual_seed(3)
        seen = pictures([(8, 8)])
        source, keys, looks = type(seen)(3 * seen.data.double(), seen.mask), 4, 2
    else:
        built = model([*TRANSFORMER, *(f"attend.attend.choice.{each}" for each in settings)], source=11, target=13)
        ids = torch.tensor([[3, 8]])
        source, keys, looks = Padded(ids, torch.ones_like(ids).bool()), 2, 8
    built = built.double().train()
    with torch.no_grad():
        for weight_name, weight in built.named_parameters():
            # So that where it looks matters, and that no key is never drawn.
            weight.mul_(6 if ".attend.of_value" in weight_name or ".attend.join" in weight_name else 2)
    return Toy(name, built, Batch(source, Padded(torch.tensor(TARGET), torch.ones(1, 3).bool())), keys, looks)


@pytest.fixture(scope="module", params=["xu", "transformer"])
def plain(request):
    """A toy without a baseline, its truth known."""
    found = toy(request.param, "baseline=0.0")
    found.enumerate()
    return found


@pytest.fixture(scope="module")
def learned(plain):
    """The same with a learned baseline, which has learnt."""
    found = like(plain, "baseline=learned")
    judges = [weight for name, weight in found.model.named_parameters() if "judge" in name]
    adam = torch.optim.Adam(judges, lr=0.03)
    for _ in range(150):
        with loss_terms() as extra:
            rewards = found.likelihoods(101)
        for weight, gradient in zip(judges, torch.autograd.grad(extra(rewards), judges), strict=True):
            weight.grad = gradient
        adam.step()
    return found


def errors(estimates, truth):
    """How far their mean is off, in standard errors."""
    return (estimates.mean(0) - truth) / (estimates.std(0) / len(estimates) ** 0.5 + 1e-9)


def assert_unbiased(estimates, truth):
    found = errors(estimates, truth)
    assert found.abs().max() < 6 and found.square().mean() < 1.6, "as far off as chance has it"


def test_the_mean_of_the_estimates_is_the_gradient_over_all_paths(plain, learned):
    """With no baseline, a moving one, a learned one, that of the other samples; they vary less with one."""
    spread, others = {}, like(plain, "baseline=others", "samples=4")
    others.samples = 4
    arms = ("none", plain, 0.0), ("moving", plain, 0.9), ("learned", learned, 0.9), ("others", others, 0.9)
    for name, of, keep in arms:
        for choice in of.choices:
            choice.keep = keep
        estimates = of.estimates()
        assert_unbiased(estimates, of.truth)
        spread[name] = estimates.std(0).norm().item()
    assert spread["moving"] < 0.3 * spread["none"]
    assert spread["learned"] < 1.03 * spread["moving"], "two words teach a baseline little"
    assert spread["others"] < 0.3 * spread["none"]


@pytest.mark.parametrize("estimator", ["straight_through", "gumbel"])
def test_straight_through_estimates_are_biased(plain, estimator):
    """They point nearly where they should, and are further off than chance has it."""
    biased = like(plain, f"estimator={estimator}").estimates()
    assert errors(biased, plain.truth).square().mean() > 3
    assert torch.cosine_similarity(biased.mean(0), plain.truth, 0) > 0.95
