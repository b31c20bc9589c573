"""A model that learns from a few examples: asked, measured, drawn; and that it does learn from them."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.data.corpus import Corpus
from regard.data.episodes import Episode
from regard.errors import MissingData, UsageError
from regard.inputs import Batch, Choices, Episodes
from regard.recipe import resolve
from regard.show.episode import EpisodeSeen, episode_html, episode_text
from regard.task import Spec
from regard.tasks.episode_classifier import EpisodeClassifier, support_of
from regard.tasks.goals.classify import label_loss

SMALL = (
    "train.tensorboard=false",
    "train.tokens=40",
    "embed.filters=4",
    "encode.filters=5",
    "task.source.questions=13",
)
pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A run of a few updates, and a support of one image of each of five classes."""
    folder = tmp_path_factory.mktemp("episodes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        settings = [*SMALL, "task.examples.count=9", "task.examples.validation=5"]
        regard.train("snail", data="glyphs", out=folder / "run", size=120, steps=3, settings=settings)
        rows = Corpus.open("glyphs", reads="image", wants="class", size=120, cache=folder / "cache").split("test")
    for place in range(5):
        name = rows["target"][20 * place]
        (folder / "support" / name).mkdir(parents=True)
        shutil.copy(rows["source"][20 * place], folder / "support" / name / "1.png")
    (folder / "asked").mkdir()
    for place in range(3):
        shutil.copy(rows["source"][20 * place + 7], folder / "asked" / f"{place}.png")
    return folder


@pytest.fixture(scope="module")
def model(home):
    return regard.load(home / "run")


def call(*words, text=""):
    return CliRunner().invoke(app, [str(each) for each in words], input=text)


def test_an_image_is_classified_by_examples(model, home):
    assert isinstance(model, EpisodeClassifier) and (model.ways, model.shots) == (5, 1)
    paths = sorted((home / "asked").iterdir())
    found = model.classify([str(each) for each in paths], support=home / "support")
    names = sorted(each.name for each in (home / "support").iterdir())
    for path, each in zip(paths, found, strict=True):
        assert each.source.query == str(path) and sorted(each.probabilities) == names
        assert each.label == max(each.probabilities, key=each.probabilities.__getitem__) == each.text
        assert sum(each.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert len(each.attention) == 3 and all(len(weights) == 6 for weights in each.attention)
        assert float(each.attention[-1].sum()) == pytest.approx(1, abs=1e-5) and len(each.weights) == 5
    with Image.open(paths[0]) as opened:
        given = {name: [np.asarray(Image.open(home / "support" / name / "1.png"))] for name in names}
        same = model.classify(opened, support=given)
    assert same.probabilities == pytest.approx(found[0].probabilities, abs=1e-5)
    plain = model.answer([each.source for each in found], record=False)
    assert [each.label for each in plain] == [each.label for each in found] and not plain[0].attention
    assert "5-way 1-shot" in repr(model)


def test_it_is_measured_on_episodes_of_a_split(model, home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(home / "cache"))
        corpus = Corpus.open("glyphs", reads="image", wants="class", size=120)
        report, again = (regard.evaluate(model, corpus) for _ in range(2))
    assert report.scores[0].name == "accuracy" and report.scores[0].value == again.scores[0].value
    assert any("13 episodes, 5-way 1-shot: chance is 20%" in note for note in report.notes)


def test_pictures(model, home, tmp_path):
    answer = model.classify(str(home / "asked" / "0.png"), support=home / "support")
    right = answer.label
    for name in ("seen.html", "seen.png", "seen.svg", "seen.txt"):
        assert answer.save(tmp_path / name, right).stat().st_size > 200
    seen = answer.compared("another")
    assert isinstance(seen, EpisodeSeen) and seen.is_right is False and len(seen.images) == 5
    assert seen.query.shape == (28, 28, 1) and "on the image itself" in seen.remarks()[0]
    text = episode_text(seen)
    assert all(
        f"{name}  {weight:.2f}" in text for name, weight in zip(seen.names, answer.weights.tolist(), strict=True)
    )
    assert "alt=" in episode_html(seen) and answer._repr_html_().startswith("<")
    assert right in answer.drawn() and answer.drawn("another").splitlines()[0].endswith("right: another")
    blind = EpisodeSeen(seen.images, seen.names, seen.query, None, answer=right)
    assert "does not attend" in episode_text(blind) and episode_html(blind)
    many = EpisodeSeen(seen.images * 5, seen.names * 5, seen.query, np.full(26, 1 / 26, np.float32), answer=right)
    assert episode_html(many)


def test_the_command_classifies(home, tmp_path):
    run, support = home / "run", home / "support"
    lines = call("classify", run, home / "asked", "--support", support).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == [str(home / "asked" / f"{place}.png") for place in range(3)]
    names = {each.name for each in support.iterdir()}
    assert all(line.split("\t")[1] in names and 0 < float(line.split("\t")[2]) <= 1 for line in lines)
    more = call("classify", run, home / "asked" / "1.png", "--support", support, "--top", 2, "--attention").stdout
    path, *cells = more.rstrip("\n").split("\t")
    assert lines[1].split("\t")[1] == cells[0] and len(cells) == 5 and len(cells[4].split()) == 5
    (row,) = call(
        "classify", run, home / "asked" / "1.png", "--support", support, "--format", "jsonl"
    ).stdout.splitlines()
    told = json.loads(row)
    assert told["label"] == cells[0] and len(told["support"]) == 5 and len(told["attention"]) == 3
    piped = call("classify", run, "--support", support, text=f"{path}\n").stdout
    assert piped == lines[1] + "\n"
    drawn = call("show", run, path, "--support", support)
    assert drawn.exit_code == 0 and cells[0] in drawn.stdout
    assert call("show", run, path, "--support", support, "--out", tmp_path / "seen.png").exit_code == 0
    broken = call("classify", run, path, tmp_path / "nowhere.png", "--support", support)
    assert broken.exit_code == 1 and "nowhere.png: the image cannot be read" in broken.stderr
    assert broken.stdout == lines[1] + "\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "is shown examples first (5-way 1-shot); found none"),
        (("--support", "nowhere"), "nowhere: expected a folder with a folder a class; found nothing"),
        (("--support", "empty"), "expected a folder a class of images (.png, .jpg ...); found no files at all"),
        (("--support", "four"), "tells 5 classes apart; the examples are of 4"),
        (("--support", "twice"), "is shown 1 image of each class; of 'b' it was given 2"),
    ],
)
def test_examples_that_do_not_fit(home, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    image = home / "asked" / "0.png"
    for folder, names in (("four", "abcd"), ("twice", "abcde")):
        for name in names:
            (tmp_path / folder / name).mkdir(parents=True)
            shutil.copy(image, tmp_path / folder / name / "1.png")
    shutil.copy(image, tmp_path / "twice" / "b" / "2.png")
    for verb in ("classify", "show"):
        done = call(verb, home / "run", image, *words)
        assert done.exit_code != 0 and not done.stdout
        found = done.stderr if done.exception is None or isinstance(done.exception, SystemExit) else str(done.exception)
        assert told in " ".join(found.split())


def test_what_is_no_support(model):
    with pytest.raises(
        UsageError, match="support: expected a folder, or the images of each class by its name; found int"
    ):
        support_of(3)
    with pytest.raises(MissingData, match="found a file"):
        support_of(__file__)
    with pytest.raises(
        UsageError, match="an image alone has no class: this model is shown 5-way 1-shot examples first"
    ):
        model.answer(["a.png"])


# --- that it learns, on images that tell themselves -----------------------------------------------------------------

WAYS, ASKED = 3, 4


def patterns(count, seed):
    return torch.rand(count, 1, 8, 8, generator=torch.Generator().manual_seed(seed)).gt(0.5).float()


def drawn(classes, rows, random):
    """Episodes of patterns with noise: three of them, one image each, then four to be told."""
    chosen = torch.stack([torch.randperm(len(classes), generator=random)[:WAYS] for _ in range(rows)])
    numbers = torch.stack([torch.randperm(WAYS, generator=random) for _ in range(rows)])
    asked = torch.randint(WAYS, (rows, ASKED), generator=random)
    every = torch.cat((chosen, chosen.gather(1, asked)), 1)
    images = classes[every] + 0.2 * torch.randn(rows, WAYS + ASKED, 1, 8, 8, generator=random)
    return Batch(Episodes(images, numbers), Choices(numbers.gather(1, asked)), weights=(ASKED,) * rows)


@pytest.fixture(scope="module")
def learnt():
    """A small SNAIL after some updates on forty patterns."""
    settings = ["embed.filters=8", "embed.layers=2", "embed.hidden=16", "encode.filters=8", "encode.keys=[16,16,16]"]
    torch.manual_seed(3)
    made = resolve("snail", [*settings, "encode.values=[8,8,8]"]).build(Spec(1, (WAYS, 1, 8, 8)), Spec(WAYS))
    random, classes = torch.Generator().manual_seed(5), patterns(40, 7)
    optimiser = torch.optim.Adam(made.parameters(), 3e-3)
    for _ in range(150):
        optimiser.zero_grad()
        label_loss(made, drawn(classes, 16, random)).total.backward()
        optimiser.step()
    return made.eval()


def accuracy(made, batch):
    with torch.no_grad():
        return float((made.label(batch.source).logits.argmax(-1) == batch.target.data.flatten()).float().mean())


def test_classes_never_seen_are_told_and_shuffled_labels_leave_chance(learnt):
    batch = drawn(patterns(40, 11), 200, torch.Generator().manual_seed(13))
    assert accuracy(learnt, batch) > 0.7
    random = torch.Generator().manual_seed(17)
    shuffled = torch.stack([row[torch.randperm(WAYS, generator=random)] for row in batch.source.classes])
    assert abs(accuracy(learnt, Batch(Episodes(batch.source.data, shuffled), batch.target)) - 1 / WAYS) < 0.1


def test_the_order_of_the_examples_makes_little_difference(learnt):
    batch = drawn(patterns(40, 11), 200, torch.Generator().manual_seed(13))
    order = torch.tensor([2, 0, 1, *range(WAYS, WAYS + ASKED)])
    turned = Episodes(batch.source.data[:, order], batch.source.classes[:, order[:WAYS]])
    assert abs(accuracy(learnt, Batch(turned, batch.target)) - accuracy(learnt, batch)) < 0.08


def test_only_what_is_asked_about_is_learnt_from(learnt):
    """The loss is a function of the last step alone: what other questions are asked beside one changes nothing."""
    batch = drawn(patterns(40, 11), 5, torch.Generator().manual_seed(19))
    whole = learnt.label(batch.source).logits.view(5, ASKED, WAYS)
    for place in range(ASKED):
        images = torch.cat((batch.source.data[:, :WAYS], batch.source.data[:, WAYS + place : WAYS + place + 1]), 1)
        assert torch.allclose(learnt.label(Episodes(images, batch.source.classes)).logits, whole[:, place], atol=1e-4)
    loss = label_loss(learnt, batch)
    assert loss.count == 5 * ASKED
    expected = torch.nn.functional.cross_entropy(whole.flatten(0, 1), batch.target.data.flatten())
    assert torch.allclose(loss.nll, expected.detach(), atol=1e-5)


def test_episodes_do_not_see_one_another(learnt):
    batch = drawn(patterns(40, 11), 5, torch.Generator().manual_seed(19))
    alone = torch.cat([learnt.label(batch.source.take(slice(row, row + 1))).logits for row in range(5)])
    assert torch.allclose(alone, learnt.label(batch.source).logits, atol=1e-4)


def test_an_episode_is_a_cell():
    episode = Episode((("a.png", "x"), ("b.png", "y"), ("c.png", "x")), "d.png")
    assert (episode.classes, len(episode), str(episode)) == (("x", "y"), 4, "d.png")
