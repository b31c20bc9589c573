"""A GAN in the frame: two objectives in one update, each with its own weights, optimiser and clip."""

import json
import os
import signal
from pathlib import Path

import pytest
import torch

import regard.model
from frame.gan import RADIUS, Adversarial, Duel, critic_loss, generator_loss, register, setup
from learn.group import ended, notes, start, together, train_setup
from learn.test_processes import assert_close, assert_same
from regard import registry
from regard.errors import UsageError
from regard.evaluate.counts import Counted
from regard.evaluate.metrics import METRICS, Metric
from regard.learn.events import Step
from regard.learn.folder import RunFolder
from regard.learn.learner import Learner
from regard.learn.run import Budget
from regard.learn.train import run
from regard.tasks.objects import open_model

STEPS = 7


def count_distance(answers, references):
    """How far samples are from the circle, on average."""
    points = torch.tensor([list(map(float, each.split())) for each in answers])
    thousandths = (1000 * (points.norm(dim=1) - RADIUS).abs()).long().unsqueeze(1).numpy()
    return Counted("distance", thousandths, lambda sums: sums[0] / 1000 / len(answers), lambda seed: "")


DISTANCE = Metric("distance", "distance", False, "answers", count=count_distance)


@pytest.fixture(autouse=True)
def _own_parts(monkeypatch):
    registry.load()
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})
    monkeypatch.setitem(METRICS, "distance", DISTANCE)
    register()


def ready():
    """For a process of its own."""
    register()
    METRICS["distance"] = DISTANCE
    return setup()


def learner(settings=()):
    made = setup(settings)
    return Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)


def test_each_objective_moves_its_own_weights(monkeypatch):
    found = learner(["train.average=none"])
    model, (critic, generator) = found.model, found.minimisers
    noted = []

    def stepped(minimiser, others, name):
        step = minimiser.step

        def watched():
            assert all(each.grad is None for each in others.parameters()), f"{name}: the other has a gradient"
            before = [each.detach().clone() for each in others.parameters()]
            step()
            assert all(torch.equal(*pair) for pair in zip(before, others.parameters(), strict=True))
            noted.append(name)

        monkeypatch.setattr(minimiser, "step", watched)

    stepped(critic, model.generate, "critic")
    stepped(generator, model.judge, "generator")
    first = {name: each.detach().clone() for name, each in model.named_parameters()}
    update = found.update()
    assert noted == ["critic", "critic", "generator"]
    # The last bias of the critic takes the same share of both terms of a hinge that nothing has crossed.
    moved = {name for name, each in model.named_parameters() if not torch.equal(each, first[name])}
    assert moved >= {"judge.0.weight", "judge.2.weight", "generate.0.weight", "generate.2.bias"}
    assert all(each.requires_grad for each in model.parameters())
    assert set(update.losses) == {"critic", "generator"}
    assert [group["lr"] for group in critic.optimiser.param_groups] == [0.02] * 2
    assert [group["lr"] for group in generator.optimiser.param_groups] == [0.01] * 2


def test_an_update_by_hand():
    """Plain gradient descent, one step of each: the generator learns from the critic that has moved."""
    plain = ["train.optimiser=sgd", "train.average=none", "train.clip=0", "task.goal.critic_steps=1"]
    found, made = learner(plain), setup(plain)
    stream, model = made.batches.forever(), made.model
    for loss, weights, rate in ((critic_loss, model.judge, 0.02), (generator_loss, model.generate, 0.01)):
        gradients = torch.autograd.grad(loss(model, next(stream), 1).total, list(weights.parameters()))
        with torch.no_grad():
            for each, gradient in zip(weights.parameters(), gradients, strict=True):
                each -= rate * gradient
    found.update()
    for (name, ours), theirs in zip(found.model.named_parameters(), model.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-7), name


