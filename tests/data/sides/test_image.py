"""Images as a side: every kind of file that people have, and what is drawn in training alone."""

import io
import struct
import zlib
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

from regard.data.labelled.images import MOST_PIXELS
from regard.data.sides.image import HELD, Image, _coloured, _shifted
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
    ("suffix", "mode"), [("png", "RGB"), ("jpg", "RGB"), ("png", "P"), ("gif", "P"), ("bmp", "RGB"), ("webp", "RGB")]
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


def test_a_moving_gif_is_its_first_frame(tmp_path):
    halves().save(tmp_path / "moving.gif", save_all=True, append_images=[halves().rotate(180)])
    with Pillow.open(tmp_path / "moving.gif") as moving:
        assert moving.n_frames == 2
    assert torch.allclose(only(tmp_path / "moving.gif").float(), only(halves()).float(), atol=20)


def test_sixteen_bits_keep_their_shades(tmp_path):
    shades = (np.arange(35, dtype=np.uint16) * 257 * 7).reshape(HEIGHT, WIDTH)
    Pillow.fromarray(shades).save(tmp_path / "deep.png")
    for cell in (tmp_path / "deep.png", shades, Pillow.fromarray(shades)):
        assert torch.equal(only(cell, channels=1)[0].flatten(), 7 * torch.arange(35, dtype=torch.uint8))
    assert only(shades).shape == (3, HEIGHT, WIDTH)


def test_a_large_photograph_is_decoded_small(tmp_path):
    halves(size=(700, 500)).save(tmp_path / "large.jpg", quality=95)
    pixels = only(tmp_path / "large.jpg")
    assert torch.allclose(pixels[:, 2, 0].float(), torch.tensor(RED).float(), atol=20)
    assert torch.allclose(pixels[:, 2, 6].float(), torch.tensor(GREEN).float(), atol=20)


@pytest.mark.parametrize(
    "wrong", [np.zeros((HEIGHT, WIDTH, 3)), np.zeros((0, 3), np.uint8), np.zeros((5, 7, 2), np.uint8), np.uint8(3), 7]
)
def test_what_is_no_array_of_pixels(wrong):
    with pytest.raises(BrokenData, match="of pixels: the image cannot be read: expected"):
        only(wrong if isinstance(wrong, int) else np.asarray(wrong))


def test_an_open_image_that_is_too_large(monkeypatch):
    monkeypatch.setattr("regard.data.labelled.images.MOST_PIXELS", HEIGHT * WIDTH - 1)
    for cell in (halves(), np.asarray(halves())):
        with pytest.raises(BrokenData, match="7 x 5 pixels"):
            only(cell)


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
    moving = io.BytesIO()
    halves().save(moving, "webp", save_all=True, append_images=[halves().rotate(180), halves()], duration=100)
    return {
        "program": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 7 5\n",  # would be run by another program
        "moving": moving.getvalue(),
        "truncated": kept.getvalue()[:3000],
        "text": b"no image at all",
        "empty": b"",
        "large": bomb(MOST_PIXELS // 1000 + 1, 1000),
        "huge": bomb(60_000, 60_000),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("truncated", "truncated"),
        ("text", "expected one of JPEG, PNG, WEBP, GIF, BMP; it is none"),
        ("empty", "expected one of"),
        ("large", "50001 x 1000 pixels; at most 50 million are read"),
        ("huge", "more than 50 million pixels"),
        ("program", "expected one of"),
        ("moving", "an animation of 3 frames"),
    ],
)
def test_what_cannot_be_read_is_told_by_its_name(tmp_path, kind, told):
    path = tmp_path / f"{kind}.png"
    path.write_bytes(broken(kind))
    with pytest.raises(BrokenData, match=rf"{kind}\.png: the image cannot be read: .*{told}"):
        only(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BrokenData, match=r"none\.png: the image cannot be read: there is no such file"):
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


