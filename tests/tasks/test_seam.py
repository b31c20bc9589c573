"""Between recipes, tasks and the loop: old recipes, runs and folders; losses by hand; what is told and drawn."""

import json
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from regard.data.batches import Batches, InMemory
from regard.data.builtin import examples
from regard.data.corpus import Corpus
from regard.data.pair import Pair
from regard.data.pairs import Pairs
from regard.data.sides.label import Label
from regard.data.sides.nothing import Nothing
from regard.data.sides.tags import Tags
from regard.data.sides.text import Text
from regard.errors import UsageError
from regard.learn.learner import Learner
from regard.learn.state import State, read_state, write_state
from regard.recipe import resolve
from regard.recipe.moved import PLACES, moved_terms
from regard.task import BaseGoal
from regard.tasks.goals.classify import label_loss
from regard.tasks.goals.tag import Tag
from regard.tasks.job import TrainJob, silent
from regard.tasks.objects import open_model
from regard.tasks.setup import set_up
from regard.types import Batch, Labels
from small import RECIPE, model, words
from tasks.labelled import setup

OLD = {
    "train.smoothing": 0.17,
    "train.forcing": "scheduled",
    "train.own": 0.29,
    "train.ramp": 31,
    "train.guide": "links",
    "train.guide_weight": 0.37,
    "train.guide_layer": 1,
    "train.guide_head": 2,
    "train.guide_step": "after",
    "train.pieces": "words",
    "train.vocabulary": 311,
    "train.longest": 13,
    "train.sample": 0.19,
    "train.target_vocabulary": 313,
    "train.joint": "no",
    "about.task": "summarise",
    "task.from": "runs/bert",
}


def at(recipe, place):
    """The value at a dotted place of [task]."""
    made, steps = recipe.task, place.split(".")[1:]
    for step in steps[:-1]:
        made = made.settings[step]
    return made.settings[steps[-1]]


def test_every_setting_that_moved_is_tried_here():
    assert OLD.keys() == PLACES.keys()


@pytest.mark.parametrize("key", OLD)
def test_an_old_setting_is_read_in_a_recipe_and_on_the_command_line(key, tmp_path):
    table, _, name = key.partition(".")
    path = tmp_path / "old.toml"
    path.write_text(f'extends = "rnnsearch"\n[predict]\npart = "luong"\n[{table}]\n{name} = {json.dumps(OLD[key])}\n')
    for found in (resolve(path), resolve("luong", [f"{key}={OLD[key]}"])):
        assert [at(found, place) for place in PLACES[key]] == [OLD[key]] * len(PLACES[key])
        assert name not in found.train.settings


def test_an_old_setting_gives_way_to_the_new_one():
    for key, places in PLACES.items():
        terms = moved_terms({key: "old", places[0]: "new"})
        assert key not in terms
        assert terms[places[0]] == "new"


SHORT = ["train.tokens=211", "train.save_steps=1", "train.precision=fp32", "train.tensorboard=false"]


def test_a_run_and_a_folder_of_before_there_were_tasks(tmp_path):
    """The state, the recipes and the terms as they were written then: it resumes, loads and is used."""
    job = TrainJob(RECIPE, "copy", tmp_path / "run", size=53, steps=2, settings=[*SHORT, "task.goal.smoothing=0.1"])
    job.train()
    state = read_state(job.out / "state.safetensors")
    terms = dict(state.values["terms"])
    old = {key: value for key, value in terms.items() if not key.startswith("task.")}
    for key, places in PLACES.items():
        if key not in ("about.task", "task.from"):
            old[key] = terms[places[0]]
    write_state(job.out / "state.safetensors", State(state.tensors, {**state.values, "terms": old}))
    for name in ("last", "best"):
        then = f'{RECIPE.read_text()}\n[about]\ntask = "translate"\n[train]\nsmoothing = 0.1\n'
        (job.out / name / "recipe.toml").write_text(then)
    used = open_model(job.out)
    assert used.model.recipe.task.settings["goal"].settings["smoothing"] == 0.1
    assert isinstance(used.translate("a b").text, str)
    replace(job, steps=3, resume=True).train()
    with pytest.raises(UsageError, match=r"task\.goal\.smoothing: was 0\.1, is 0\.0"):
        replace(job, steps=3, resume=True, settings=SHORT).train()


# --- what does not go together --------------------------------------------------------------------------------


def test_shared_vectors_need_one_tokenizer():
    corpus = Corpus.open("copy", size=53)
    with pytest.raises(UsageError, match=r'share = true needs one tokenizer for both sides; found task.joint = "no"'):
        set_up(resolve(RECIPE, ["share=true", "task.joint=no"]), corpus, None, 0, silent)
    made = set_up(resolve(RECIPE, ["share=true", "task.joint=yes"]), corpus, None, 0, silent)
    assert made.model.embed.table.weight is made.model.predict.embed.table.weight


def test_a_target_of_other_pieces():
    settings = ["task.source.pieces=words", "task.target.pieces=characters"]
    made = set_up(resolve(RECIPE, settings), Corpus.open("copy", size=53), None, 0, silent)
    assert (made.parts.source.tokenizer.kind, made.parts.target.tokenizer.kind) == ("words", "characters")


# --- losses by hand -------------------------------------------------------------------------------------------


def labelled(*settings):
    """A small classifier of three classes, and a batch for it."""
    built = model(["predict.part=label", "task.target=label", "task.goal=classify", *settings], target=3)
    return built, Batch(words(31, (7, 5, 2)), Labels(torch.tensor([2, 0, 2])), weights=(1, 1, 1))


