"""The side `mask`: values to classes, and read as its image was read."""

from random import Random

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

from regard.data.framing import Framing
from regard.data.masks import NO_CLASS, mask_of, mask_text
from regard.data.sides.image import Image
from regard.data.sides.mask import Mask
from regard.errors import RegardError
from regard.types import UNLABELLED


def grey(*rows):
    return np.array(rows, np.uint8)


def fitted(*cells, **settings):
    side = Mask("target", **settings)
    side.fit(cells)
    return side


def test_numbers_of_grey_become_classes_in_their_order(tmp_path):
    side = fitted(grey([255, 0]), grey([7, 0]))
    assert side.names == ("0", "7", "255")
    assert side.spec().size == 3
    (item,) = side.encode([grey([7, 255], [0, 0])])
    assert item.tolist() == [[1, 2], [0, 0]]
    assert side.predictions(item) == 4
    assert np.asarray(side.image(np.array([[1, 2]], np.uint8))).tolist() == [[7, 255]]


def test_palettes_and_colours(tmp_path):
    drawn = Pillow.fromarray(grey([0, 2], [2, 5]), "P")
    drawn.putpalette([value for number in range(256) for value in (number, 0, 255 - number)])
    drawn.save(tmp_path / "p.png")
    assert fitted(str(tmp_path / "p.png")).names == ("0", "2", "5")
    colours = np.array([[[0, 0, 0], [255, 0, 0]], [[0, 0, 255], [0, 0, 0]]], np.uint8)
    Pillow.fromarray(colours).save(tmp_path / "c.png")
    side = fitted(tmp_path / "c.png")
    assert side.names == ("#000000", "#0000ff", "#ff0000")
    assert side.classes(tmp_path / "c.png").tolist() == [[0, 2], [1, 0]]
    assert np.array_equal(np.asarray(side.image(side.classes(tmp_path / "c.png"))), colours)


def test_values_that_were_never_there_are_refused_and_near_ones_taken_where_classes_are_written():
    with pytest.raises(RegardError, match=r"expected the values 0, 255; found 254 too"):
        fitted(grey([0, 255])).encode([grey([0, 254])])
    side = Mask("target", classes=("0", "255"))
    assert side.encode([grey([3, 100, 200, 250])])[0].tolist() == [[0, 0, 1, 1]]
    red = Mask("target", classes=("#000000", "#ff0000"))
    assert red.classes(np.array([[[200, 30, 20], [60, 60, 60]]], np.uint8)).tolist() == [[1, 0]]


def test_what_is_ignored_is_no_class_and_no_prediction():
    side = fitted(grey([0, 1, 9]), ignore="9")
    assert side.names == ("0", "1")
    (item,) = side.encode([grey([9, 1, 0])])
    assert item.tolist() == [[NO_CLASS, 1, 0]]
    assert side.predictions(item) == 2
    assert side.collate([item]).data.tolist() == [[[UNLABELLED, 1, 0]]]


@pytest.mark.parametrize(
    ("settings", "cells", "told"),
    [
        ({"classes": ("0",)}, (), "one class"),
        ({"classes": ("0", "blue")}, (), "'blue'"),
        ({"ignore": "-1"}, (), "'-1'"),
        ({}, (grey([3, 3]),), "at least two values; found 3"),
        ({}, (np.arange(200, dtype=np.uint8).reshape(10, 20),), "at most 64 values"),
        ({}, ("nowhere.png",), "no such file"),
        ({}, (np.zeros((2, 2), np.float32),), "expected whole numbers"),
    ],
)
def test_what_is_no_mask_is_told(settings, cells, told):
    with pytest.raises(RegardError, match=told):
        fitted(*cells, **settings)


def numbered(height, width):
    """An image whose every pixel is another, so that a mask of the same numbers shows where each came from."""
    return np.arange(height * width, dtype=np.uint8).reshape(height, width)


