"""Scenes: coloured shapes on a grid, each image with the one caption that says what stands where.

A scene has 1 to 6 objects in the cells of a grid of 3 x 3 or 4 x 4. Its caption names them in the order of reading, row
by row, and between two of them says how they stand: "left of" in the same row, else "above". So there is one right
caption for every image, and the cell of what each noun names is known (see `places`). Each scene is decided by seed,
split and number, and lies as a PNG file in the cache, drawn when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.data import shapes
from regard.data.drawn import Image, image_folder, save_image
from regard.data.pair import Pair
from regard.data.places import Place, write_places
from regard.data.shapes import LABELS, inside
from regard.data.splits import SPLITS, check_split

SIZE = 64  # pixels of a side
GRIDS = (3, 4)  # cells of a side
MOST = 6  # objects
COLOURS = {
    "red": (215, 40, 40),
    "green": (45, 165, 65),
    "blue": (50, 90, 225),
    "yellow": (235, 195, 30),
    "purple": (150, 60, 190),
    "black": (30, 30, 30),
}
_SMALLEST, _LARGEST = 0.34, 0.46  # half the width of an object, of its cell
_DARKEST, _LIGHTEST = 200.0, 245.0  # of the ground, which is a light grey
_SHADE = 18.0  # how far a channel of an object may be from its colour


@dataclass(frozen=True)
class Thing:
    """One object: what it is, and the cell it stands in, of how many in a row."""

    colour: str
    shape: str
    row: int
    column: int
    cells: int


@dataclass(frozen=True)
class Scene(Pair):
    """The file of an image, its caption, and where what each noun names stands."""

    places: tuple[Place, ...] = ()

    def gold(self) -> str:
        """The places, in a line."""
        return write_places(self.places)


def generate(*, split: str, size: int, seed: int = 0, folder: Path | None = None) -> Iterator[Pair]:
    """Draw `size` scenes; each source is the path of its file, under `folder` (else the cache)."""
    check_split(split)
    return (_example(split, seed, number, folder) for number in range(size))


def _example(split: str, seed: int, number: int, folder: Path | None) -> Scene:
    image, things = draw(split, seed, number)
    path = image_folder("scenes", folder, __file__, shapes.__file__) / f"seed-{seed}" / split / f"{number:06}.png"
    if not path.is_file():
        save_image(image, path)
    return Scene(str(path), *_described(things))


def draw(split: str, seed: int, number: int) -> tuple[Image, list[Thing]]:
    """One image, and its objects in the order of reading."""
    random = np.random.default_rng((SPLITS.index(split), abs(seed), seed < 0, number, SIZE))
    shares = np.arange(MOST, 0, -1) / np.arange(1, MOST + 1).sum()  # the more objects, the rarer
    count, cells = int(random.choice(MOST, p=shares)) + 1, int(random.choice(GRIDS))
    image = np.full((SIZE, SIZE, 3), float(random.uniform(_DARKEST, _LIGHTEST)))
    things = []
    for cell in sorted(random.choice(cells * cells, count, replace=False).tolist()):
        colour, shape = str(random.choice(list(COLOURS))), str(random.choice(LABELS))
        things.append(Thing(colour, shape, cell // cells, cell % cells, cells))
        _paint(image, things[-1], random)
    return image.clip(0, 255).astype(np.uint8), things


def _paint(image: npt.NDArray[np.float64], thing: Thing, random: np.random.Generator) -> None:
    """Put an object somewhere in its cell, in some shade of its colour."""
    step = SIZE / thing.cells
    half = step * random.uniform(_SMALLEST, _LARGEST)
    free = step / 2 - half
    centre = (np.array([thing.row, thing.column]) + 0.5) * step - 0.5 + random.uniform(-free, free, 2)
    shade = np.array(COLOURS[thing.colour]) + random.uniform(-_SHADE, _SHADE, 3)
    image[inside(thing.shape, centre, half, SIZE)] = shade


def _described(things: Sequence[Thing]) -> tuple[str, tuple[()], tuple[()], tuple[Place, ...]]:
    """The caption; no links between words; and where what its nouns name stands."""
    words: list[str] = []
    places = []
    for number, thing in enumerate(things):
        if number:
            words += ["left", "of"] if things[number - 1].row == thing.row else ["above"]
        words += ["a", thing.colour, thing.shape]
        edges = (thing.column, thing.row, thing.column + 1, thing.row + 1)
        left, top, right, bottom = (edge / thing.cells for edge in edges)
        places.append(Place(len(words) - 1, (left, top, right, bottom)))
    return " ".join(words), (), (), tuple(places)