def test_images_in_proportion_are_batched_with_masks_of_what_is_real():
    made = side(size=(8, 12), proportion=True)
    items = made.encode([halves(size=(20, 10)), halves(size=(5, 10)), halves(size=(3, 2)), halves(size=(90, 1))])
    assert [tuple(item.shape) for item in items] == [(3, 6, 12), (3, 8, 4), (3, 8, 12), (3, 1, 12)]
    assert [made.positions(item) for item in items] == [72, 32, 96, 12]
    batch = made.collate(items[:2])
    assert batch.data.shape == (2, 3, 8, 12) and batch.mask.sum((1, 2)).tolist() == [72, 32]
    assert torch.equal(batch.data[0, :, :6], items[0].float() / 255) and (batch.data[0, :, 6:] == 0).all()
    assert batch.mask[1, 7, 3] and not batch.mask[1, 7, 4] and not batch.mask[0, 6, 0]
    assert made.frame(items[0]) == (6, 12) and side().frame(items[0]) == ()
    assert made.spec() == Spec(3, (8, 12))


def test_a_cut_image_is_a_part_of_it_made_large():
    ramp = np.tile(np.arange(100, dtype=np.uint8), (60, 1))
    made = side(size=(60, 100), channels=1, crop=0.5)
    found = [each[0].float() for each in made.encode([ramp] * 53, Random(3))]
    spans = [float(each[:, -1].mean() - each[:, 0].mean()) for each in found]
    assert all(48 < span <= 99 for span in spans) and min(spans) < 60 and max(spans) > 90
    assert len({round(float(each[0, 0])) for each in found}) > 20, "anywhere"
    assert torch.equal(made.encode([ramp])[0][0], torch.from_numpy(ramp))
    tall = side(size=(8, 12), crop=0.5, proportion=True).encode([halves(size=(20, 10))] * 7, Random(3))
    assert {tuple(each.shape) for each in tall} == {(3, 6, 12)}, "nothing is stretched"


def test_colours_by_hand():
    pixels = torch.tensor([[[100]], [[50]], [[200]]], dtype=torch.uint8)
    grey = 0.299 * 100 + 0.587 * 50 + 0.114 * 200
    assert _coloured(pixels, 1.0, 1.0, 1.0).flatten().tolist() == [100, 50, 200]
    assert _coloured(pixels, 0.5, 1.0, 1.0).flatten().tolist() == [50, 25, 100]
    assert _coloured(pixels, 2.0, 1.0, 1.0).flatten().tolist() == [200, 100, 255]
    assert _coloured(pixels, 1.0, 1.0, 0.0).flatten().tolist() == [round(grey)] * 3
    assert _coloured(pixels, 1.0, 0.5, 1.0).flatten().tolist() == [round((each + grey) / 2) for each in (100, 50, 200)]
    shade = torch.tensor([[[100, 50]]], dtype=torch.uint8)
    assert _coloured(shade, 1.0, 2.0, 1.0).flatten().tolist() == [125, 25]


def test_colours_change_within_bounds_and_with_the_dice_alone():
    made, grey = side(colour=0.2), np.full((HEIGHT, WIDTH, 3), 100, dtype=np.uint8)
    found = made.encode([grey] * 101, Random(3))
    shades = [int(each[0, 0, 0]) for each in found]
    assert 80 <= min(shades) < 85 and 115 < max(shades) <= 120
    again = made.encode([grey] * 101, Random(3))
    assert all(map(torch.equal, found, again))
    every = side(flip=True, shift=1, crop=0.3, colour=0.3)
    one, other = (every.encode([halves()] * 11, Random(5)) for _ in range(2))
    assert all(map(torch.equal, one, other)) and not all(torch.equal(each, one[0]) for each in one)


def test_few_large_images_wait_to_be_batched():
    assert side(size=(64, 64)).pool >= 20_000, "as many as of text"
    assert side(size=(224, 224)).pool == HELD // (3 * 224 * 224) < 2000
    assert side(size=(2**15, 2**15)).pool == 1


def test_images_of_one_size_are_batched_as_those_of_many_are():
    """The short way of equal frames beside the long way that unequal ones take."""
    images = [halves(size=(WIDTH, HEIGHT)), halves(size=(HEIGHT, WIDTH)), halves(size=(2 * WIDTH, 2 * HEIGHT))]
    items = side().encode(images)
    small = side(proportion=True).encode([halves(size=(WIDTH, 2))])[0]
    short, long = side().collate(items), side().collate([*items, small])
    assert torch.equal(short.data, long.data[:3]) and torch.equal(short.mask, long.mask[:3])
    assert short.data.dtype == long.data.dtype == torch.float
    assert not long.mask[3].all()
