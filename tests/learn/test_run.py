"""One run in one process: budgets, early stopping, accumulation, averages, the log, and what is refused."""

import itertools
import json
import math
import random
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from learn.child import PAIRS, TOKENIZER, small_model, stream, writing
from regard.attend.hard import BY_PIECE
from regard.data.batches import InMemory
from regard.data.pairs import pair_batches
from regard.errors import ModelError, TrainingError, UsageError
from regard.evaluate import read_scores, values_of
from regard.learn import run as running
from regard.learn.events import Saved, Step, Validated, Validation
from regard.learn.folder import RunFolder
from regard.learn.learner import Learner
from regard.learn.loop import fit
from regard.learn.run import Aims, Budget
from regard.learn.settings import TrainSettings
from regard.learn.state import preserve_rng, weights_of
from regard.learn.train import run
from regard.model import load
from regard.registry import maker, names
from regard.types import Batch, Padded
from small import batch, model

QUICK = TrainSettings(rate=0.01, tensorboard=False, validate_steps=0, save_minutes=0.0, log=1, precision="fp32")


def go(folder, settings=QUICK, *, budget=None, validate=None, tell=lambda event: None, built=None, batches=None):
    built = small_model() if built is None else built
    place = RunFolder(folder / "run", resume=(folder / "run").exists())
    budget = Budget(steps=3) if budget is None else budget
    return run(
        built, batches or stream(), settings, place, budget=budget, aims=Aims(writing(built), validate), tell=tell
    )


def scores(*values, name="bleu"):
    """A validation that finds these values, one after the other."""
    found = iter(values)
    return lambda model: Validation({name: next(found)})


def assert_equal_weights(one, other, tolerance=0.0):
    theirs = weights_of(other)
    for name, each in weights_of(one).items():
        assert torch.allclose(each, theirs[name], rtol=0, atol=tolerance), name


def halves(pairs):
    """The two halves of a batch of four rows."""
    for part in (slice(0, 2), slice(2, 4)):
        yield Batch(
            Padded(pairs.source.data[part], pairs.source.mask[part]),
            Padded(pairs.target.data[part], pairs.target.mask[part]),
        )


def test_two_half_batches_are_one_batch():
    """Of unequal numbers of pieces: every piece counts the same."""
    whole = [batch((7, 5, 3, 2), (11, 7, 3, 2)), batch((5, 5, 2, 2), (2, 2, 5, 13))]
    fresh = model().recipe.build(31, 37)
    twin = model().recipe.build(31, 37)
    twin.load_state_dict(fresh.state_dict())
    settings = TrainSettings(rate=0.01, clip=0.7)
    together = Learner(fresh, settings, iter(whole))
    apart = Learner(twin, replace(settings, accumulate=2), (half for each in whole for half in halves(each)))
    for _ in whole:
        one, two = together.update(), apart.update()
        assert (one.count, one.rate) == (two.count, two.rate)
        assert one.nll == pytest.approx(two.nll, rel=1e-5)
        assert one.norm == pytest.approx(two.norm, rel=1e-4)
    assert_equal_weights(fresh, twin, 1e-6)
    assert apart.update() is None, "the batches have run out"


OWN = {
    "adam": {"betas": (0.8, 0.95), "epsilon": 1e-7},
    "adamw": {"betas": (0.8, 0.95), "epsilon": 1e-7},
    "adadelta": {"rho": 0.95, "epsilon": 1e-7},
    "sgd": {"momentum": 0.3, "nesterov": True},
    "rmsprop": {"alpha": 0.9, "epsilon": 1e-7, "momentum": 0.2},
    "adafactor": {},
}


