"""Shapes: small images of a circle, a square, a triangle or a cross, in any place, size and colour, with noise.

Each image is decided by seed, split and number, and lies as a PNG file in the cache, drawn when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from regard.data.files import cache_folder
from regard.data.pair import Pair
from regard.data.splits import SPLITS, check_split
from regard.errors import DataError

LABELS = ("circle", "cross", "square", "triangle")
SIZE = 32  # pixels of a side
_SMALLEST, _LARGEST = 6.0, 12.0  # half the width of a shape
_NOISE = 18.0  # standard deviation of a channel's noise, of 255
_CONTRAST = 90.0  # how far the colour of a shape is from its ground, at least (of 441)

Image = npt.NDArray[np.uint8]


def generate(*, split: str, size: int, seed: int = 0, folder: Path | None = None) -> Iterator[Pair]:
    """Draw `size` images; each source is the path of its file, under `folder` (else the cache)."""
    check_split(split)
    return (_example(split, seed, number, folder) for number in range(size))


def _example(split: str, seed: int, number: int, folder: Path | None) -> Pair:
    image, label = draw(split, seed, number)
    path = image_folder(folder) / f"seed-{seed}" / split / label / f"{number:06}.png"
    if not path.is_file():
        _save(image, path)
    return Pair(str(path), label)


def image_folder(folder: Path | None = None) -> Path:
    """Where the images lie. The name changes whenever the code that draws them does."""
    return (folder or cache_folder()).resolve() / "images" / f"shapes-{_version()}"


@cache
def _version() -> str:
    return blake2b(Path(__file__).read_bytes(), digest_size=4).hexdigest()


def draw(split: str, seed: int, number: int) -> tuple[Image, str]:
    """One image and its label."""
    random = np.random.default_rng((SPLITS.index(split), abs(seed), seed < 0, number))
    label = LABELS[random.integers(len(LABELS))]
    half = random.uniform(_SMALLEST, _LARGEST)
    centre = random.uniform(half, SIZE - 1 - half, 2)
    ground, colour = _colours(random)
    image = np.where(_inside(label, centre, half)[..., None], colour, ground)
    return (image + random.normal(0, _NOISE, image.shape)).clip(0, 255).astype(np.uint8), label


def _colours(random: np.random.Generator) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Two colours that can be told apart."""
    while True:
        ground, colour = random.uniform(0, 255, (2, 3))
        if np.linalg.norm(ground - colour) > _CONTRAST:
            return ground, colour


def _inside(label: str, centre: npt.NDArray[np.float64], half: float) -> npt.NDArray[np.bool_]:
    """Which pixels belong to the shape."""
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    down, right = rows - centre[0], columns - centre[1]
    if label == "circle":
        return np.asarray(down**2 + right**2 <= half**2)
    box = np.maximum(abs(down), abs(right)) <= half
    if label == "square":
        return np.asarray(box)
    if label == "triangle":  # its tip is above
        return np.asarray(box & (2 * abs(right) <= down + half))
    return np.asarray(box & (np.minimum(abs(down), abs(right)) <= half / 3))


def _save(image: Image, path: Path) -> None:
    """Write a file to a temporary name and rename it: two processes may draw the same one."""
    from PIL import Image as Pillow

    scratch = path.with_name(f".{path.stem}-{uuid4().hex[:8]}.png")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Pillow.fromarray(image).save(scratch, "PNG")
        scratch.replace(path)
    except OSError as failure:
        hint = "Set REGARD_CACHE to a folder you may write to."
        raise DataError(f"{path}: cannot be written: {failure.strerror}.", hint=hint) from None
