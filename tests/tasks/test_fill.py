"""Filling: what is hidden and asked for, what a trained model fills in, looks at and says of texts."""

from itertools import islice
from random import Random

import jaxtyping
import numpy as np
import pytest
import torch
from torch.nn import functional as F

import regard
from regard.data.corpus import Corpus
from regard.data.hiding import SEEN
from regard.data.tokenizer import END, START
from regard.errors import UsageError
from regard.learn.learner import Learner
from regard.recipe import resolve
from regard.registry import maker
from regard.task import Task, TaskParts
from regard.tasks.goals.fill import hidden_nll, pair_nll
from regard.tasks.job import TrainJob, silent
from regard.tasks.objects import open_model
from regard.tasks.setup import set_up

SMALL = (
    *("embed.width=32", "encode.layers=2", "encode.feed=64", "encode.attend.heads=2", "embed.dropout=0.0"),
    *("encode.dropout=0.0", "encode.attend.attend.dropout=0.0", "task.examples.length=41"),
    *("train.tokens=1024", "train.precision=fp32", "train.tensorboard=false", "train.rate=0.005"),
    *("train.schedule=constant", "train.validate_steps=0"),
)
ALBERT = ("embed.inner=16", "predict.inner=16")
LEARNS = (
    *("task.goal.pair_weight=1", "task.goal.hide=0.25", "encode.norm=before", "train.rate=0.01"),
    "train.tokens=2048",
)


def prepared(name="bert", settings=(), size=400, seed=5):
    """All that a training needs."""
    corpus = Corpus.open("stories", size=size, reads="text", wants="nothing")
    extra = ALBERT if name == "albert" else ()
    return set_up(resolve(name, [*SMALL, *extra, *settings]), corpus, None, seed, silent)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("fill") / "run"
    settings = (*SMALL, *LEARNS, "train.validate_steps=240")
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)  # a long loop, whose shapes the other tests check
    TrainJob("bert", "stories", out, steps=240, size=4000, settings=settings).train()
    jaxtyping.config.update("jaxtyping_disable", before)
    return out


@pytest.fixture(scope="module")
def filler(folder):
    return open_model(folder)


# --- what is learnt from ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert", "roberta", "albert"])
def test_what_is_hidden_is_asked_for_at_its_place(name):
    made = prepared(name, ["task.goal.masked=1.0", "task.goal.swapped=0.0"])
    mask = made.parts.source.tokenizer.mask
    assert made.model.specs[0] == made.model.specs[1] == made.parts.source.spec()
    hidden = total = 0
    for batch in made.batches:
        asked = batch.target.data != SEEN
        assert torch.equal(batch.source.data == mask, asked)
        assert batch.weights == tuple(asked.sum(1).tolist()) and batch.count == asked.sum()
        assert batch.source.mask.shape[1] <= 41
        assert batch.source.data[:, 0].eq(START).all()
        assert ("follows" in batch.extra) == (name != "roberta")
        ends = (batch.source.data == END).sum(1)
        assert ends.eq(1 if name == "roberta" else 2).all()
        hidden, total = hidden + batch.count, total + int(batch.source.mask.sum() - ends.sum() - len(batch))
    assert 0.1 < hidden / total < 0.2


def by_row(batches):
    """What is hidden of each example, by the text around it."""
    return {
        (row, batch.source.mask[place].sum().item(), tuple(batch.source.data[place][:3].tolist())): (
            batch.target.data[place] != SEEN
        ).nonzero().flatten().tolist()
        for batch in batches
        for place, row in enumerate(batch.rows)
    }  # fmt: skip


@pytest.mark.parametrize(("copies", "most"), [(0, 6), (1, 1), (2, 2)])
def test_static_masks_come_again_and_dynamic_ones_do_not(copies, most):
    made = prepared("roberta", [f"task.goal.copies={copies}", "task.goal.masked=0.0", "task.goal.swapped=0.0"], 150)
    epochs = [by_row(made.batches) for _ in range(6)]
    assert all(epoch.keys() == epochs[0].keys() for epoch in epochs)
    kinds = [len({tuple(epoch[key]) for epoch in epochs}) for key in epochs[0]]
    assert max(kinds) <= most
    assert max(kinds) >= min(most, 4), "and no fewer"


def test_masks_are_drawn_by_seed_epoch_and_row():
    assert by_row(prepared().batches) == by_row(prepared().batches) != by_row(prepared(seed=6).batches)


def test_examples_of_one_row_are_masked_each_in_its_own_way():
    parts = prepared().parts
    (item,) = parts.source.encode(["the cat sat on the mat and then went home again"])
    one = parts.goal.prepare(regard.task.Example(item, None, 3, 1, {"part": 0}), Random(1))
    two = parts.goal.prepare(regard.task.Example(item, None, 3, 1, {"part": 1}), Random(1))
    assert one.target != two.target


