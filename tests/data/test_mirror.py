"""Mirror: both halves match, no two images are alike, and every way of reading them has the same files."""

from collections import Counter

import numpy as np
import pytest
from PIL import Image

from regard.data.builtin import BUILTIN, examples
from regard.data.corpus import Corpus
from regard.data.mirror import FREE, SIZE, draw, generate
from regard.data.shapes import LABELS


def test_halves_match_but_for_noise_and_the_middle_is_free():
    for number in range(41):
        image, label = draw("train", 0, number)
        assert image.shape == (SIZE, SIZE, 3) and image.dtype == np.uint8 and label in LABELS
        assert np.abs(image.astype(int) - image[:, ::-1]).max() < 25
        middle = image[:, SIZE // 2 - FREE : SIZE // 2 + FREE].astype(int)
        assert np.ptp(middle, (0, 1)).max() < 25


def test_something_stands_in_every_half_at_different_places():
    images = np.stack([draw("train", 0, number)[0] for number in range(200)]).astype(int)
    ground = np.median(images.reshape(200, -1, 3), 1)[:, None, None]
    stands = np.linalg.norm(images - ground, axis=-1) > 60
    assert stands[:, :, : SIZE // 2].any((1, 2)).mean() > 0.98
    covered = stands[:, 2:-2, 2 : SIZE // 2 - FREE - 1].mean(0)
    assert covered.min() > 0.01 and covered.max() < 0.7, "anywhere, and nowhere always"


def test_no_image_is_there_twice_and_classes_are_even():
    drawn = [draw(split, 0, number) for split in ("train", "val", "test") for number in range(150)]
    assert len({image.tobytes() for image, _ in drawn}) == len(drawn)
    counts = Counter(label for _, label in drawn)
    assert set(counts) == set(LABELS) and min(counts.values()) > 80


def test_an_image_depends_on_its_seed_split_and_number_alone():
    assert np.array_equal(draw("val", 3, 5)[0], draw("val", 3, 5)[0])
    assert not np.array_equal(draw("val", 3, 5)[0], draw("val", -3, 5)[0])
    assert not np.array_equal(draw("val", 3, 5)[0], draw("test", 3, 5)[0])


def test_it_is_written_once_and_read_in_every_way(tmp_path):
    read, nothing, label = (
        list(generate(split="val", size=7, reads=reads, folder=tmp_path)) for reads in ("image", "nothing", "label")
    )
    assert [each.source for each in read] == [each.target for each in nothing] == [each.target for each in label]
    assert {each.source for each in nothing} == {""}
    assert [each.target for each in read] == [each.source for each in label]
    assert np.array_equal(np.asarray(Image.open(read[3].source)), draw("val", 0, 3)[0])


def test_it_is_built_in(tmp_path):
    assert BUILTIN["mirror"].languages == (("image", "label"), ("nothing", "image"), ("label", "image"))
    corpus = Corpus.open("mirror", reads="nothing", wants="image", size=11, cache=tmp_path)
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 11, "val": 11, "test": 11}
    assert corpus.split("train")[0]["source"] == ""
    labelled = Corpus.open("mirror", reads="label", wants="image", size=11, cache=tmp_path)
    assert labelled.split("val")[2]["source"] in LABELS
    assert labelled.split("val")["target"] == corpus.split("val")["target"]
    assert len(list(examples("mirror", split="test", size=3, folder=tmp_path))) == 3
    with pytest.raises(Exception, match="nothing -> text was asked for"):
        Corpus.open("mirror", reads="nothing", wants="text", cache=tmp_path)
