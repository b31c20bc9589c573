"""Images as a side: every kind of file that people have, and what is drawn in training alone."""

import io
import struct
import zlib
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

from regard.data.sides.image import MOST, Image, _shifted
from regard.errors import BrokenData
from regard.task import Spec

HEIGHT, WIDTH = 5, 7
RED, GREEN = (250, 0, 0), (0, 200, 0)


def halves(mode="RGB", size=(WIDTH, HEIGHT)):
    """The left half red, the right one green; of one shade where there are no colours."""
    pixels = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    pixels[:, : size[0] // 2], pixels[:, size[0] // 2 :] = RED, GREEN
    return Pillow.fromarray(pixels).convert(mode)


def side(**settings):
    return Image("source", **{"size": (HEIGHT, WIDTH), **settings})


def only(cell, **settings):
    return side(**settings).encode([cell])[0]


@pytest.mark.parametrize(
    ("suffix", "mode"), [("png", "RGB"), ("jpg", "RGB"), ("png", "P"), ("gif", "P"), ("bmp", "RGB")]
)
def test_files_of_every_kind(tmp_path, suffix, mode):
    path = tmp_path / f"halves.{suffix}"
    halves(mode, (28, 20)).save(path)
    pixels = only(path)
    assert (pixels.shape, pixels.dtype) == ((3, HEIGHT, WIDTH), torch.uint8)
    assert torch.allclose(pixels[:, 2, 0].float(), torch.tensor(RED).float(), atol=20)
    assert torch.allclose(pixels[:, 2, 6].float(), torch.tensor(GREEN).float(), atol=20)


def test_grey_and_colours():
    grey = Pillow.fromarray(np.arange(35, dtype=np.uint8).reshape(HEIGHT, WIDTH))
    assert torch.equal(only(grey, channels=1)[0].flatten(), torch.arange(35, dtype=torch.uint8))
    three = only(grey)
    assert all(torch.equal(three[channel].flatten(), torch.arange(35, dtype=torch.uint8)) for channel in range(3))
    assert only(halves(), channels=1).shape == (1, HEIGHT, WIDTH)
    assert only(halves(), channels=1)[0, 0, 0] == halves("L").getpixel((0, 0))


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_what_is_clear_is_white(tmp_path, mode):
    picture = Pillow.new(mode, (WIDTH, HEIGHT))  # black, and wholly clear
    picture.save(tmp_path / "clear.png")
    assert (only(tmp_path / "clear.png") == 255).all()
    assert (only(picture) == 255).all()


def test_a_clear_colour_of_a_palette_is_white(tmp_path):
    halves("P").save(tmp_path / "clear.png", transparency=halves("P").getpixel((0, 0)))
    pixels = only(tmp_path / "clear.png")
    assert (pixels[:, 0, 0] == 255).all()
    assert (pixels[:, 0, 6] != 255).all()


def test_a_photograph_is_turned_upright(tmp_path):
    picture, exif = halves(size=(HEIGHT, WIDTH)), Pillow.Exif()
    exif[0x0112] = 6  # to be turned to the right: what was left is then at the top
    picture.save(tmp_path / "turned.png", exif=exif)
    pixels = only(tmp_path / "turned.png")
    assert tuple(pixels[:, 0, 3].tolist()) == RED
    assert tuple(pixels[:, 4, 3].tolist()) == GREEN


def test_arrays_are_images():
    pixels = np.random.default_rng(3).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    assert torch.equal(only(pixels), torch.from_numpy(pixels).permute(2, 0, 1))


def bomb(width, height):
    """A small file that says it is large."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 11)), (b"IEND", b"")]
    made = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def broken(kind):
    kept = io.BytesIO()
    Pillow.fromarray(np.random.default_rng(3).integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(kept, "png")
    return {
        "truncated": kept.getvalue()[:3000],
        "text": b"no image at all",
        "empty": b"",
        "large": bomb(MOST // 1000 + 1, 1000),
        "huge": bomb(60_000, 60_000),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("truncated", "cannot be decoded"),
        ("text", "cannot be decoded"),
        ("empty", "cannot be decoded"),
        ("large", "an image of 50001 x 1000 pixels; at most 50,000,000 are read"),
        ("huge", "cannot be decoded|at most 50,000,000"),
    ],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_what_cannot_be_read_is_told_by_its_name(tmp_path, kind, told):
    path = tmp_path / f"{kind}.png"
    path.write_bytes(broken(kind))
    with pytest.raises(BrokenData, match=rf"{kind}\.png: .*({told})"):
        only(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BrokenData, match=r"none\.png: expected an image; there is no such file"):
        only(tmp_path / "none.png")


def test_channels_are_one_or_three():
    with pytest.raises(BrokenData, match="1 or 3 channels; found channels = 2"):
        side(channels=2)


def test_sizes_and_numbers_of_a_batch():
    made = side(size=(3, 11), channels=1)
    assert made.spec() == Spec(1, (3, 11))
    items = made.encode([halves(), halves(size=(30, 2))])
    batch = made.collate(items)
    assert batch.data.shape == (2, 1, 3, 11)
    assert batch.mask.all() and batch.mask.shape == (2, 3, 11)
    assert [made.positions(item) for item in items] == [33, 33]
    assert torch.equal(batch.data[0], items[0].float() / 255)
    assert batch.data.max() <= 1


def test_nothing_is_drawn_without_dice():
    drawn, plain = side(flip=True, shift=2), side()
    assert torch.equal(drawn.encode([halves()])[0], plain.encode([halves()])[0])
    assert torch.equal(plain.encode([halves()], Random(3))[0], plain.encode([halves()])[0])


def test_every_other_image_is_mirrored():
    plain, found = only(halves()), side(flip=True).encode([halves()] * 101, Random(3))
    mirrored = [torch.equal(each, plain.flip(-1)) for each in found]
    assert all(same != torch.equal(each, plain) for same, each in zip(mirrored, found, strict=True))
    assert 30 < sum(mirrored) < 71


def test_an_image_is_moved_within_its_frame():
    white = np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)
    found = side(shift=2).encode([white] * 211, Random(3))
    rows = {int((each[0].sum(1) > 0).sum()) for each in found}
    columns = {int((each[0].sum(0) > 0).sum()) for each in found}
    assert (rows, columns) == ({3, 4, 5}, {5, 6, 7})


@pytest.mark.parametrize(("down", "right"), [(0, 0), (2, 0), (-1, 0), (0, 3), (0, -2), (1, -3), (-2, 1)])
def test_a_shift_by_hand(down, right):
    pixels = torch.arange(1, 36, dtype=torch.uint8).view(1, HEIGHT, WIDTH)
    moved = _shifted(pixels, down, right)
    for row in range(HEIGHT):
        for column in range(WIDTH):
            above, before = row - down, column - right
            inside = 0 <= above < HEIGHT and 0 <= before < WIDTH
            assert moved[0, row, column] == (pixels[0, above, before] if inside else 0)