def test_smoothed_labels_by_hand():
    built, batch = labelled()
    logs = built.label(batch.source).logits.log_softmax(-1)
    right = -logs[torch.arange(3), batch.target.data]
    found = label_loss(built, batch, 0.3)
    assert found.nll.item() == pytest.approx(right.mean().item(), rel=1e-5)
    assert found.total.item() == pytest.approx((0.7 * right - 0.3 * logs.mean(-1)).mean().item(), rel=1e-5)
    assert found.count == 3


def test_gates_add_their_price_once():
    """The mean over examples of -log p, and the price of the share of open gates, on the scale of one example."""
    built, batch = labelled("attend.choice.part=gated", "attend.choice.price=5.0")
    torch.manual_seed(3)
    loss = label_loss(built.train(), batch)
    torch.manual_seed(3)
    looked = built.label(batch.source).looked[0]
    density = (looked.gates.sum(-1) / torch.tensor([7.0, 5.0, 2.0])).mean() if looked.gates is not None else None
    assert density is not None
    assert (loss.total - loss.nll).item() == pytest.approx(5.0 * density.item(), rel=1e-4)


def test_hard_choices_are_judged_by_the_likelihood_of_their_example():
    built, batch = labelled("attend.choice=hard", "attend.choice.baseline=0.0", "attend.choice.entropy=0.0")
    torch.manual_seed(3)
    loss = label_loss(built.train(), batch)
    torch.manual_seed(3)
    labels = built.label(batch.source)
    chosen = labels.looked[0].weights[:, 0]
    likelihood = -F.cross_entropy(labels.logits, batch.target.data, reduction="none")
    built.eval()
    attend, memory = built.predict.attend, built.read(batch.source)
    prepared = attend.prepare(memory.keys, memory.values, memory.mask)
    scores = attend.score(built.predict.query.expand(3, -1, -1), prepared.keys)[:, 0]
    logs = scores.masked_fill(~memory.mask, -torch.inf).log_softmax(-1)
    picked = logs[torch.arange(3), chosen.argmax(-1)]
    assert (loss.total - loss.nll).item() == pytest.approx(-(likelihood * picked).mean().item(), rel=1e-4)


# --- the loop -------------------------------------------------------------------------------------------------


def test_parts_hear_how_far_the_training_is():
    made, told = setup("classify", "attend.choice.part=gated", "attend.choice.anneal=10"), []
    learner = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    gates = made.model.predict.attend.choice
    hear = gates.progress
    gates.progress = lambda number, share: (told.append((number, share)), hear(number, share))
    learner.update(0.25), learner.update(), learner.update(0.5)
    assert told == [(1, 0.25), (2, None), (3, 0.5)]
    assert gates.updates == 3


@pytest.mark.parametrize("kind", ["classify", "tag"])
def test_a_validation_draws_nothing(kind):
    made = setup(kind, "task.source.pieces=bpe", "task.source.vocabulary=300", "task.source.sample=0.9")
    found = [made.validator(made.model.eval()).values for _ in range(2)]
    assert found[0] == found[1]
    assert set(found[0]) >= {"nll"}
    rows = made.validator.rows
    sampled, plain = (
        Batches(rows, made.parts.goal, shuffle=shuffle, tokens=10**6, examples=made.parts.examples)
        for shuffle in (True, False)
    )
    counts = [sum(int(batch.source.mask.sum()) for batch in each) for each in (sampled, plain)]
    assert counts[0] > counts[1]


def test_a_validation_weighs_every_prediction_alike(monkeypatch):
    made = setup("tag")
    whole = made.validator(made.model.eval()).values["nll"]
    cut = lambda *given, **settings: Batches(*given, **{**settings, "tokens": 31})  # noqa: E731
    monkeypatch.setattr("regard.tasks.validate.Batches", cut)
    assert made.validator(made.model).values["nll"] == pytest.approx(whole, rel=1e-5)


# --- batches --------------------------------------------------------------------------------------------------


def test_what_asks_for_no_prediction_is_left_out():
    source, target = Text("source", pieces="words"), Tags("target")
    source.fit(["a b"]), target.fit(["X Y"])
    rows = InMemory([Pair("a b", "X Y"), Pair("", ""), Pair("b", "Y")])
    batches = list(Batches(rows, Tag(source, target), shuffle=False, tokens=1))
    assert sorted(batch.rows for batch in batches) == [(0,), (2,)]


def test_examples_without_positions_are_counted_by_their_number():
    target = Label("target")
    target.fit(["a", "b"])
    goal = BaseGoal(Nothing("source"), target)
    rows = InMemory([Pair("", "a"), Pair("", "b")] * 5)
    assert [len(batch) for batch in Batches(rows, goal, shuffle=False, tokens=3)] == [3, 3, 3, 1]


def test_a_batch_counts_what_its_examples_ask_for():
    pairs = list(examples("copy", split="train", size=31, seed=3))
    source, target = Text("source", pieces="words"), Text("target", pieces="words")
    source.fit(pair.source for pair in pairs), target.fit(pair.target for pair in pairs)
    for batch in Batches(InMemory(pairs), Pairs(source, target), tokens=97):
        assert batch.count == sum(batch.weights) == int(batch.target.mask[:, 1:].sum())
        assert batch.count == Batch(batch.source, batch.target).count