@pytest.mark.parametrize(
    "settings",
    [
        {"size": (6, 8), "flip": True, "shift": 3},
        {"size": (5, 4), "windows": True, "flip": True},
        {"size": (9, 11), "windows": True, "shift": 1},
        {"size": (6, 8), "windows": True},
    ],
)
def test_an_image_and_its_mask_are_drawn_alike(settings):
    """Pixel by pixel: what the image has there the mask has too, or no class where nothing of the image is."""
    pixels = numbered(6, 8) + 1
    image, mask = Image("source", channels=1, **settings), Mask("target", classes=tuple(map(str, range(64))))
    image.framed = True
    flipped = 0
    for seed in range(20):
        random = Random(seed)
        read = image.encode([pixels], random)
        (found,) = mask.encode([pixels], random, read)
        assert found.shape == read[0].shape[1:]
        real = found != NO_CLASS
        assert torch.equal(found[real], read[0].pixels[0][real])
        assert not read[0].pixels[0][~real].any(), "nothing is there but black"
        flipped += read[0].framing.flip
    assert bool(flipped) == bool(settings.get("flip"))


@pytest.mark.parametrize("settings", [{"crop": 0.5}, {"crop": 0.4, "windows": True}, {"proportion": True}, {}])
def test_resized_images_and_masks_lie_on_one_another(settings):
    """A bright disc and its mask: after any cut and any size they overlap but for the edge."""
    rows, columns = np.mgrid[0:60, 0:90]
    inside = (rows - 25) ** 2 + (columns - 50) ** 2 < 18**2
    image, mask = Image("source", channels=1, size=(40, 40), **settings), Mask("target", classes=("0", "255"))
    image.framed = True
    pixels = (inside * 255).astype(np.uint8)
    for seed in range(10):
        random = Random(seed)
        read = image.encode([pixels], random)
        (found,) = mask.encode([pixels], random, read)
        known = found != NO_CLASS
        bright = read[0].pixels[0] > 127
        assert float(((found == 1) == bright)[known].float().mean()) > 0.98


def test_windows_read_images_whole_in_use():
    image = Image("source", channels=1, size=(4, 4), windows=True)
    assert image.pixels(numbered(6, 8)).shape == (1, 6, 8)
    assert image.encode([numbered(6, 8)], Random(0))[0].shape == (1, 4, 4)
    assert image.draws
    with pytest.raises(RegardError, match="proportion"):
        Image("source", windows=True, proportion=True)


def test_a_framing_by_hand():
    classes = grey([1, 2, 3, 4], [5, 6, 7, 8])
    assert Framing((2, 2), (0.5, 0.0, 1.0, 1.0)).of_classes(classes, 9).tolist() == [[3, 4], [7, 8]]
    assert Framing((2, 4), flip=True).of_classes(classes, 9).tolist() == [[4, 3, 2, 1], [8, 7, 6, 5]]
    assert Framing((2, 4), down=1, right=-1).of_classes(classes, 9).tolist() == [[9, 9, 9, 9], [2, 3, 4, 9]]
    assert Framing((2, 4), (-0.25, 0.0, 0.75, 1.0)).of_classes(classes, 9).tolist() == [[9, 1, 2, 3], [9, 5, 6, 7]]
    assert Framing((1, 2)).of_classes(classes, 9).tolist() == [[6, 8]]


def test_a_mask_as_text():
    classes = grey([0, 0, 0], [0, 1, NO_CLASS])
    assert mask_text(classes, 2) == "2x3/2 0*4 1 -"
    found, count = mask_of("2x3/2 0*4 1 -")
    assert np.array_equal(found, classes) and count == 2
    for seed in range(5):
        drawn = np.random.default_rng(seed).integers(0, 3, (7, 5)).astype(np.uint8)
        assert np.array_equal(mask_of(mask_text(drawn, 3))[0], drawn)
    assert mask_text(grey([2]), 3) == "1x1/3 2"
    for wrong in ("a cat", "2x3/2 0*4", "2x3/2 0*4 x*2"):
        with pytest.raises(ValueError, match="expected"):
            mask_of(wrong)
