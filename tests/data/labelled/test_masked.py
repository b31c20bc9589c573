"""Images with masks in folders: what is found, paired, refused and counted."""

import numpy as np
import pytest
from PIL import Image

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.held_out import HeldOut
from regard.errors import DataError

KIND = {"reads": "image", "wants": "mask"}


def draw(path, size=(8, 6), values=(0, 255)):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(len(str(path))).choice(np.array(values, np.uint8), size[::-1])
    Image.fromarray(pixels).save(path)


def corpus(root, names=("a", "b", "c"), images="images", masks="masks"):
    for name in names:
        draw(root / images / f"{name}.png"), draw(root / masks / f"{name}.png")
    return root


def test_folders_by_split(tmp_path):
    corpus(tmp_path / "train"), corpus(tmp_path / "val", ("d",)), corpus(tmp_path / "test", ("e", "f"))
    found = Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache")
    assert {split: len(rows) for split, rows in found.splits.items()} == {"train": 3, "val": 1, "test": 2}
    row = found.split("val")[0]
    assert (row["source"], row["target"]) == tuple(
        str(tmp_path / "val" / each / "d.png") for each in ("images", "masks")
    )


def test_splits_below_images_and_masks(tmp_path):
    corpus(tmp_path, images="images/train", masks="masks/train"), corpus(tmp_path, ("d",), "images/val", "masks/val")
    found = Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache")
    assert {split: len(rows) for split, rows in found.splits.items()} == {"train": 3, "val": 1}


def test_shares_are_held_out_where_no_split_is_named(tmp_path):
    corpus(tmp_path, [f"n{number:03}" for number in range(60)])
    found = Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache", held_out=HeldOut(0.2, 0.2))
    sizes = {split: len(rows) for split, rows in found.splits.items()}
    assert sum(sizes.values()) == 60 and min(sizes["val"], sizes["test"]) >= 4
    for split in found.splits.values():
        for row in split:
            assert row["source"].replace("images", "masks") == row["target"]


def test_names_are_paired_whatever_they_end_with(tmp_path):
    draw(tmp_path / "imgs" / "x.bmp"), draw(tmp_path / "labels" / "x_mask.png")
    found = Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache", held_out=HeldOut(0, 0))
    assert found.split("train")[0]["target"].endswith("x_mask.png")


def test_a_table_names_masks_too(tmp_path):
    draw(tmp_path / "x.png"), draw(tmp_path / "m" / "y.png")
    (tmp_path / "metadata.jsonl").write_text('{"file_name": "x.png", "mask": "m/y.png"}\n')
    found = Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache", held_out=HeldOut(0, 0))
    assert found.split("train")[0]["target"] == str(tmp_path / "m" / "y.png")


def test_what_has_no_partner_is_told(tmp_path):
    corpus(tmp_path)
    draw(tmp_path / "images" / "alone.png"), draw(tmp_path / "masks" / "lonely.png")
    report = str(check(tmp_path, **KIND))
    assert "one file has no mask of the same name" in report and "alone.png" in report
    assert "one file has no image of the same name" in report and "lonely.png" in report
    with pytest.raises(DataError, match="no mask of the same name"):
        Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache")


def test_masks_of_another_size_and_broken_ones_are_told(tmp_path):
    corpus(tmp_path)
    draw(tmp_path / "masks" / "b.png", (7, 6))
    (tmp_path / "masks" / "c.png").write_bytes(b"no image")
    report = str(check(tmp_path, **KIND))
    assert "2 masks do not fit" in report
    assert "7 x 6 pixels; its image b.png has 8 x 6" in report
    assert "c.png: expected one of JPEG" in report


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((7,), "expected masks of two values or more; found 7 100.00%"),
        (tuple(range(0, 200, 2)), "different values in the masks"),
    ],
)
def test_values_that_cannot_be_meant(tmp_path, values, told):
    for number in range(9):
        draw(tmp_path / "images" / f"{'n' * number}x.png", (30, 20))
        draw(tmp_path / "masks" / f"{'n' * number}x.png", (30, 20), values)
    assert told in str(check(tmp_path, **KIND, held_out=HeldOut(0, 0)))


def test_a_value_that_train_never_has_is_told(tmp_path):
    corpus(tmp_path / "train"), corpus(tmp_path / "val", ("d",))
    draw(tmp_path / "val" / "masks" / "d.png", values=(0, 9))
    report = str(check(tmp_path, **KIND))
    assert "values that never stand in train: 9" in report
    assert "2 values in the masks of train: " in report


def test_it_is_known_by_itself(tmp_path):
    corpus(tmp_path)
    assert "image -> mask" in str(check(tmp_path))


def test_other_folders_are_refused(tmp_path):
    draw(tmp_path / "images" / "x.png")
    with pytest.raises(DataError, match="folders images/ and masks/"):
        Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache")


def test_masks_are_of_images():
    with pytest.raises(Exception, match="masks are of images"):
        Corpus.open("cue-discs", reads="text", wants="mask")


def test_a_mask_that_has_changed_is_read_again(tmp_path):
    corpus(tmp_path)
    first = Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache")
    draw(tmp_path / "masks" / "a.png", (9, 6))
    with pytest.raises(DataError, match="does not fit"):
        Corpus.open(tmp_path, **KIND, cache=tmp_path / "cache")
    assert first.key
