"""Flickr8k's own files: captions of five lines an image, folders of images, lists of the splits."""

import numpy as np
import pytest
from PIL import Image

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.labelled.detect import sides_of
from regard.data.labelled.flickr import parted
from regard.errors import BrokenData, MissingData

SIDES = {"reads": "image", "wants": "text"}
HOMES = {"train": range(7), "dev": range(7, 10), "test": range(10, 12)}  # image 12 is in no list


def put(folder, *, images="Flicker8k_Dataset", texts=".", lists=True, table=False, count=13):
    """Thirteen images with two captions each."""
    (folder / images).mkdir(parents=True)
    (folder / texts).mkdir(exist_ok=True)
    rows = ["image,caption\n"] if table else []
    for number in range(count):
        pixels = np.random.default_rng(number).integers(0, 256, (5, 7, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / images / f"{number}.jpg")
        texts_of_it = [f"A dog , number {number} .", f'"Two" dogs {number}']
        if table:
            rows += [f"{number}.jpg,{texts_of_it[0]}\n", f'{number}.jpg,"""Two"" dogs {number}"\n']
        else:
            rows += [f"{number}.jpg#{place}\t{text}\n" for place, text in enumerate(texts_of_it)]
    (folder / texts / ("captions.txt" if table else "Flickr8k.token.txt")).write_text("".join(rows), encoding="utf-8")
    (folder / texts / "Flickr8k.lemma.token.txt").write_text("0.jpg#0\tdog\n")
    if lists:
        for split, numbers in HOMES.items():
            path = folder / texts / f"Flickr_8k.{split}Images.txt"
            path.write_text("".join(f"{number}.jpg\n" for number in numbers))
    return folder


@pytest.mark.parametrize("where", [{}, {"texts": "Flickr8k_text"}, {"images": "Images"}, {"table": True}])
def test_the_official_splits(tmp_path, where):
    folder = put(tmp_path / "flickr", **where)
    corpus = Corpus.open(folder, **SIDES)
    assert {name: len(rows) for name, rows in corpus.splits.items()} == {"train": 14, "val": 6, "test": 4}
    row = corpus.split("val")[1]
    assert row == {
        "source": str((folder / where.get("images", "Flicker8k_Dataset") / "7.jpg").resolve()),
        "target": '"Two" dogs 7',
    }
    assert "captions of 12 images; 1 images of no list are left aside" in corpus.notes[0]
    assert sides_of(folder) == ("image", "text")
    assert check(folder).ok


def test_without_lists_images_are_cut_off_whole(tmp_path):
    corpus = Corpus.open(put(tmp_path / "flickr", lists=False, count=60), **SIDES)
    assert set(corpus.splits) == {"train", "val", "test"}
    homes = {}
    for name, rows in corpus.splits.items():
        for row in rows:
            homes.setdefault(row["source"], set()).add(name)
    assert len(homes) == 60 and all(len(each) == 1 for each in homes.values())


def test_a_line_in_either_form():
    assert parted("a.jpg#0\tA dog #1 .") == ("a.jpg", "A dog #1 .")
    assert parted("a.jpg,A dog, red") == ("a.jpg", "A dog, red")
    assert parted('a.jpg,"A ""red"" dog, tired"') == ("a.jpg", 'A "red" dog, tired')
    assert parted("a.jpg A dog") is None and parted("no image,A dog") is None


def test_what_is_wrong_is_told(tmp_path):
    folder = put(tmp_path / "flickr")
    token = folder / "Flickr8k.token.txt"
    text = token.read_text()
    token.write_text(text + "1.jpg A dog\n")
    with pytest.raises(BrokenData, match=r"Flickr8k\.token\.txt:27: .*the name of an image and its caption"):
        Corpus.open(folder, **SIDES)
    token.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("3.jpg")))
    assert "1 images of the lists have no caption" in str(check(folder))
    token.write_text(text)
    (folder / "Flicker8k_Dataset" / "8.jpg").write_bytes(b"no image")
    with pytest.raises(BrokenData, match=r"one image cannot be read"):
        Corpus.open(folder, **SIDES)
    (folder / "Flicker8k_Dataset").rename(folder / ".hidden")
    with pytest.raises(MissingData, match=r"expected a folder of images beside the captions; 0\.jpg is not in"):
        Corpus.open(folder, **SIDES)
    assert sides_of(folder) == ("image", "text")
    (folder / "other.token.txt").write_text(text)
    with pytest.raises(BrokenData, match="expected one file of captions; found"):
        Corpus.open(folder, **SIDES)
