"""Images that are to be made, from folders of one's own: with labels or without, in splits or not."""

import numpy as np
import pytest
from PIL import Image

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.errors import BrokenData, DataError, MissingData


def image(path, number=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(number).integers(0, 256, (7, 5, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def opened(folder, cache, reads="nothing"):
    return Corpus.open(folder, reads=reads, wants="image", cache=cache)


def test_any_images_will_do(tmp_path):
    for number in range(60):
        image(tmp_path / "photos" / ("a" if number % 2 else "b/c") / f"{number}.png", number)
    (tmp_path / "photos" / "notes.txt").write_text("no image")
    corpus = opened(tmp_path / "photos", tmp_path / "cache")
    assert set(corpus.splits) == {"train", "val", "test"}
    rows = [row for split in corpus.splits.values() for row in split]
    assert len(rows) == len({row["target"] for row in rows}) == 60
    assert {row["source"] for row in rows} == {""}
    assert all(row["target"].endswith(".png") for row in rows)
    again = opened(tmp_path / "photos", tmp_path / "other")
    assert again.split("val")["target"] == corpus.split("val")["target"]
    assert check(corpus).errors == () if hasattr(check(corpus), "errors") else True


def test_folders_called_by_splits_are_splits(tmp_path):
    for split, count in (("train", 11), ("test", 3)):
        for number in range(count):
            image(tmp_path / "data" / split / "some" / f"{split}-{number}.png", number)
    corpus = opened(tmp_path / "data", tmp_path / "cache")
    assert len(corpus.split("test")) == 3
    assert len(corpus.split("train")) + len(corpus.splits.get("val", ())) == 11


def test_labels_are_read_where_they_are_wanted(tmp_path):
    for label in ("cat", "dog"):
        for number in range(20):
            image(tmp_path / "data" / label / f"{number}.png", number + 100 * len(label))
    corpus = opened(tmp_path / "data", tmp_path / "cache", "label")
    rows = [row for split in corpus.splits.values() for row in split]
    assert len(rows) == 40
    assert all(f"/{row['source']}/" in row["target"] for row in rows)
    turned = Corpus.open(tmp_path / "data", reads="image", wants="label", cache=tmp_path / "cache")
    assert turned.split("train")["source"] == corpus.split("train")["target"], "cut by image, whichever way"


def test_what_is_no_image_is_told(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("text")
    with pytest.raises(MissingData, match=r"expected a folder of images .*; found a.txt"):
        opened(tmp_path / "data", tmp_path / "cache")
    for number in range(5):
        image(tmp_path / "data" / f"{number}.png", number)
    (tmp_path / "data" / "torn.png").write_bytes(b"\x89PNG no")
    with pytest.raises((BrokenData, DataError), match="torn.png"):
        opened(tmp_path / "data", tmp_path / "cache")
    with pytest.raises(MissingData, match="neither a file, nor a folder"):
        opened(str(tmp_path / "nowhere"), tmp_path / "cache")
