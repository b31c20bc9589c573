"""Hard attention in the captions' decoder: the estimate against the gradient over all paths, enumerated."""

from itertools import product

import pytest
import torch

from regard.attend.hard import Hard
from regard.hooks import loss_terms
from regard.types import Batch, Padded
from small import model, pictures

HARD = [
    *("predict.part=xu", "predict.hidden=5", "predict.embed.width=3", "predict.coverage=0.0"),
    *("attend.score.part=additive", "attend.choice.part=hard", "attend.choice.entropy=0.0"),
    *("embed.part=pixels", "encode.part=grid", "encode.hidden=6", "encode.layers=2"),
]
CELLS, STEPS = 4, 2
TARGET = [[2, 7, 11]]  # two words to predict
CHUNKS, ROWS = 24, 500


def repeated(rows):
    torch.manual_seed(3)
    source = pictures([(8, 8)])
    pixels = 3 * source.data.double().expand(rows, -1, -1, -1)
    target = torch.tensor(TARGET).expand(rows, -1)
    return Batch(type(source)(pixels, source.mask.expand(rows, -1, -1)), Padded(target, torch.ones_like(target).bool()))


def likelihoods(built, batch):
    """log p of both words, of every row."""
    logits = built.teach(batch).logits.log_softmax(-1)
    return logits.gather(-1, batch.target.data[:, 1:, None]).sum((1, 2))


def flat(gradients):
    return torch.cat([each.flatten() for each in gradients])


@pytest.fixture(scope="module")
def toy():
    torch.manual_seed(5)
    built = model(HARD, source=3, target=13).double().train()
    with torch.no_grad():
        for weight in built.parameters():
            weight.mul_(2)  # so that where it looks matters
    return built


@pytest.fixture(scope="module")
def truth(toy):
    """The gradient of the expected log-likelihood: every path with its probability."""
    paths = torch.tensor(list(product(range(CELLS), repeat=STEPS)))
    chances, step = [], iter(range(STEPS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "multinomial", lambda *_: paths[:, [next(step)]])
        patch.setattr(Hard, "_tell", lambda self, shares, chosen, counts: chances.append((shares * chosen).sum((1, 2))))
        rewards = likelihoods(toy, repeated(len(paths)))
    assert rewards.std() > 0.05, "where it looks matters"
    weights = chances[0] * chances[1]
    assert weights.sum().item() == pytest.approx(1, abs=1e-12) and len(chances) == STEPS
    wanted = flat(torch.autograd.grad((weights * rewards).sum(), list(toy.parameters())))
    return wanted, (weights * rewards).sum().item()


@pytest.fixture(scope="module")
def spread():
    """How far estimates lie apart, by the baseline."""
    return {}


@pytest.mark.parametrize("baseline", [0.0, 0.9])
def test_the_mean_of_the_estimates_is_the_gradient_over_all_paths(toy, truth, spread, baseline):
    wanted, expected = truth
    hard = toy.predict.attend.choice
    hard.keep = baseline
    found = []
    batch = repeated(ROWS)
    for number in range(CHUNKS):
        hard.average.fill_(expected)
        hard.seen.fill_(1.0)
        torch.manual_seed(number)
        with loss_terms() as extra:
            rewards = likelihoods(toy, batch)
        loss = -rewards.mean() + extra(rewards)
        found.append(-flat(torch.autograd.grad(loss, list(toy.parameters()))))
    estimates = torch.stack(found)
    errors = (estimates.mean(0) - wanted) / (estimates.std(0) / CHUNKS**0.5 + 1e-9)
    assert errors.abs().max() < 6 and errors.square().mean() < 1.6, "as far off as chance has it"
    spread[baseline] = estimates.std(0).norm().item()
    if len(spread) == 2:
        assert spread[0.9] < 0.7 * spread[0.0], "with a baseline it varies less"
