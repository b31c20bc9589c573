"""Fine-tuning: what was pretrained starts a classifier or a tagger, whose folder then stands alone."""

import json
import shutil

import pytest
import torch

import regard
from regard.data.corpus import Corpus
from regard.errors import ModelError, UsageError
from regard.learn.learner import Learner
from regard.learn.optimise import optimiser_for
from regard.model import load
from regard.recipe import resolve
from regard.tasks.job import TrainJob, silent
from regard.tasks.objects import open_model
from regard.tasks.pretrained import rest
from regard.tasks.setup import set_up

SMALL = (
    *("embed.width=16", "encode.layers=3", "encode.feed=23", "encode.attend.heads=2"),
    *("train.tokens=512", "train.precision=fp32", "train.tensorboard=false", "train.schedule=constant"),
)

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A run of BERT, of a few updates."""
    out = tmp_path_factory.mktemp("pretrained") / "bert"
    settings = (*SMALL, "task.examples.pairs=none", "predict.pair=false", "train.validate_steps=5")
    TrainJob("bert", "reviews", out, steps=5, size=300, settings=settings).train()
    return out


def prepared(bert, name="bert-classify", data="reviews", settings=()):
    """All that a fine-tuning needs before its first update."""
    recipe = resolve(name, [*SMALL, f"task.from={bert}", *settings])
    wants = recipe.task.settings["target"].name
    return set_up(recipe, Corpus.open(data, size=200, reads="text", wants=wants), None, 3, silent)


def taken(made, bert):
    """The weights of both models that have the same names, embedding and encoder."""
    theirs, ours = load(bert / "best").state_dict(), made.model.state_dict()
    names = [name for name in ours if name.startswith(("embed.", "encode.")) and name in theirs]
    return [(name, ours[name], theirs[name]) for name in names]


@pytest.mark.parametrize(("name", "data"), [("bert-classify", "reviews"), ("bert-tag", "tagged")])
def test_embedding_encoder_and_tokenizer_are_those_of_the_run(bert, name, data):
    made = prepared(bert, name, data)
    pairs = taken(made, bert)
    assert len(pairs) == 1 + 1 + 1 + 2 + 3 * 16 + (2 if name == "bert-classify" else 0)
    assert all(torch.equal(ours, theirs) for _, ours, theirs in pairs)
    tokenizer = (bert / "best" / "source.tokenizer.json").read_text(encoding="utf-8")
    assert json.loads(made.parts.files()["source.tokenizer.json"]) == json.loads(tokenizer)
    assert made.parts.target.spec().size == (2 if name == "bert-classify" else 11), (
        "the target learns from its own data"
    )


def test_both_ways_of_writing_it_are_one(bert):
    assert resolve("bert-classify", [f"task.from={bert}"]) == resolve("bert-classify", [f"task.pretrained={bert}"])


def test_what_comes_out_stands_alone_and_goes_on(bert, tmp_path):
    gone = tmp_path / "bert"
    shutil.copytree(bert, gone)
    settings = (*SMALL, f"task.from={gone}", "train.validate_steps=2")
    told = []
    job = TrainJob("bert-classify", "reviews", tmp_path / "run", steps=2, size=100, settings=settings)
    model = job.train(say=told.append)
    assert any(line.startswith(f"started from {gone}") for line in told)
    shutil.rmtree(gone)
    again = open_model(tmp_path / "run")
    found = again.classify("A fine film.")
    assert found.label == model.classify("A fine film.").label in again.classes
    assert found.seen.words[:3] == ("A", "fine", "film.")
    count = found.attention[0].shape[-1]
    assert len(found.attention) == again.model.encode.repeats * len(again.model.encode.layers)
    first = found.attention[-1].mean(0)[0]
    assert found.attention[-1].shape[-2:] == (count, count) and first.sum() == pytest.approx(1, abs=1e-5)
    assert found.seen.weights.shape[0] == 1 and found.seen.weights.sum() == pytest.approx(1, abs=1e-4)
    both = again.answer(["A fine film.", "A fine film, and a much longer one than the other."])
    assert torch.allclose(both[0].attention[-1], found.attention[-1], atol=1e-5), "padding is cut off"
    assert again.answer(["A fine film."], record=False)[0].attention == ()
    resumed = TrainJob("bert-classify", "reviews", tmp_path / "run", steps=3, size=100, settings=settings, resume=True)
    resumed.train()
    log = (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8")
    assert '"number": 3' in log or '"number":3' in log


def test_a_tagger_tags_the_words_and_no_special_piece(bert, tmp_path):
    made = prepared(bert, "bert-tag", "tagged")
    batch = next(iter(made.batches))
    assert batch.target.data.shape == batch.source.data.shape
    assert batch.target.data[:, 0].eq(-1).all(), "what stands before the text has no tag"
    assert batch.target.data[:, 1].ge(0).all(), "the first word has one"
    tagger = made.parts.goal.person(made.model)
    found = tagger.tag("they plan a walk .")
    assert found.words == ("they", "plan", "a", "walk", ".") and len(found.tags) == 5
    alone = made.model.tag(made.parts.source.collate(made.parts.source.tokenizer.encode_batch(["they plan a walk ."])))
    first = alone.logits[0, 1].softmax(-1)
    assert found.probabilities[0] == pytest.approx(float(first.max().detach()), abs=1e-5)


def test_two_texts_are_classified_together(bert):
    made = prepared(bert, settings=["predict.pool=attend", "attend.part=attention"])
    model = made.parts.goal.person(made.model)
    found = model.classify("A fine film.\tThe plot was dull.")
    seen = found.seen
    assert seen.words == ("A", "fine", "film.", "The", "plot", "was", "dull.", "</s>")
    assert seen.weights.sum() == pytest.approx(1, abs=1e-4), "every position has its word"


@pytest.mark.parametrize("layers", [0, 2, 3])
def test_frozen_layers_rest_and_the_others_move(bert, layers):
    made = prepared(bert, settings=[f"train.freeze={layers}"])
    before = {name: weight.clone() for name, weight in made.model.named_parameters()}
    learner = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    learner.update()
    for name, weight in made.model.named_parameters():
        low = name.startswith("embed.") or any(name.startswith(f"encode.layers.{each}.") for each in range(layers))
        if layers and low:
            assert torch.equal(weight, before[name]), name
        elif weight.dim() > 1 and not name.startswith("embed."):
            assert not torch.equal(weight, before[name]), name


def test_lower_layers_have_lower_rates(bert):
    made = prepared(bert, settings=["train.layer_decay=0.5"])
    learner = Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    learner.update()
    (minimiser,) = learner.minimisers
    names = {id(weight): name for name, weight in made.model.named_parameters()}
    rates = {names[id(each)]: group["lr"] for group in minimiser.optimiser.param_groups for each in group["params"]}
    rate = made.settings.rate
    assert set(rates) == set(names.values())
    assert rates["predict.score.weight"] == rates["encode.pool.weight"] == pytest.approx(rate)
    assert rates["encode.layers.2.feed.widen.weight"] == pytest.approx(rate / 2)
    assert rates["encode.layers.0.attend.join.bias"] == pytest.approx(rate / 8)
    assert rates["embed.table.weight"] == pytest.approx(rate / 16)
    decays = {names[id(w)]: g["weight_decay"] for g in minimiser.optimiser.param_groups for w in g["params"]}
    assert decays["embed.table.weight"] == 0.01 and decays["encode.layers.0.attend.join.bias"] == 0


def test_one_rate_has_the_groups_it_always_had(bert):
    made = prepared(bert)
    groups = optimiser_for(made.model, made.settings).param_groups
    assert [group["weight_decay"] for group in groups] == [0.01, 0.0]


def test_another_width_tokenizer_side_or_folder_is_told(bert, tmp_path):
    with pytest.raises(ModelError, match=r"embed.table.weight: \d+ x 24 here, \d+ x 16 there") as error:
        prepared(bert, settings=["embed.width=24"])
    assert "recipe.toml" in error.value.hint
    with pytest.raises(ModelError, match=r"encode.layers.2.*: none here"):
        prepared(bert, settings=["encode.layers=2"])
    with pytest.raises(UsageError, match='asks for pieces = "characters"'):
        prepared(bert, settings=["task.source.pieces=characters"])
    with pytest.raises(UsageError, match="asks for vocabulary = 4001"):
        prepared(bert, settings=["task.source.vocabulary=4001"])
    with pytest.raises(UsageError, match='reads "segments", and this recipe "text"'):
        prepared(bert, "classify-self", settings=())
    with pytest.raises(regard.RegardError, match="nowhere"):
        prepared(tmp_path / "nowhere")


def test_freezing_needs_something_pretrained_and_layers(bert):
    recipe = resolve("bert-classify", [*SMALL, "train.freeze=1"])
    with pytest.raises(UsageError, match="names no model"):
        set_up(recipe, Corpus.open("reviews", size=50, reads="text", wants="label"), None, 3, silent)
    with pytest.raises(UsageError, match="at most 3 layers"):
        prepared(bert, settings=["train.freeze=4"])
    rest(prepared(bert).model, 0)
