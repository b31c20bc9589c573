"""The benches of captioned photographs: their counting, the plain loop, and nouns, on small things made up."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from regard.data.sides.image import Image
from regard.data.sides.text import Text
from regard.data.tokenizer import END, START, Tokenizer
from regard.recipe import resolve
from regard.search import Options
from regard.task import Spec
from regard.tasks.captioner import Captioner

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import caption as captions
import flickr8k_table as table
import pointing_page as pointing

ANSWERS = ["A dog runs .", "Two men ."]
RIGHT = [["a dog runs fast .", "A dog .", "one dog runs"], ["a man", "two women", "Some men ."]]


def test_bleu_by_hand(monkeypatch):
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    row = table.score(ANSWERS, RIGHT)
    # a dog runs | two men: all 5 words stand in a reference; of 3 pairs "a dog" and "dog runs"; the triple.
    assert row.bleu[0].value == pytest.approx(100), "5 words, nearest lengths 3 and 2"
    assert row.bleu[1].value == pytest.approx(100 * (1.0 * 2 / 3) ** 0.5)
    assert row.bleu[2].value == pytest.approx(100 * (2 / 3) ** (1 / 3)) and row.bleu[3].value == 0
    assert row.cider is None and row.ratio == 1 and row.distinct == 100
    assert row.marked[0] == pytest.approx(100), "full stops are words of some reference too"
    assert row.bleu[0].low <= row.bleu[0].value <= row.bleu[0].high
    assert str(row).count("|") == table.HEADER.count("|")
    short = table.score(["a dog"], [["a dog runs fast"]])
    assert short.bleu[0].value == pytest.approx(100 * np.exp(1 - 4 / 2)), "the brevity penalty"


def test_words_are_what_has_a_letter_or_a_digit(monkeypatch):
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    assert table.tokenised([["A T-shirt , 2 dogs ' .", "x"]]) == [["a t-shirt 2 dogs", "x"]]


def test_the_interval_of_a_mean_holds_it():
    drawn = table.drawn_means(np.arange(101.0))
    assert len(drawn) == table.DRAWS and drawn.mean() == pytest.approx(50, abs=0.5) and drawn.std() > 1


@pytest.fixture(scope="module")
def model():
    """An untrained model over a network that hands on what it is given."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["a red dog runs in the deep snow", "two men sit"] * 3, kind="words")
    settings = ["encode.hidden=7", "attend.score.hidden=5", "predict.hidden=11", "predict.embed.width=13"]
    built = resolve("caption-frozen", settings).build(Spec(3, (64, 96)), Spec(len(tokenizer))).eval()
    torch.nn.init.normal_(built.predict.readout.inner.score.weight, 0, 1.5)  # so that words differ in likelihood
    return Captioner(built, Image("source", size=(64, 96)), Text.of(tokenizer, "target"))


def test_the_plain_loop_finds_what_the_search_finds(model):
    pixels = [np.random.default_rng(seed).integers(0, 256, (64, 96, 3), dtype=np.uint8) for seed in range(3)]
    plain = captions.Plain(model)
    batch = model.source.collate(model.source.encode(pixels))
    features = model.model.encode.features(batch).data
    ours = model.search(pixels, Options(beam=1, max_length=9, stretch=float("inf")), record=False)
    assert plain.captions(features, 1, 0.6, 9) == [list(best[0].ids) for best in ours]
    scores = plain.step(torch.tensor([START] * 3), *_first(plain, features))[0]
    memory = model.model.read(batch)
    expected = model.model.step(torch.tensor([START] * 3), model.model.predict.start(memory)).logits
    torch.testing.assert_close(scores, expected, atol=1e-4, rtol=1e-3)
    beams = plain.captions(features, 3, 0.6, 9)
    assert all(len(each) <= 9 and END not in each for each in beams)


def _first(plain, features):
    cells, keys, hidden, cell = plain.begin(features)
    return hidden, cell, cells, keys


def test_calls_take_turns():
    called = []
    found = captions.in_turn({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, 2)
    assert called == ["a", "b", "a", "b", "a", "b"] and set(found) == {"a", "b"}


def test_the_first_noun_that_people_name_too():
    assert pointing.first_noun(["A", "Dog", "and", "a", "man"], ["some man", "two dogs"]) == 4
    assert pointing.first_noun(["A", "stone"], ["a stone"]) is None


def test_sheets_are_drawn_and_verdicts_counted(tmp_path):
    from PIL import Image as Pillow

    Pillow.new("RGB", (13, 11)).save(tmp_path / "x.png")
    grid = np.random.default_rng(0).random((2, 3, 5))
    said = SimpleNamespace(words=("A", "dog"), word_grid=grid, text="A dog", source=tmp_path / "x.png")
    blind = SimpleNamespace(words=("A", "dog"), word_grid=None, text="A dog", source="y")
    kept = pointing.pointed([blind, said, said, said], [["a dog"]] * 4, 2)
    assert [each.noun for each in kept] == ["dog", "dog"] and np.array_equal(kept[0].weights, grid[1])
    pointing.draw(kept, (0.0, 0.0, 0.2, 0.5), 1, tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 1000
    rows = [{"word": "on", "mean": "beside"}, {"word": "on", "mean": "cannot tell"}, {"word": "beside"}]
    (tmp_path / "n.json").write_text(json.dumps({"nouns": rows}))
    told = pointing.count(tmp_path / "n.json").splitlines()
    assert told[0] == "word: on 2, beside 1, cannot tell 0 of 3" and told[1].endswith("cannot tell 1 of 2")
