"""Scenes: images of several objects, the caption that each has, and where its nouns are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.data import scenes
from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.make import plan_of_builtin, write_files
from regard.data.places import Place, read_places, write_places, wrong_places
from regard.data.rows import Row
from regard.data.shapes import LABELS
from regard.data.sources import plan_for_labels

SIDES = {"reads": "image", "wants": "text"}


def test_the_same_seed_the_same_files(tmp_path):
    one, other = (
        [
            Path(pair.source).read_bytes()
            for pair in scenes.generate(split="train", size=17, seed=5, folder=tmp_path / name)
        ]
        for name in ("one", "other")
    )
    assert one == other and len(set(one)) == 17
    changed = [Path(pair.source).read_bytes() for pair in scenes.generate(split="train", size=17, seed=7)]
    held_out = [Path(pair.source).read_bytes() for pair in scenes.generate(split="test", size=17, seed=5)]
    assert not set(one) & set(changed) and not set(one) & set(held_out)


def test_a_caption_by_hand():
    things = [
        scenes.Thing("red", "square", 0, 1, 4),
        scenes.Thing("blue", "circle", 0, 3, 4),
        scenes.Thing("black", "cross", 2, 0, 4),
    ]
    text, *links, places = scenes._described(things)
    assert text == "a red square left of a blue circle above a black cross"
    assert links == [(), ()]
    assert places == (
        Place(2, (0.25, 0.0, 0.5, 0.25)),
        Place(7, (0.75, 0.0, 1.0, 0.25)),
        Place(11, (0.0, 0.5, 0.25, 0.75)),
    )
    assert [text.split()[place.word] for place in places] == ["square", "circle", "cross"]
    assert write_places(places) == "0.25,0,0.5,0.25-2 0.75,0,1,0.25-7 0,0.5,0.25,0.75-11"
    assert read_places(write_places(places)) == places


def test_what_is_drawn_is_what_is_told():
    """In its cell an object has its colour, and outside of all cells that are told there is only ground."""
    counts = Counter()
    for number in range(97):
        image, things = scenes.draw("train", 3, number)
        counts[len(things)] += 1
        assert image.shape == (64, 64, 3) and image.dtype == np.uint8
        order = [(thing.row, thing.column) for thing in things]
        assert order == sorted(set(order)), "in the order of reading, one in a cell"
        assert all(thing.shape in LABELS and thing.colour in scenes.COLOURS for thing in things)
        ground = Counter(map(tuple, image.reshape(-1, 3))).most_common(1)[0][0]
        covered = np.zeros((64, 64), bool)
        for thing in things:
            step = 64 / thing.cells
            rows, columns = (slice(round(at * step), round((at + 1) * step)) for at in (thing.row, thing.column))
            covered[rows, columns] = True
            inside = image[rows, columns].reshape(-1, 3)
            colours = inside[(inside != ground).any(1)]
            assert len(colours) > 20
            assert abs(colours.mean(0) - scenes.COLOURS[thing.colour]).max() <= 19
        assert (image[~covered] == ground).all()
    assert set(counts) == set(range(1, scenes.MOST + 1)), "1 to 6 objects"
    assert counts[1] > counts[5]


def test_a_corpus_of_them_keeps_places(tmp_path):
    corpus = Corpus.open("scenes", **SIDES, size=23, cache=tmp_path)
    assert (corpus.source, corpus.target) == ("image", "text")
    row = corpus.split("val")[0]
    assert set(row) == {"source", "target", "links"} and Path(row["source"]).is_relative_to(tmp_path)
    nouns = [row["target"].split()[place.word] for place in read_places(row["links"])]
    assert nouns == [word for word in row["target"].split() if word in LABELS]
    assert check(corpus).ok


@pytest.mark.parametrize("gold", [False, True])
def test_written_out_they_are_an_imagefolder(tmp_path, gold):
    plan = plan_of_builtin("scenes", size=13, cache=tmp_path)
    assert [path.name for path in write_files(plan, tmp_path / "out", gold=gold)] == ["train", "val", "test"]
    first = json.loads((tmp_path / "out" / "train" / "metadata.jsonl").read_text().splitlines()[0])
    assert set(first) == {"file_name", "text"} | ({"links"} if gold else set())
    again = plan_for_labels(tmp_path / "out", source="image", target="text")
    told = [(row.split, row.target, row.links if gold else None) for row in plan.rows()]
    assert [(row.split, row.target, row.links) for row in again.rows()] == told
    assert again.findings() == [] and again.cut == {}
    with Image.open(next(again.rows()).source) as image:
        assert image.size == (64, 64)


@pytest.mark.parametrize(
    ("links", "told"),
    [
        ("0,0,0.5,0.5-1", None),
        ("", None),
        ("0-1", "no place"),
        ("0,0,1.5,0.5-1", "no box"),
        ("0.5,0,0.5,0.5-1", "no box"),
        ("0,0,0.5,0.5-2", "the caption has 2"),
    ],
)
def test_wrong_places_are_told(links, told):
    found = wrong_places(Row("train", "a.png", "red square", links, 1))
    assert found is None if told is None else told in found


def test_a_point_in_a_box():
    place = Place(0, (0.25, 0.5, 0.5, 1.0))
    assert place.holds(0.3, 0.7) and not place.holds(0.7, 0.3) and not place.holds(0.2, 0.7)