@pytest.mark.parametrize("optimiser", [name for name in names("optimiser") if name != "lamb"])  # which PyTorch lacks
def test_every_optimiser_is_pytorchs(optimiser):
    ours, theirs = model().recipe.build(31, 37), model().recipe.build(31, 37)
    theirs.load_state_dict(ours.state_dict())
    made = maker("optimiser", optimiser, weight_decay=0.1, **OWN[optimiser])
    settings = TrainSettings(rate=0.02, optimiser=made, clip=0.0)
    pairs = batch()
    matrices = [each for each in theirs.parameters() if each.dim() > 1]
    vectors = [each for each in theirs.parameters() if each.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    plain = {
        "adam": lambda: torch.optim.Adam(groups, lr=0.02, betas=(0.8, 0.95), eps=1e-7),
        "adamw": lambda: torch.optim.AdamW(groups, lr=0.02, betas=(0.8, 0.95), eps=1e-7),
        "adadelta": lambda: torch.optim.Adadelta(groups, lr=0.02, rho=0.95, eps=1e-7),
        "sgd": lambda: torch.optim.SGD(groups, lr=0.02, momentum=0.3, nesterov=True),
        "rmsprop": lambda: torch.optim.RMSprop(groups, lr=0.02, alpha=0.9, eps=1e-7, momentum=0.2),
        "adafactor": lambda: torch.optim.Adafactor(groups, lr=0.02),
    }[optimiser]()
    learner = Learner(ours, settings, itertools.repeat(pairs))
    for _ in range(3):
        learner.update()
        plain.zero_grad()
        logits, wanted = theirs.teach(pairs).logits, pairs.target.data[:, 1:]
        real = pairs.target.mask[:, 1:]
        torch.nn.functional.cross_entropy(logits[real], wanted[real]).backward()
        plain.step()
    assert_equal_weights(ours, theirs, 1e-5)


def test_clipping_cuts_the_gradient_to_its_length():
    def moved(clip):
        built = model().recipe.build(31, 37)
        torch.manual_seed(2)
        before = [each.clone() for each in built.parameters()]
        done = Learner(
            built, TrainSettings(rate=1.0, optimiser=maker("optimiser", "sgd"), clip=clip), iter([batch()])
        ).update()
        steps = [each - was for each, was in zip(built.parameters(), before, strict=True)]
        return done.norm, math.sqrt(sum(float(each.detach().square().sum()) for each in steps))

    norm, length = moved(0.01)
    assert norm > 0.01
    assert length == pytest.approx(0.01, rel=1e-3)
    norm, length = moved(0.0)
    assert length == pytest.approx(norm, rel=1e-3)


def test_a_gradient_that_is_no_number_ends_the_training():
    built = small_model()
    next(built.parameters()).data.fill_(math.nan)
    before = [each.clone() for each in list(built.parameters())[1:]]
    with pytest.raises(
        TrainingError, match=r"update 1: the gradient \(nan\) is not a finite number\. The weights embed"
    ):
        fit(built, stream().forever(), steps=1)
    after = list(built.parameters())[1:]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_budget_of_steps(tmp_path):
    told = []
    outcome = go(tmp_path, tell=told.append)
    assert (outcome.reason, outcome.number, outcome.best) == ("steps", 3, None)
    assert [each.number for each in told if isinstance(each, Step)] == [1, 2, 3]
    assert [each.number for each in told if isinstance(each, Saved)] == [0, 3]
    assert [each.left for each in told if isinstance(each, Step)][-1] == 0.0


def test_budget_of_minutes_is_summed_over_resumes(tmp_path, monkeypatch):
    """A clock that goes on by a second whenever it is asked, so that nothing depends on this machine."""
    ticks = itertools.count(1000.0)
    monkeypatch.setattr(running.time, "monotonic", lambda: float(next(ticks)))
    told = []
    first = go(tmp_path, budget=Budget(minutes=0.5), tell=told.append)
    assert first.reason == "minutes"
    assert told[-2].left < 20
    assert go(tmp_path, budget=Budget(minutes=0.5)).number == first.number
    second = go(tmp_path, budget=Budget(minutes=1.0, steps=1000))
    assert first.number < second.number < 3 * first.number
    assert 60 <= second.seconds < 90


def test_the_share_of_a_budget():
    budget = Budget(minutes=2.0, steps=10)
    assert (budget.share(5, 30.0), budget.share(1, 90.0), budget.share(99, 0.0)) == (0.5, 0.75, 1.0)
    assert Budget().share(5, 30.0) is None
    assert (budget.left(5, 30.0, 3.0), budget.left(5, 110.0, 3.0), Budget().left(1, 1.0, 1.0)) == (15.0, 10.0, None)
    for wrong in ({"minutes": 0.0}, {"steps": -1}):
        with pytest.raises(UsageError, match="is a number greater than 0"):
            Budget(**wrong)


def test_patience_ends_a_run_and_best_is_kept(tmp_path):
    settings = replace(QUICK, validate_steps=2, patience=2)
    told, built, kept = [], small_model(), []

    def validate(model):
        kept.append({name: each.clone() for name, each in weights_of(model).items()})
        return scores(*[(1.0, 3.0, 3.0, 2.0, 9.0)[len(kept) - 1]])(model)

    outcome = go(tmp_path, settings, budget=Budget(), validate=validate, tell=told.append, built=built)
    assert (outcome.reason, outcome.number) == ("patience", 8)
    assert (outcome.metric, outcome.best, outcome.best_number) == ("bleu", 3.0, 4)
    assert [each.best for each in told if isinstance(each, Validated)] == [True, True, False, False]
    best = weights_of(load(tmp_path / "run" / "best"))
    assert all(torch.equal(best[name], each) for name, each in kept[1].items())
    written = read_scores((tmp_path / "run" / "best" / "scores.json").read_text())
    assert values_of(written) == {"bleu": 3.0}
    assert (written["training"]["updates"], written["training"]["metric"]) == (4, "bleu")
    assert_equal_weights(load(tmp_path / "run" / "last"), built)
    # It has ended, and more patience lets it go on.
    assert go(tmp_path, settings, budget=Budget(), validate=validate).number == 8
    assert go(tmp_path, replace(settings, patience=3), budget=Budget(steps=10), validate=validate).best == 9.0


def test_of_some_metrics_less_is_better(tmp_path):
    settings = replace(QUICK, validate_steps=1)
    outcome = go(tmp_path, settings, validate=scores(3.0, 1.0, 2.0, name="perplexity"))
    assert (outcome.best, outcome.best_number) == (1.0, 2)


def test_the_metric_is_chosen_by_name(tmp_path):
    found = Validation({"bleu": 1.0, "chrf": 2.0})
    assert found.score("auto") == ("bleu", 1.0)
    assert found.score("chrf") == ("chrf", 2.0)
    assert Validation({"aer": math.nan}).score("auto") == ("aer", -math.inf)
    with pytest.raises(UsageError, match=r"no such value; it gives bleu, chrf.\n  Did you mean 'chrf'"):
        go(tmp_path, replace(QUICK, validate_steps=1, metric="chrF"), validate=lambda model: found)


def test_validation_sees_the_averaged_weights_and_leaves_no_trace(tmp_path):
    built, averaged = small_model(["predict.dropout=0.5"]), []

    def validate(model):
        assert not model.training
        assert not torch.is_grad_enabled()
        torch.rand(7), random.random(), np.random.rand()
        averaged.append({name: each.clone() for name, each in weights_of(model).items()})
        return Validation({"bleu": 1.0})

    settings = replace(QUICK, average=maker("average", "last", count=2, every=1))
    go(tmp_path / "a", replace(settings, validate_steps=1), validate=validate, built=built)
    alone, steps = small_model(["predict.dropout=0.5"]), []

    def keep(event):
        if isinstance(event, Step):
            steps.append({name: each.detach().clone() for name, each in weights_of(alone).items()})

    go(tmp_path / "b", settings, built=alone, tell=keep)
    assert_equal_weights(built, alone)
    for name, each in averaged[2].items():
        assert torch.allclose(each, (steps[1][name] + steps[2][name]) / 2, atol=1e-7)
    assert any(not torch.equal(each, steps[2][name]) for name, each in averaged[2].items())
    assert_equal_weights(load(tmp_path / "a" / "run" / "last"), load(tmp_path / "b" / "run" / "best"))


def test_random_numbers_are_undisturbed():
    def draw():
        return torch.rand(3).tolist(), random.random(), np.random.rand(2).tolist()

    with preserve_rng():
        first = draw()
    assert draw() == first


def test_scheduled_forcing_trains(tmp_path):
    scheduled = ["task.goal.forcing=scheduled", "task.goal.sampling_ramp=20"]
    steps = learned(tmp_path / "a", replace(QUICK, rate=0.02), [*scheduled, "task.goal.sampling_rate=0.5"])
    assert steps[-1] < 0.85 * steps[0]
    full, never = small_model(), small_model([*scheduled, "task.goal.sampling_rate=0.0"])
    go(tmp_path / "b", QUICK, built=full)
    go(tmp_path / "c", QUICK, built=never)
    assert_equal_weights(full, never)


def test_hard_attention_trains_through_the_same_loop(tmp_path):
    built = small_model(["attend.choice=hard"])
    before = built.predict.attend.score.vector.clone()
    go(tmp_path, built=built)
    assert (built.predict.attend.score.vector != before).any(), "the scores learn by what a draw was worth"
    assert built.predict.attend.choice.seen.item() == BY_PIECE
    assert load(tmp_path / "run" / "last").predict.attend.choice.average == built.predict.attend.choice.average


def test_the_rate_is_the_schedules(tmp_path):
    told = []
    settings = replace(QUICK, schedule=maker("schedule", "cosine"))
    go(tmp_path, settings, budget=Budget(steps=4), tell=told.append)
    rates = [each.rate for each in told if isinstance(each, Step)]
    assert rates == pytest.approx([0.01 * (1 + math.cos(math.pi * share)) / 2 for share in (0, 0.25, 0.5, 0.75)])


@pytest.mark.parametrize(
    ("changed", "budget", "validate", "told"),
    [
        ({}, Budget(), None, "the run would never end"),
        ({"schedule": maker("schedule", "cosine"), "patience": 2}, Budget(), None, "'cosine' needs to know when"),
        ({"schedule": maker("schedule", "plateau")}, Budget(steps=1), None, "'plateau' needs validation, and there is"),
        ({"patience": 3}, Budget(steps=1), None, "patience = 3 needs validation"),
        ({"patience": 3}, Budget(steps=1), scores(), "validate_steps and validate_minutes are both 0"),
    ],
)
def test_what_could_not_end_well_is_refused(tmp_path, changed, budget, validate, told):
    with pytest.raises(UsageError, match=told):
        go(tmp_path, replace(QUICK, **changed), budget=budget, validate=validate)
    assert not (tmp_path / "run").exists()


def test_a_model_without_a_recipe_is_refused(tmp_path):
    built = small_model()
    built.recipe = None
    with pytest.raises(ModelError, match="only a model built from a recipe"):
        run(built, stream(), QUICK, RunFolder(tmp_path / "run"), budget=Budget(steps=3))


def test_log_and_tensorboard_say_the_same(tmp_path):
    settings = replace(QUICK, log=2, validate_steps=2, tensorboard=True)
    told = []
    go(tmp_path, settings, budget=Budget(steps=5), validate=scores(1.0, 2.0, math.nan), tell=told.append)
    lines = (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    steps = [each.nll for each in told if isinstance(each, Step)]
    logged = [each for each in events if each["event"] == "step"]
    assert [each["number"] for each in logged] == [2, 4]
    means = [(steps[0] + steps[1]) / 2, (steps[2] + steps[3]) / 2]
    assert [each["nll"] for each in logged] == pytest.approx(means)
    assert [each["values"] for each in events if each["event"] == "validate"] == [
        {"bleu": 1.0}, {"bleu": 2.0}, {"bleu": None}
    ]  # fmt: skip
    assert events[0]["terms"]["train.rate"] == 0.01
    board = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    assert [(each.step, each.value) for each in board.Scalars("validate/bleu")][:2] == [(2, 1.0), (4, 2.0)]
    assert [each.value for each in board.Scalars("train/nll")] == pytest.approx(means)


def test_a_run_in_a_thread_cannot_catch_signals_and_works(tmp_path):
    found = []
    thread = threading.Thread(target=lambda: found.append(go(tmp_path)))
    thread.start()
    thread.join()
    assert found[0].number == 3


def test_tied_weights_are_kept_once_and_stay_tied(tmp_path):
    overrides = ["share=true", "predict.readout=tied"]
    built, again = small_model(overrides), small_model(overrides, seed=6)
    settings = replace(QUICK, average=maker("average", "ema"))
    go(tmp_path, settings, built=built)
    go(tmp_path, settings, built=again)
    assert again.embed.table.weight is again.predict.embed.table.weight
    assert_equal_weights(built, again)


def test_a_run_learns(tmp_path):
    outcome = learned(
        tmp_path,
        replace(QUICK, rate=0.02, schedule=maker("schedule", "cosine", floor=0.1)),
        ["task.goal.smoothing=0.05"],
    )
    assert outcome[-1] < 0.7 * outcome[0]


def learned(folder, settings, changes=()):
    """The loss of each of thirty updates on five pairs."""
    wider = [f"{key}=24" for key in ("embed.width", "encode.hidden", "predict.hidden", "predict.embed.width")]
    batches, told = pair_batches(InMemory(PAIRS[:5]), TOKENIZER, TOKENIZER), []
    go(
        folder,
        settings,
        budget=Budget(steps=30),
        tell=told.append,
        batches=batches,
        built=small_model([*wider, *changes]),
    )
    return [each.nll for each in told if isinstance(each, Step)]