def same(one, two):
    return (
        one.rows == two.rows
        and torch.equal(one.source.data, two.source.data)
        and torch.equal(one.source.segments, two.source.segments)
        and torch.equal(one.target.data, two.target.data)
        and torch.equal(one.extra["follows"], two.extra["follows"])
    )


def test_in_the_middle_of_an_epoch_it_goes_on_with_the_same():
    whole, stopped, resumed = prepared(), prepared(), prepared()
    wanted = list(islice(whole.batches.forever(), 13))
    assert whole.batches.epoch > 0
    list(islice(stopped.batches.forever(), 5))
    resumed.batches.restore(stopped.batches.state())
    assert all(map(same, wanted[5:], islice(resumed.batches.forever(), 8)))


@pytest.mark.parametrize("count", [2, 3])
def test_shares_together_have_the_gradient_of_the_whole(count):
    made = prepared()
    model, goal = made.model.eval(), made.parts.goal
    batch = next(iter(made.batches))
    (objective,) = goal.objectives(model)
    weight = model.encode.layers[0].feed.widen.weight
    (whole,) = torch.autograd.grad(objective.loss(model, batch, 1).total, weight)
    parts = torch.zeros_like(whole)
    for place in range(count):
        share = batch.share(place, count)
        loss = objective.loss(model, share, 1)
        parts += torch.autograd.grad(loss.total, weight)[0] * loss.count / batch.count
    assert torch.allclose(parts, whole, atol=1e-6)


def test_the_loss_by_hand():
    made = prepared()
    model, batch = made.model.eval(), next(iter(made.batches))
    memory = model.read(batch.source)
    asked = batch.target.data != SEEN
    logits = model.fill(batch.source).logits
    every = F.cross_entropy(logits.flatten(0, 1), batch.target.data.flatten(), ignore_index=SEEN, reduction="sum")
    each, where = hidden_nll(model, batch, memory)
    assert torch.equal(where, asked) and torch.allclose(each.sum(), every, rtol=1e-5)
    follows = F.cross_entropy(model.predict.follows(memory.summary), batch.extra["follows"])
    assert torch.allclose(pair_nll(model, batch, memory), follows * len(batch), rtol=1e-5)
    loss = made.parts.goal.objectives(model)[0].loss(model, batch, 1)
    assert torch.allclose(loss.total, (every + 10 * follows * len(batch)) / batch.count, rtol=1e-5)
    assert torch.allclose(loss.nll, every / batch.count, rtol=1e-5) and not loss.nll.requires_grad
    near = float(torch.log(torch.tensor(float(logits.shape[-1]))))
    assert float(loss.nll) == pytest.approx(near, rel=0.05), "before it has learnt anything, it guesses"


def test_what_is_shown_as_it_is_counts_too():
    """Asked for is what stood there, whatever is shown."""
    made = prepared(settings=["task.goal.masked=0.0", "task.goal.swapped=0.0"])
    for batch in made.batches:
        asked = batch.target.data != SEEN
        assert torch.equal(batch.source.data[asked], batch.target.data[asked]) and asked.any()


def test_a_head_for_pairs_without_pairs_is_refused_with_words():
    made = prepared(settings=["task.examples.pairs=none"])
    learner = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    with pytest.raises(UsageError, match="the examples do not say") as error:
        learner.update()
    assert "pair = false" in error.value.hint


def test_wrong_shares_and_sides_are_told():
    sides = {"source": maker("side", "text"), "target": maker("side", "nothing")}
    with pytest.raises(UsageError, match="together they are 1.1"):
        TaskParts.build(Task(**sides, goal=maker("goal", "fill", masked=0.9, swapped=0.2)))
    with pytest.raises(UsageError, match="the goal 'fill' reads text"):
        TaskParts.build(Task(source=maker("side", "text"), target=maker("side", "label"), goal=maker("goal", "fill")))


def test_questions_hide_whole_words_and_know_them():
    parts = prepared().parts
    cells = ["Mary walked to the market .\n", "she ate the pear .", "d"]
    sources, wanted = parts.goal.questions(cells, [""] * 3)
    assert (sources, wanted) == parts.goal.questions(cells, [""] * 3)
    for cell, source, right in zip(cells, sources, wanted, strict=True):
        assert source.count("[MASK]") == len(right.split()) >= 1
        words = iter(right.split())
        assert [next(words) if word == "[MASK]" else word for word in source.split()] == cell.split()


# --- what was learnt ----------------------------------------------------------------------------------------


def test_it_learns_what_fits(filler):
    report = regard.evaluate(filler, "stories")
    (score,) = report.scores
    assert score.name == "fill accuracy" and score.value > 35, "of words that a guess finds in one of twenty"


def test_the_likeliest_pieces_of_every_hole(filler):
    found = filler.fill("Mary walked to the [MASK] in the [MASK] .", top=3)
    assert len(found.holes) == 2 and all(len(hole.pieces) == len(hole.probabilities) == 3 for hole in found.holes)
    for hole in found.holes:
        assert list(hole.probabilities) == sorted(hole.probabilities, reverse=True)
        assert 0 < sum(hole.probabilities) <= 1
    places = [hole.piece.strip() for hole in found.holes]
    assert found.filled == f"Mary walked to the {places[0]} in the {places[1]} ."
    assert found.text == " ".join(places)
    assert found.probability == pytest.approx(np.mean([hole.probability for hole in found.holes]))
    assert "->" in found.drawn()


