"""Shapes: images decided by seed, split and number, in files of the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.data import shapes
from regard.data.corpus import Corpus
from regard.data.make import plan_of_builtin, write_files
from regard.data.sources import plan_for_labels
from regard.errors import DataError


def test_the_same_seed_the_same_files(tmp_path):
    one, other = (
        [
            Path(pair.source).read_bytes()
            for pair in shapes.generate(split="train", size=23, seed=5, folder=tmp_path / name)
        ]
        for name in ("one", "other")
    )
    assert one == other and len(set(one)) == 23
    changed = [Path(pair.source).read_bytes() for pair in shapes.generate(split="train", size=23, seed=7)]
    assert not set(one) & set(changed)
    held_out = [Path(pair.source).read_bytes() for pair in shapes.generate(split="test", size=23, seed=5)]
    assert not set(one) & set(held_out)
    assert list(shapes.generate(split="val", size=3, seed=-5)) != list(shapes.generate(split="val", size=3, seed=5))


def test_images_are_drawn_once(tmp_path):
    (pair,) = shapes.generate(split="train", size=1, folder=tmp_path)
    before = Path(pair.source).stat().st_mtime_ns
    list(shapes.generate(split="train", size=1, folder=tmp_path))
    assert Path(pair.source).stat().st_mtime_ns == before
    assert [path.name for path in Path(pair.source).parent.iterdir()] == ["000000.png"]


def test_an_image_is_what_its_label_says():
    """The box around the shape is filled by a known share: all of it, pi/4, a half, or 5/9 (a cross)."""
    share = {"square": 1, "circle": np.pi / 4, "triangle": 1 / 2, "cross": 5 / 9}
    for label, expected in share.items():
        inside = shapes.inside(label, np.array([15.5, 15.5]), 12.0)
        rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
        box = (rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1)
        assert abs(inside.sum() / box - expected) < 0.06, label


def test_files_hold_what_was_drawn(tmp_path):
    pairs = list(shapes.generate(split="train", size=101, folder=tmp_path))
    assert {pair.target for pair in pairs} == set(shapes.LABELS)
    for number, pair in enumerate(pairs[:7]):
        image, label = shapes.draw("train", 0, number)
        with Image.open(pair.source) as stored:
            assert stored.size == (32, 32) and stored.mode == "RGB" and np.array_equal(np.asarray(stored), image)
        assert label == pair.target == Path(pair.source).parent.name


def test_a_corpus_of_them_lies_in_its_cache(tmp_path):
    corpus = Corpus.open("shapes", reads="image", wants="label", size=31, cache=tmp_path)
    assert (corpus.source, corpus.target) == ("image", "label")
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 31, "val": 31, "test": 31}
    assert all(Path(path).is_relative_to(tmp_path) and Path(path).is_file() for path in corpus.split("val")["source"])


def test_written_out_they_are_an_imagefolder(tmp_path):
    plan = plan_of_builtin("shapes", size=13, cache=tmp_path)
    assert [path.name for path in write_files(plan, tmp_path / "out")] == ["train", "val", "test"]
    again = plan_for_labels(tmp_path / "out", source="image")
    assert sorted((row.split, row.target) for row in again.rows()) == sorted(
        (row.split, row.target) for row in plan.rows()
    )
    assert again.findings() == [] and again.cut == {}


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "images").write_text("a file where the folder should be")
    with pytest.raises(DataError, match="cannot be written"):
        list(shapes.generate(split="train", size=1, folder=tmp_path))
