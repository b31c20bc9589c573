"""Glyphs: alphabets that a seed decides, drawn by many hands, with classes that no two splits share."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.data import glyphs
from regard.data.corpus import Corpus
from regard.data.glyphs_drawers import Drawer, draw_drawer, draw_image
from regard.data.glyphs_strokes import draw_alphabet, draw_characters, length_of
from regard.data.make import plan_of_builtin, write_files
from regard.data.sources import plan_for_labels
from regard.data.splits import SPLITS

PLAIN = Drawer(  # but for where and how large it is drawn
    slant=0.0, turn=0.0, width=1.0, height=1.0, nib=1.0, flat=0.0, angle=0.0, tremor=0.0, careless=0.0, rounds=0
)
STILL = np.random.default_rng


def drawn(split: str, numbers: range, seed: int = 0, *, shared: bool = False) -> np.ndarray:
    return np.stack([glyphs.draw(split, seed, number, shared=shared)[0] for number in numbers])


def test_the_same_seed_the_same_files(tmp_path):
    one, other = (
        [
            Path(pair.source).read_bytes()
            for pair in glyphs.generate(split="val", size=23, seed=5, folder=tmp_path / name)
        ]
        for name in ("one", "other")
    )
    assert one == other and len(set(one)) == 23
    changed = {Path(pair.source).read_bytes() for pair in glyphs.generate(split="val", size=23, seed=7)}
    assert not set(one) & changed
    negative, positive = (drawn("val", range(3), seed) for seed in (-5, 5))
    assert not np.array_equal(negative, positive)


def test_files_hold_what_was_drawn(tmp_path):
    for shared in (False, True):
        for number, pair in enumerate(glyphs.generate(split="test", size=7, seed=3, folder=tmp_path, shared=shared)):
            image, label = glyphs.draw("test", 3, number, shared=shared)
            with Image.open(pair.source) as stored:
                assert stored.size == (28, 28) and stored.mode == "L" and np.array_equal(np.asarray(stored), image)
            assert label == pair.target == Path(pair.source).parent.name


def test_no_split_has_a_class_of_another():
    labels = {split: Counter(glyphs.draw(split, 0, number)[1] for number in range(0, 1000, 10)) for split in SPLITS}
    for one, other in combinations(SPLITS, 2):
        assert not set(labels[one]) & set(labels[other])
    assert all(len(each) == 50 and set(each.values()) == {2} for each in labels.values())
    assert {label.rpartition("-")[0] for label in labels["train"]} == {glyphs.name_of(0), glyphs.name_of(3), "Vofefu"}


def test_a_class_is_twenty_hands_and_an_alphabet_twenty_characters():
    labels = [glyphs.draw("train", 0, number)[1] for number in range(0, 801, 20)]
    assert labels[:20] == [f"{glyphs.name_of(0)}-{each:02}" for each in range(1, 21)]
    assert {each.rpartition("-")[0] for each in labels[20:40]} == {glyphs.name_of(3)} and len(set(labels)) == 41
    assert {glyphs.draw("train", 0, number)[1] for number in range(40, 60)} == {labels[2]}


def test_of_one_alphabet_every_split_has_the_same_classes():
    labels = [{glyphs.draw(split, 0, number, shared=True)[1] for number in range(20)} for split in SPLITS]
    assert len(labels[0]) == 20 and labels[0] == labels[1] == labels[2]
    train, test = (drawn(split, range(20), shared=True) for split in ("train", "test"))
    assert all(not np.array_equal(one, other) for one, other in zip(train, test, strict=True)), "other hands"


def test_no_two_alphabets_are_called_the_same():
    assert len({glyphs.name_of(number) for number in range(30_000)}) == 30_000


def test_characters_of_an_alphabet_differ_and_fit():
    for seed in (3, 5):
        random = np.random.default_rng(seed)
        characters = draw_characters(draw_alphabet(random), 20, random)
        assert len({round(length_of(each), 6) for each in characters}) == 20
        for each in characters:
            assert 2.6 < length_of(each) < 7.5
            everything = np.concatenate(each)
            assert np.allclose(everything.min(0), -everything.max(0)) and 0.99 < abs(everything).max() < 2.5


def test_a_cross_by_hand():
    """Two lines through the middle: ink along both, none beside them; what is drawn is 17 to 21 pixels wide."""
    line = np.linspace(-1, 1, 9)
    cross = (np.stack((line, 0 * line), 1), np.stack((0 * line, line), 1))
    image = draw_image(cross, PLAIN, STILL(11)).astype(int)
    rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
    assert 17 <= rows[-1] - rows[0] <= 23 and 17 <= columns[-1] - columns[0] <= 23
    middle = image[np.ix_((rows[0] + 5, rows[-1] - 5), (columns[0] + 3, columns[-1] - 3))]
    assert not middle.any(), "between the arms"
    assert (image.max(0)[columns[0] + 2 : columns[-1] - 1] > 200).all()


@pytest.mark.parametrize(
    ("name", "value", "grows"), [("nib", 1.6, True), ("nib", 0.6, False), ("flat", 0.9, False), ("height", 0.5, False)]
)
def test_what_a_hand_does_to_the_ink(name, value, grows):
    line = np.linspace(-1, 1, 9)
    corner = (np.stack((np.concatenate((line, 0 * line + 1)), np.concatenate((0 * line - 1, line))), 1),)
    plain, other = (
        draw_image(corner, Drawer(**{**vars(PLAIN), **change}), STILL(5)).sum(dtype=int)
        for change in ({}, {name: value})
    )
    assert (other > plain) == grows and other != plain


def test_a_slant_leans_to_the_right():
    line = np.linspace(-1, 1, 9)
    upright = (np.stack((0 * line, line), 1),)
    image = draw_image(upright, Drawer(**{**vars(PLAIN), "slant": 0.5}), STILL(5))
    rows = np.flatnonzero(image.any(1))
    assert image[rows[0] + 1].argmax() > image[rows[-1] - 1].argmax() + 5


def test_nothing_is_cut_off():
    border = drawn("train", range(0, 1200, 3))
    border[:, 1:-1, 1:-1] = 0
    assert border.max() == 0


def test_hands_differ_and_so_do_drawings():
    hands = [draw_drawer(STILL(number)) for number in range(50)]
    for name in ("slant", "nib", "tremor", "width"):
        assert np.std([getattr(hand, name) for hand in hands]) > 0.01
    character = glyphs.characters_of(0, 0)[0]
    one, other = (draw_image(character, hands[0], STILL(number)) for number in (1, 2))
    assert not np.array_equal(one, other)


def test_pixels_alone_tell_some_of_it_and_not_all():
    """The nearest of five examples, one a class, is of the right class in half of the cases: chance is a fifth."""
    images = drawn("test", range(1200)).reshape(60, 20, -1) / 255.0
    random, right = STILL(0), 0
    for _ in range(500):
        chosen = random.choice(60, 5, replace=False)
        support = images[chosen, random.integers(10, size=5)]
        question = images[chosen[0], random.integers(10, 20)]
        right += int(((support - question) ** 2).sum(1).argmin() == 0)
    assert 0.4 < right / 500 < 0.7


def test_a_corpus_of_them_lies_in_its_cache(tmp_path):
    corpus = Corpus.open("glyphs", reads="image", wants="label", size=31, cache=tmp_path)
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 31, "val": 31, "test": 31}
    assert all(Path(path).is_relative_to(tmp_path) and Path(path).is_file() for path in corpus.split("val")["source"])


def test_written_out_they_are_a_folder_a_class(tmp_path):
    plan = plan_of_builtin("glyphs", size=47, cache=tmp_path)
    assert [path.name for path in write_files(plan, tmp_path / "out")] == ["train", "val", "test"]
    assert [each.name for each in sorted((tmp_path / "out" / "train").iterdir())] == [
        f"{glyphs.name_of(0)}-{number:02}" for number in (1, 2, 3)
    ]
    again = plan_for_labels(tmp_path / "out", source="image")
    assert sorted((row.split, row.target) for row in again.rows()) == sorted(
        (row.split, row.target) for row in plan.rows()
    )
