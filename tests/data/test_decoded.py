"""Images kept in memory: the same pixels as from the files, as long as the files are the same and there is room."""

import os
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

from regard.data import decoded
from regard.data.decoded import AROUND, DecodedImages
from regard.data.sides import image
from regard.data.sides.image import Image, keep_decoded
from regard.errors import BrokenData

HEIGHT, WIDTH = 5, 7


def drawn(folder, number, size=(WIDTH, HEIGHT)):
    path = folder / f"{number}.png"
    pixels = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Pillow.fromarray(pixels).save(path)
    return str(path)


@pytest.fixture
def cells(tmp_path):
    return [drawn(tmp_path, number) for number in range(3)]


@pytest.fixture
def read(monkeypatch):
    """Which files are opened."""
    opened, usual = [], image.read_picture

    def told(cell, *given):
        opened.append(cell)
        return usual(cell, *given)

    monkeypatch.setattr(image, "read_picture", told)
    return opened


def kept(**settings):
    side = Image("source", size=(HEIGHT, WIDTH), **settings)
    keep_decoded(side)
    return side


@pytest.mark.parametrize("settings", [{}, {"crop": 0.5}, {"flip": True, "shift": 2, "colour": 0.3}])
def test_what_is_kept_is_what_is_read(cells, read, settings):
    plain, side = Image("source", size=(HEIGHT, WIDTH), **settings), kept(**settings)
    wanted = [plain.encode(cells, Random(epoch)) for epoch in range(3)]
    read.clear()
    found = [side.encode(cells, Random(epoch)) for epoch in range(3)]
    assert read == cells, "each file is read once"
    for one, two in zip(wanted, found, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_a_side_that_is_not_trained_keeps_nothing(cells, read):
    side = Image("source", size=(HEIGHT, WIDTH))
    side.encode(cells), side.encode(cells)
    assert read == [*cells, *cells]


def test_a_file_that_has_changed_is_read_anew(tmp_path, cells, read):
    side = kept()
    before = side.encode(cells)
    drawn(tmp_path, 1, (WIDTH + 4, HEIGHT + 2))
    after = side.encode(cells)
    assert read == [*cells, cells[1]]
    assert torch.equal(before[0], after[0]) and not torch.equal(before[1], after[1])
    assert len(side.decoded) == 3
    os.utime(cells[2], ns=(1, 1))
    side.encode(cells)
    assert read[-1] == cells[2], "another date may be another image"


def test_an_image_that_is_no_file_is_not_kept():
    side = kept()
    side.encode([np.zeros((HEIGHT, WIDTH), np.uint8), Pillow.new("L", (WIDTH, HEIGHT))])
    assert len(side.decoded) == 0


def test_no_more_is_kept_than_there_is_room_for(cells, read):
    side = kept()
    each = AROUND + 3 * HEIGHT * WIDTH
    side.decoded = DecodedImages(most=2 * each + 1)
    for _ in range(3):
        side.encode(cells)
    assert (len(side.decoded), side.decoded.bytes) == (2, 2 * each)
    assert read == [*cells, cells[2], cells[2]], "what was there first stays"


def test_what_takes_the_place_of_an_older_one_takes_its_bytes(tmp_path, cells):
    side = kept(crop=0.5)
    side.encode(cells, Random(1))
    drawn(tmp_path, 1, (WIDTH + 4, HEIGHT + 2))
    side.encode(cells, Random(1))
    sizes = [HEIGHT * WIDTH, (HEIGHT + 2) * (WIDTH + 4), HEIGHT * WIDTH]
    assert side.decoded.bytes == sum(AROUND + 3 * size for size in sizes)


def test_a_broken_file_is_told_as_ever(tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"no image")
    side = kept()
    for cell in (path, tmp_path / "missing.png", "a\0b.png"):
        with pytest.raises(BrokenData, match="cannot be read"):
            side.encode([cell])
    assert len(side.decoded) == 0
    assert decoded.MOST == 2**28