def test_many_at_once_are_as_alone(filler):
    texts = ["she looked for a [MASK] pear .", "[MASK] paid two coins for the [MASK]", "the pear"]
    together = filler.answer(texts)
    for text, found in zip(texts, together, strict=True):
        (alone,) = filler.answer([text])
        assert [hole.pieces for hole in alone.holes] == [hole.pieces for hole in found.holes]
        assert np.allclose([h.probabilities for h in alone.holes], [h.probabilities for h in found.holes], atol=1e-5)
        assert alone.words == found.words
    assert together[2].holes == () and together[2].filled == "the pear" and together[2].text == ""
    assert isinstance(filler.fill(texts[:2]), list)


def test_the_attention_is_kept_for_every_layer_and_drawn(filler, tmp_path):
    found = filler.fill("she looked for a [MASK] pear .")
    words = ("[CLS]", "she", "looked", "for", "a", "[MASK]", "pear", ".", "[SEP]")
    assert found.words == words
    assert [tuple(each.shape) for each in found.attention] == [(2, 9, 9)] * 2
    assert all(torch.allclose(each.sum(-1), torch.ones(2, 9), atol=1e-5) for each in found.attention)
    assert found.alignment.source == found.alignment.target == words
    (view,) = found.seen
    assert view.words == words and view.answer == found.holes[0].piece.strip()
    assert np.allclose(view.weights[0], found.looked()[5], atol=1e-6)
    assert found.compared("ripe").right == "ripe"
    for name in ("page.html", "figure.png", "told.txt"):
        assert found.save(tmp_path / name).stat().st_size > 100
    assert "[MASK]" in (tmp_path / "told.txt").read_text(encoding="utf-8")
    assert found._repr_html_()
    bare = filler.answer(["a [MASK] pear"], record=False)[0]
    assert bare.attention == () and bare.alignment is None and len(bare.views()[0].weights) == 0
    with pytest.raises(UsageError, match="was not kept"):
        bare.looked()


def test_two_texts_with_a_tab_between_them(filler):
    found = filler.fill("Mary walked to the market .\t[MASK] looked for a pear .")
    assert found.words.count("[SEP]") == 2
    assert found.filled.split("\t")[1].split()[0] == found.holes[0].piece.strip() in ("she", "he")


def test_one_text_follows_another(filler):
    sure = filler.follows("Mary walked to the market in the morning .", "she looked for a ripe pear .")
    assert 0 <= sure <= 1
    other = open_model_without_pairs(filler)
    with pytest.raises(UsageError, match="did not learn whether"):
        other.follows("a", "b")


def open_model_without_pairs(filler):
    made = prepared("roberta")
    return made.parts.goal.person(made.model)


def test_the_pseudo_likelihood_hides_each_piece_in_turn(filler):
    text = "she ate the pear ."
    found = filler.score(text)
    pieces = filler.source.tokenizer.encode_ids([text])[0]
    assert len(found.each) == len(found.pieces) == len(pieces)
    words = text.split()
    for place, word in enumerate(words):
        holed = " ".join("[MASK]" if each == place else other for each, other in enumerate(words))
        batch = filler.source.collate(filler.source.encode([holed]))
        logits = filler.model.fill(batch).logits[0, place + 1].log_softmax(-1).detach()
        assert found.each[place] == pytest.approx(float(logits[pieces[place]]), abs=1e-4), word
    assert found.total == pytest.approx(sum(found.each))
    sound, strange = (
        filler.score(f"she {end} .").total for end in ("paid two coins for the pear", "the for coins pear two paid")
    )
    assert sound > strange
    assert filler.score([text, "a"])[0].total == pytest.approx(found.total)


def test_what_cannot_be_filled_is_told(filler):
    with pytest.raises(UsageError, match=r"expected \[MASK\]"):
        filler.fill("no hole here")
    with pytest.raises(UsageError, match="top"):
        filler.fill("a [MASK]", top=0)
    with pytest.raises(UsageError, match="at most 64 pieces"):
        filler.fill("pear " * 70 + "[MASK]")
    with pytest.raises(UsageError, match="for each of 1 holes; found 2"):
        filler.fill("a [MASK]").compared("b c")
    with pytest.raises(AttributeError, match="trained to fill"):
        filler.classify("a")
    assert "fill, answer, look, evaluate" in repr(filler)


def test_it_is_the_same_from_its_folder(folder, filler):
    again = regard.load(folder)
    text = "an old [MASK] barked behind the fountain ."
    assert again.fill(text).text == filler.fill(text).text
    assert again.metrics == ("fill_accuracy",)
    card = (folder / "best" / "README.md").read_text(encoding="utf-8")
    assert ".fill(" in card
