"""Short versions of the mechanism benches (`python benchmarks/mechanisms.py`): what they claim must hold."""

import math
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import flatness
import lookup
import reversal

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


def test_the_answer_of_a_lookup_is_the_class_of_the_named_slot():
    items = lookup.draw(13, torch.Generator().manual_seed(0))
    names, classes = items.slots.split((lookup.SLOTS, lookup.CLASSES), -1)
    named = (items.query @ names.mT) @ classes
    assert torch.equal(named.squeeze(1).argmax(1), items.label)
    assert torch.equal(names.sum(1), torch.ones(13, lookup.SLOTS))  # every slot is there once
    assert names[0].argmax(1).tolist() != sorted(names[0].argmax(1).tolist())  # in any order


def test_hard_attention_learns_with_a_baseline_and_not_without():
    found = {
        arm: lookup.train(arm, 0, steps=300, every=300)["accuracy"][300]
        for arm in ("hard, no baseline", "hard, baseline")
    }
    assert found["hard, baseline"] >= 0.95
    assert found["hard, no baseline"] < 0.5


def test_the_baseline_makes_the_gradient_quieter_at_equal_weights():
    torch.manual_seed(0)
    without, with_it = lookup.noise(lookup.Lookup(lookup.ARMS["hard, baseline"]), 1, batches=40)
    assert without >= 5 * with_it


def test_measuring_the_noise_leaves_the_model_alone():
    torch.manual_seed(0)
    model = lookup.Lookup(lookup.ARMS["hard, no baseline"])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    lookup.noise(model, 1, batches=2)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.attend.attend.choice.keep == 0


def test_a_reversal_by_hand():
    batch = reversal.draw(torch.tensor([3, 2]), torch.Generator().manual_seed(0))
    (a, b, c), (d, e, padding) = batch.source.data.tolist()
    assert padding == 0
    assert batch.target.data.tolist() == [[1, c, b, a, 2], [1, e, d, 2, 0]]
    assert batch.target.mask.tolist() == [[True] * 5, [True] * 4 + [False]]


class Mirror(torch.nn.Module):
    """A stand-in for a model that always writes and looks at the mirrored position."""

    def start(self, source):
        return source, 0

    def step(self, token, state):
        source, at = state
        places = source.lengths - 1 - at
        found = source.data.gather(1, places.clamp(min=0)[:, None]).squeeze(1)
        pieces = torch.where(places < 0, reversal.END, found)
        weights = torch.nn.functional.one_hot(places.clamp(min=0), source.data.shape[1]).float()
        looked = type("Looked", (), {"weights": weights.unsqueeze(1)})
        logits = torch.nn.functional.one_hot(pieces, reversal.SIZE).float()
        return type("Stepped", (), {"logits": logits, "state": (source, at + 1), "looked": (looked,)})


def test_examining_knows_right_from_wrong():
    lengths = torch.tensor([3, 5, 7, 2])
    reverse = reversal.draw(lengths, torch.Generator().manual_seed(0))
    copy = reversal.draw(lengths, torch.Generator().manual_seed(0), copies=True)
    assert reversal.examine(Mirror(), reverse) == (1.0, 1.0)
    exact, aligned = reversal.examine(Mirror(), copy, copies=True)
    assert exact == 0.0
    assert math.isclose(aligned, 3 / 17, abs_tol=1e-6)  # the middle of the three odd lengths mirrors onto itself


@pytest.mark.parametrize("name", reversal.ARMS)
def test_every_arm_builds_and_learns_from_a_step(name):
    torch.manual_seed(0)
    arm = reversal.ARMS[name]
    model = arm.build()
    reversal.loss(model, reversal.draw(torch.tensor([5, 3]), torch.Generator().manual_seed(0), arm.copies)).backward()
    untouched = [name for name, weights in model.named_parameters() if weights.grad is None or not weights.grad.any()]
    assert untouched == []


def test_attention_reverses_what_a_fixed_vector_cannot():
    settings = {"steps": 150, "each": 128, "buckets": ((3, 6),), "trained": (3, 6)}
    found = {name: reversal.train(name, 0, **settings)["buckets"]["3-6"][0] for name in ("none", "additive")}
    assert found["additive"] >= 0.8
    assert found["none"] < 0.3


@pytest.mark.parametrize(
    ("width", "unscaled"),
    [
        (4, (2.25, 0.78, 0.35)),
        (64, (0.53, 0.27, 0.81)),
        (1024, (0.12, 0.07, 0.95)),
    ],
)
def test_scaling_keeps_the_softmax_soft(width, unscaled):
    plain, scaled = (flatness.flatness(width, score, draws=1000) for score in ("dot", "scaled_dot"))
    assert (plain.entropy, plain.trace, plain.largest) == pytest.approx(unscaled, abs=0.06)
    assert (scaled.entropy, scaled.trace, scaled.largest) == pytest.approx((3.02, 0.93, 0.16), abs=0.03)
