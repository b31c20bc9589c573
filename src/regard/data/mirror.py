"""Mirror: coloured shapes on the left half of a small image, and the same shapes mirrored on its right half.

The shapes of an image are all circles, crosses, squares or triangles, which is its label; their number, places, sizes
and colours differ, so that no image is like another. The columns in the middle are free: what must match stands apart.
Each image is decided by seed, split and number, and lies as a PNG file in the cache, drawn when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.data import shapes
from regard.data.drawn import Image, image_folder, save_image
from regard.data.pair import Pair
from regard.data.shapes import LABELS, inside
from regard.data.splits import SPLITS, check_split

SIZE = 32  # pixels of a side
FREE = 3  # columns of each half, at the middle, in which nothing stands
FEWEST, MOST = 2, 4  # shapes in a half
_SMALLEST, _LARGEST = 2.0, 4.0  # half the width of a shape
_CONTRAST = 120.0  # how far the colour of a shape is from its ground, at least (of 441)
_NOISE = 2.0  # standard deviation of a channel's noise, of 255
_MARK = 1977  # what its random numbers have beside those of other corpora
_Colour = npt.NDArray[np.float64]


def generate(
    *, split: str, size: int, seed: int = 0, reads: str = "image", folder: Path | None = None
) -> Iterator[Pair]:
    """Draw `size` images, under `folder` (else the cache).

    A pair is the path of an image and its label where images are read, else its label (or nothing) and the path.
    """
    check_split(split)
    return (_example(split, seed, number, reads, folder) for number in range(size))


def _example(split: str, seed: int, number: int, reads: str, folder: Path | None) -> Pair:
    image, label = draw(split, seed, number)
    home = image_folder("mirror", folder, __file__, shapes.__file__)
    path = home / f"seed-{seed}" / split / label / f"{number:06}.png"
    if not path.is_file():
        save_image(image, path)
    if reads == "image":
        return Pair(str(path), label)
    return Pair(label if reads == "label" else "", str(path))


def draw(split: str, seed: int, number: int) -> tuple[Image, str]:
    """One image and its label."""
    random = np.random.default_rng((SPLITS.index(split), abs(seed), seed < 0, number, _MARK))
    label = LABELS[random.integers(len(LABELS))]
    ground = random.uniform(0, 255, 3)
    image = np.broadcast_to(ground, (SIZE, SIZE, 3)).copy()
    for _ in range(random.integers(FEWEST, MOST + 1)):
        half = random.uniform(_SMALLEST, _LARGEST)
        down = random.uniform(half, SIZE - 1 - half)
        right = random.uniform(half, SIZE // 2 - 1 - FREE - half)
        image[inside(label, np.array([down, right]), half, SIZE)] = _colour(random, ground)
    image[:, SIZE // 2 :] = image[:, SIZE // 2 - 1 :: -1]
    return (image + random.normal(0, _NOISE, image.shape)).clip(0, 255).round().astype(np.uint8), label


def _colour(random: np.random.Generator, ground: _Colour) -> _Colour:
    """One that can be told from the ground."""
    while True:
        colour: _Colour = random.uniform(0, 255, 3)
        if np.linalg.norm(ground - colour) > _CONTRAST:
            return colour
