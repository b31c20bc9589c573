"""Shapes: small images of a circle, a square, a triangle or a cross, in any place, size and colour, with noise.

Each image is decided by seed, split and number, and lies as a PNG file in the cache, drawn when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.data.drawn import Image, image_folder, save_image
from regard.data.pair import Pair
from regard.data.splits import SPLITS, check_split

LABELS = ("circle", "cross", "square", "triangle")
SIZE = 32  # pixels of a side
_SMALLEST, _LARGEST = 6.0, 12.0  # half the width of a shape
_NOISE = 18.0  # standard deviation of a channel's noise, of 255
_CONTRAST = 90.0  # how far the colour of a shape is from its ground, at least (of 441)


def generate(*, split: str, size: int, seed: int = 0, folder: Path | None = None) -> Iterator[Pair]:
    """Draw `size` images; each source is the path of its file, under `folder` (else the cache)."""
    check_split(split)
    return (_example(split, seed, number, folder) for number in range(size))


def _example(split: str, seed: int, number: int, folder: Path | None) -> Pair:
    image, label = draw(split, seed, number)
    home = image_folder("shapes", folder, __file__)
    path = home / f"seed-{seed}" / split / label / f"{number:06}.png"
    if not path.is_file():
        save_image(image, path)
    return Pair(str(path), label)


def draw(split: str, seed: int, number: int) -> tuple[Image, str]:
    """One image and its label."""
    random = np.random.default_rng((SPLITS.index(split), abs(seed), seed < 0, number))
    label = LABELS[random.integers(len(LABELS))]
    half = random.uniform(_SMALLEST, _LARGEST)
    centre = random.uniform(half, SIZE - 1 - half, 2)
    ground, colour = _colours(random)
    image = np.where(inside(label, centre, half)[..., None], colour, ground)
    return (image + random.normal(0, _NOISE, image.shape)).clip(0, 255).astype(np.uint8), label


def _colours(random: np.random.Generator) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Two colours that can be told apart."""
    while True:
        ground, colour = random.uniform(0, 255, (2, 3))
        if np.linalg.norm(ground - colour) > _CONTRAST:
            return ground, colour


def inside(label: str, centre: npt.NDArray[np.float64], half: float, size: int = SIZE) -> npt.NDArray[np.bool_]:
    """Which pixels of an image of `size` x `size` belong to the shape."""
    rows, columns = np.mgrid[0:size, 0:size]
    down, right = rows - centre[0], columns - centre[1]
    if label == "circle":
        return np.asarray(down**2 + right**2 <= half**2)
    box = np.maximum(abs(down), abs(right)) <= half
    if label == "square":
        return np.asarray(box)
    if label == "triangle":  # its tip is above
        return np.asarray(box & (2 * abs(right) <= down + half))
    return np.asarray(box & (np.minimum(abs(down), abs(right)) <= half / 3))
