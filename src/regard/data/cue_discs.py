"""Cue-discs: grey images of several discs that look alike; a mark far away says which of them is the target.

A disc lies in each quarter of an image, anywhere in it. In the upper left corner stands a small square, a quarter of
which is bright: its quarter is that of the target. What a disc is can be seen where it lies; whether it is meant, only
at the mark. Each image is decided by seed, split and number, and lies as two PNG files in the cache, in `images/` and
`masks/`, drawn when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.data.drawn import Image, image_folder, save_image
from regard.data.pair import Pair
from regard.data.splits import SPLITS, check_split

SIDE = 64  # pixels
TARGET = 255  # in a mask
_MARK = 8  # pixels of the mark, in an image of usual size
_RADII = (0.055, 0.095)  # of a disc, in sides
_GROUND, _DISC, _BRIGHT, _DARK = (70.0, 110.0), (150.0, 200.0), 245.0, 10.0
_NOISE = 12.0


def generate(*, split: str, size: int, seed: int = 0, folder: Path | None = None, side: int = SIDE) -> Iterator[Pair]:
    """Draw `size` images of `side` pixels; source and target are the paths of an image and its mask."""
    check_split(split)
    return (_example(split, seed, number, folder, side) for number in range(size))


def _example(split: str, seed: int, number: int, folder: Path | None, side: int) -> Pair:
    home = image_folder("cue-discs", folder, __file__) / f"seed-{seed}-{side}" / split
    paths = [home / kind / f"{number:06}.png" for kind in ("images", "masks")]
    if not all(path.is_file() for path in paths):
        for drawn, path in zip(draw(split, seed, number, side), paths, strict=True):
            save_image(drawn, path)
    return Pair(str(paths[0]), str(paths[1]))


def draw(split: str, seed: int, number: int, side: int = SIDE) -> tuple[Image, Image]:
    """One image and its mask."""
    random = np.random.default_rng((SPLITS.index(split), abs(seed), seed < 0, number, side))
    image = np.full((side, side), random.uniform(*_GROUND))
    mask = np.zeros((side, side), np.uint8)
    target = int(random.integers(4))
    for quarter in range(4):
        inside = _disc(quarter, side, random)
        image[inside] = random.uniform(*_DISC)
        if quarter == target:
            mask[inside] = TARGET
    half = max(2, round(_MARK * side / SIDE) // 2)
    image[: 2 * half, : 2 * half] = _DARK
    down, right = target // 2 * half, target % 2 * half
    image[down : down + half, right : right + half] = _BRIGHT
    noisy = image + random.normal(0, _NOISE, image.shape)
    return noisy.clip(0, 255).astype(np.uint8), mask


def _disc(quarter: int, side: int, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """A disc somewhere in a quarter of the image, clear of its edges and of the mark."""
    radius = random.uniform(*_RADII) * side
    half, clear = side / 2, radius + 1.5
    low = [(quarter // 2) * half + clear, (quarter % 2) * half + clear]
    high = [(quarter // 2 + 1) * half - clear, (quarter % 2 + 1) * half - clear]
    if quarter == 0:
        mark = _MARK * side / SIDE
        low = [mark + clear, mark + clear]
    centre = random.uniform(low, high)
    rows, columns = np.mgrid[0:side, 0:side]
    return np.asarray((rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 <= radius**2)