def test_each_objective_is_clipped_by_itself():
    found = learner(["train.optimiser=sgd", "train.average=none", "train.clip=0.01", "task.goal.critic_steps=1"])
    before = {name: each.detach().clone() for name, each in found.model.named_parameters()}
    found.update()
    for name, rate in (("judge", 0.02), ("generate", 0.01)):
        moved = [each - before[key] for key, each in found.model.named_parameters() if key.startswith(name)]
        assert torch.cat([each.flatten() for each in moved]).norm().item() == pytest.approx(rate * 0.01, rel=1e-3)


def test_the_average_follows_once_an_update():
    found, calls = learner(), []
    found.average.follow = lambda number, weights: calls.append(number)
    found.update(), found.update()
    assert calls == [1, 2]


def test_an_average_of_all_weights_by_hand():
    found = learner()
    found.update()
    first = {name: each.detach().clone() for name, each in found.model.named_parameters()}
    found.update()
    keep = 3 / 12  # (1 + n) / (10 + n) of update 2, below the decay
    with found.averaged() as model:
        for name, each in model.named_parameters():
            ours = dict(found.model.named_parameters())[name]
            assert ours is each
            kept = found.average.kept[name]
            assert torch.equal(each, kept)
    for name, each in found.model.named_parameters():
        wanted = keep * first[name] + (1 - keep) * each
        assert torch.allclose(found.average.kept[name], wanted, atol=1e-6)


def test_more_than_one_objective_is_not_divided():
    with pytest.raises(UsageError, match=r"more than one objective cannot be divided.*\n.*shard = false"):
        learner(["train.shard=true"])


@pytest.mark.usefixtures("unchecked")
def test_it_learns_logs_saves_and_answers(tmp_path):
    made = setup(["train.log=30", "train.validate_steps=0", "train.save_steps=0", "train.rate=0.02"])
    sample = made.parts.goal.answer(made.model, [None] * 31)
    began = count_distance([each.text for each in sample], []).value()
    outcome = run(
        made.model, made.batches, made.settings, RunFolder(tmp_path / "run"), budget=Budget(steps=150), aims=made.aims
    )
    assert outcome.metric == "distance"
    assert outcome.best < 0.7 < 1.2 < began
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    steps = [line for line in lines if line["event"] == "step"]
    assert [line["number"] for line in steps] == [30, 60, 90, 120, 150]
    assert all({"critic", "generator", "nll", "norm", "rate", "speed"} <= set(line) for line in steps)
    assert all(line["nll"] == line["critic"] for line in steps)
    validation = next(line for line in lines if line["event"] == "validate")
    assert set(validation["values"]) == {"distance"}, "there is no likelihood"
    model = open_model(tmp_path / "run")
    assert isinstance(model.model, Duel) and isinstance(model.parts.goal, Adversarial)
    answers = model.answer([None] * 31)
    assert count_distance([each.text for each in answers], []).value() == pytest.approx(outcome.best)
    assert regard.model.load(tmp_path / "run" / "last").recipe == made.model.recipe


def whole(folder, resume=False, kill=None):
    """A run, in a process of its own."""

    def tell(event):
        if isinstance(event, Step) and event.number == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    train_setup(folder, ready(), steps=STEPS, resume=resume, tell=tell)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gan") / "run"
    assert together(1, whole, str(folder)) == [0]
    return folder


def test_killed_and_resumed_it_is_the_same(alone, tmp_path):
    assert ended(start(1, whole, str(tmp_path / "run"), kill=5)) == [-signal.SIGKILL]
    assert together(1, whole, str(tmp_path / "run"), resume=True) == [0]
    assert_same(tmp_path / "run", alone)


def test_two_processes_make_the_weights_of_one(alone, tmp_path):
    """What the goal draws is drawn by row: nothing depends on who reads it."""
    assert together(2, whole, str(tmp_path / "run")) == [0, 0]
    assert_close(Path(tmp_path / "run"), alone)
    main, other = notes(tmp_path / "run")
    assert main["weights"] == other["weights"]
