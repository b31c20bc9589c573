"""A captioner as a person uses it: captions of images, all ways to ask for them, what each word looked at."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from answering import CAPTIONS, trained
from regard.data.corpus import Corpus
from regard.data.places import Place
from regard.errors import BrokenData, UsageError
from regard.evaluate.pointing import count_pointing
from regard.recipe import resolve
from regard.search import Options
from regard.tasks.captioner import Caption, Captioner
from regard.tasks.lengths import choose_alpha
from regard.tasks.writer import Writer, Written
from regard.types import Batch

SIDES = {"reads": "image", "wants": "text"}
GRID = (5, 7)  # of images of 20 x 28 pixels, halved twice


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captions")
    trained(folder, "scenes")
    return folder


@pytest.fixture(autouse=True)
def _cache(home, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(home / "cache"))


@pytest.fixture(scope="module")
def captioner(home):
    return regard.load(home / "scenes")


@pytest.fixture(scope="module")
def corpus(home):
    return Corpus.open("scenes", **SIDES, size=53, cache=home / "cache")


@pytest.fixture(scope="module")
def rows(corpus):
    return corpus.split("test")


def test_a_caption_and_what_each_word_looked_at(captioner, rows):
    found = captioner.caption(rows[0]["source"], max_length=13)
    assert isinstance(captioner, Captioner) and isinstance(found, Caption)
    assert found.text.split() == list(found.words) and len(found.pieces) == len(found.words)
    assert found.likelihood < 0 and 0 < found.probability < 1
    steps = len(found.pieces) + 1
    assert [each.shape for each in found.attention] == [(2, steps, 35)], "heads, pieces and the end, cells"
    assert found.grid.shape == (steps, *GRID) and found.word_grid.shape == (len(found.words), *GRID)
    assert found.grid.sum((1, 2)) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(found.grid[2, 3, 4], found.attention[0][:, 2, 3 * 7 + 4].mean(), rtol=1e-5)
    np.testing.assert_allclose(found.word_grid, found.grid[:-1], rtol=1e-5)
    assert found.seen.image.shape == (20, 28, 3) and found.seen.words == found.words
    assert "caption, answer, look" in repr(captioner)
    assert captioner.look(rows[0]["source"]).text.startswith(found.text[:5])


def test_one_right_caption_or_several_that_people_wrote(captioner, rows):
    found = captioner.caption(rows[0]["source"], max_length=13)
    alone = found.beside(["x"])
    assert found.beside("x").is_right is False and alone.right == "x" and not alone.references
    several = found.beside(["x", "y"])
    assert several.is_right is None and several.references == ("x", "y"), "none of them is the right one"
    assert found.beside(["x", found.text]).is_right is True


def test_words_of_several_pieces_are_means():
    attention = (torch.tensor([[[0.2, 0.8], [0.6, 0.4], [1.0, 0.0], [0.5, 0.5]]]),)
    found = Caption("ab c", 0.0, -1.0, ("a", "b", " c"), ("ab", "c"), "x.png", attention, (1, 2), (0, 0, 1, 2))
    np.testing.assert_allclose(found.word_grid, [[[0.4, 0.6]], [[1.0, 0.0]]], rtol=1e-6)
    assert found.grid.shape == (4, 1, 2)
    assert Caption("", 0.0, -1.0, (), (), "x.png").word_grid is None
    assert Caption("", 0.0, -1.0, (), (), "x.png", (attention[0][:, :1],), (1, 2), (0,)).word_grid.shape == (0, 1, 2)


def test_a_path_an_open_image_and_an_array_are_the_same(captioner, rows):
    path = rows[1]["source"]
    with Image.open(path) as image:
        asked = [path, image.copy(), np.asarray(image)]
    found = captioner.caption(asked, max_length=7)
    assert len({each.text for each in found}) == 1 and len({round(each.score, 5) for each in found}) == 1
    assert captioner.caption([]) == []


def test_each_as_if_alone_in_any_company(captioner, rows, monkeypatch):
    monkeypatch.setattr("regard.tasks.writer.PIXELS", 4 * 20 * 28)
    paths = list(rows["source"][:11])
    together = captioner.caption(paths, beam=2, max_length=7)
    alone = [captioner.caption(path, beam=2, max_length=7) for path in paths]
    assert [each.text for each in together] == [each.text for each in alone]
    np.testing.assert_allclose([each.score for each in together], [each.score for each in alone], rtol=1e-4)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.grid, other.grid, atol=1e-4)


def test_beams_nbest_lengths_and_alpha(captioner, rows):
    path = rows[2]["source"]
    several = captioner.caption(path, beam=3, nbest=3, max_length=11)
    assert len({each.text for each in several}) == 3
    assert [each.score for each in several] == sorted((each.score for each in several), reverse=True)
    assert [len(each) for each in captioner.caption([path, path], nbest=2, max_length=5)] == [2, 2]
    short = captioner.caption(path, max_length=3)
    assert len(short.pieces) <= 3
    plain = captioner.caption(path, alpha=0.0, max_length=5)
    assert plain.score == pytest.approx(plain.likelihood)
    with pytest.raises(UsageError, match="max_length"):
        captioner.caption(path, max_length=0)


def test_what_is_recorded_is_what_forcing_sees(captioner, rows):
    """The record of a beam equals the record of the same caption when it is forced."""
    paths = list(rows["source"][:5])
    found = captioner.caption(paths, beam=3, max_length=11)
    forced = captioner.force(paths, [each.text for each in found])
    for one, other in zip(found, forced, strict=True):
        assert one.text == other.text
        assert one.likelihood == pytest.approx(other.likelihood, abs=1e-4)
        assert one.score == pytest.approx(other.score, abs=1e-4)
        np.testing.assert_allclose(one.grid, other.grid, atol=1e-5)
    assert captioner.score(paths[:1], [found[0].text]) == pytest.approx([found[0].likelihood], abs=1e-4)
    assert captioner.look(paths[0], "a red square").words == ("a", "red", "square")
    with pytest.raises(UsageError, match="as many texts"):
        captioner.force(paths, ["a"])


def test_captions_are_drawn_by_seed_and_image(captioner, rows):
    paths = list(rows["source"][:3])
    first = captioner.sample(paths, draws=5, seed=7, max_length=11)
    again = captioner.sample(paths[1], draws=5, seed=7, max_length=11)
    assert [each.text for each in first[1]] == [each.text for each in again], "whoever stands beside it"
    assert len({each.text for each in again}) > 1
    other = captioner.sample(paths[1], draws=5, seed=11, max_length=11)
    assert [each.text for each in other] != [each.text for each in again]
    greedy = captioner.sample(paths[0], temperature=0, max_length=7)
    assert greedy.text == captioner.search([paths[0]], Options(beam=1, max_length=7))[0][0].text


def test_a_beginning_is_forced_for_each_image(captioner, rows):
    tokenizer = captioner.target.tokenizer
    prefix = [tokenizer.encode("a red").ids, tokenizer.encode("a blue").ids]
    found = captioner.search(list(rows["source"][:2]), Options(beam=2, prefix=prefix, max_length=5))
    assert [best[0].text.split()[1] for best in found] == ["red", "blue"]
    with pytest.raises(UsageError, match="one prefix a sentence"):
        captioner.search(list(rows["source"][:2]), Options(prefix=prefix[:1]))


def test_pictures_are_saved_and_show_themselves(captioner, rows, tmp_path):
    found = captioner.caption(rows[0]["source"], max_length=5)
    for ending in ("png", "html", "txt"):
        assert found.save(tmp_path / f"x.{ending}", right=rows[0]["target"]).stat().st_size > 100
    assert "iframe" in found._repr_html_()
    assert found.drawn() == f"{rows[0]['source']}  ->  {found.text}"
    assert found.compared(found.text).is_right is True and found.compared("other").is_right is False


def test_what_is_no_image_is_told(captioner, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"nothing")
    with pytest.raises(BrokenData, match=r"broken\.png"):
        captioner.caption(tmp_path / "broken.png")
    with pytest.raises(BrokenData, match="no such file"):
        captioner.caption("nowhere.png")
    with pytest.raises(UsageError, match=r"inputs\[1\]: expected an image; found None"):
        captioner.caption(["a.png", None])
    with pytest.raises(AttributeError, match="trained to caption"):
        captioner.translate("a")
    with pytest.raises(UsageError, match="only models that read text"):
        regard.load(captioner.folder, engine="onnx")


def test_it_is_measured_with_where_it_points(captioner, corpus):
    report = regard.evaluate(captioner, data=corpus, beam=1)
    names = [score.name for score in report.scores]
    assert names == ["BLEU", "chrF2", "exact match", "pointing accuracy"]
    assert "image to text, 53 images, beam 1" in report.title and report.lengths == ()
    assert all(0 <= score.value <= 100 for score in report.scores)
    with pytest.raises(UsageError, match="gold links are between"):
        regard.evaluate(captioner, data=corpus, gold="x")


def test_pointing_of_right_captions(captioner, rows):
    some = rows.select(range(7))
    counted = captioner.count_pointing(list(some["source"]), list(some["target"]), list(some["links"]))
    looked = [each.word_grid for each in captioner.force(list(some["source"]), list(some["target"]))]
    assert counted.rows[:, 1].tolist() == [len(line.split()) for line in some["links"]]
    whole = [[Place(word, (0.0, 0.0, 1.0, 1.0)) for word in range(len(each))] for each in looked]
    assert count_pointing(looked, whole).value() == 100


def test_the_length_penalty_is_chosen_and_read(captioner, home, rows):
    kept = json.loads((home / "scenes" / "best" / "lengths.json").read_text())
    assert captioner.alpha == kept["alpha"] and kept["pairs"] == 53
    assert not (home / "scenes" / "best" / "alignment.json").exists()
    assert choose_alpha(captioner, list(rows["source"][:7]), list(rows["target"][:7])) is None, "too few"
    card = (home / "scenes" / "best" / "README.md").read_text()
    assert "image to text" in card and '.caption("photo.png").text' in card


def test_a_model_that_does_not_attend_writes_all_the_same(rows, corpus, tmp_path):
    recipe = tmp_path / "plain.toml"
    recipe.write_text(CAPTIONS)
    plain = ["attend=none", "predict.part=plain", "predict.bridge=project", "train.tokens=2048"]
    model = regard.train(
        recipe, data="scenes", out=tmp_path / "run", size=31, steps=2, settings=[*plain, "train.tensorboard=false"]
    )
    found = model.caption(rows[0]["source"])
    assert found.attention == () and found.grid is None and found.word_grid is None
    assert "does not attend" in found.seen.remarks()[0]
    assert found.save(tmp_path / "x.png").stat().st_size > 100
    assert model.count_pointing([rows[0]["source"]], [rows[0]["target"]], [rows[0]["links"]]) is None
    assert [score.name for score in regard.evaluate(model, data=corpus, beam=1).scores][-1] == "exact match"


def test_any_other_source_is_written_for(captioner, rows):
    """The goal answers for a side that nobody made an object for."""
    writer = Writer(captioner.model, captioner.source, captioner.target)
    found = writer.search([rows[0]["source"]], Options(max_length=7))[0][0]
    assert (
        isinstance(found, Written) and found.text == captioner.caption(rows[0]["source"], alpha=0.6, max_length=7).text
    )
    assert found.drawn() == found.text and len(found.attention) == 1
    with pytest.raises(UsageError, match="text as its target"):
        Writer(captioner.model, captioner.source, captioner.source)


def test_the_goal_answers_validates_and_draws(captioner, rows):
    parts = resolve(captioner.folder / "recipe.toml").task()
    goal = parts.goal(captioner.source, captioner.target)
    answers = goal.answer(captioner.model, list(rows["source"][:3]))
    assert all(isinstance(each, Caption) and each.grid is not None for each in answers)
    assert goal.drawn(captioner.model, rows[0]["source"]).startswith(str(rows[0]["source"]))
    item = captioner.source.encode([rows[0]["source"]])
    target = captioner.target.encode([rows[0]["target"]])
    batch = Batch(captioner.source.collate(item), captioner.target.collate(target), weights=(len(target[0]) + 1,))
    loss = goal.nll(captioner.model, batch)
    assert float(loss.nll) * loss.count == pytest.approx(
        -captioner.score([rows[0]["source"]], [rows[0]["target"]])[0], rel=1e-4
    )
