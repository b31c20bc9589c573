"""Images of formulas as a side: cut to the ink, black on white, made smaller where they must be, and found again."""

from random import Random

import numpy as np
import pytest
import torch
from PIL import Image

from regard.data.formulas import draw_image
from regard.data.sides.formula import FormulaImage
from regard.errors import RegardError

INK = draw_image("x + y")  # on white, two pixels of it around


def side(**settings):
    return FormulaImage("source", **settings)


def test_an_image_is_cut_to_its_ink_and_framed_in_whole_cells():
    pixels = side(margin=3).pixels(np.pad(INK, 17, constant_values=255))
    height, width = (length - 4 for length in INK.shape)
    assert pixels.shape[1] % 8 == pixels.shape[2] % 8 == 0
    assert pixels.shape[1] - 8 < height + 6 <= pixels.shape[1] and pixels.shape[2] - 8 < width + 6 <= pixels.shape[2]
    assert (pixels[0, :3] == 255).all() and (pixels[0, :, :3] == 255).all()
    assert pixels[0, 3].min() < 255 and pixels[0, :, 3].min() < 255


def test_where_it_stands_and_how_grey_it_is_does_not_matter():
    plain = side().pixels(INK)
    assert torch.equal(side().pixels(np.pad(INK, ((5, 31), (13, 2)), constant_values=255)), plain)
    assert torch.equal(side().pixels(255 - INK), plain), "white on black"
    faint = (100 + INK.astype(float) * 0.5).astype(np.uint8)
    assert (side().pixels(faint).float() - plain.float()).abs().max() <= 4


def test_what_is_too_large_is_made_smaller_in_proportion():
    large = np.kron(INK, np.ones((5, 5), np.uint8))
    found = side(size=(24, 40), margin=2).pixels(large)
    assert found.shape[1] <= 24 and found.shape[2] <= 40 and found.min() < 128


def test_a_place_in_what_was_read_is_one_in_the_image():
    """The frame's left upper corner, and a box, in an image whose ink begins at (7 + 2, 11 + 2)."""
    framed = side(margin=2).framed(np.pad(INK, ((11, 0), (7, 0)), constant_values=255))
    assert (framed.left, framed.top, framed.scale) == (7, 11, 1.0)
    height, width = framed.pixels.shape[1:]
    assert framed.place((0.0, 0.0, 1.0, 0.5)) == (7, 11, 7 + width, 11 + height / 2)


def test_nothing_to_read_is_white():
    assert (side().pixels(np.full((9, 13), 200, np.uint8)) == 255).all()


def test_a_shift_is_drawn_in_training_alone():
    moving = side(shift=5)
    assert torch.equal(moving.encode([INK])[0], moving.encode([INK])[0])
    assert len({str(moving.encode([INK], Random(seed))[0].tolist()) for seed in range(7)}) > 1


def test_unequal_images_share_a_frame_and_know_what_is_real():
    items = side().encode([INK, draw_image("x"), draw_image(r"\frac{a}{b}")])
    grid = side().collate(items)
    assert grid.mask.flatten(1).sum(1).tolist() == [side().positions(item) for item in items]
    assert torch.equal(grid.data[1, :, : items[1].shape[1], : items[1].shape[2]], items[1] / 255)
    assert side().frame(items[1]) == tuple(items[1].shape[1:])


def test_files_open_images_and_what_is_none(tmp_path):
    Image.fromarray(INK).save(tmp_path / "one.png")
    assert torch.equal(side().pixels(str(tmp_path / "one.png")), side().pixels(Image.fromarray(INK)))
    (tmp_path / "two.png").write_bytes(b"no image")
    for name in ("two.png", "three.png"):
        with pytest.raises(RegardError, match=name):
            side().pixels(str(tmp_path / name))
