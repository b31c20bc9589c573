"""What the codes of a corpus look like: a map of them, images beside what was made of them, a walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import UInt8

from regard.data.corpus import Corpus
from regard.show.reconstructed import CodeMap, Reconstructed
from regard.tasks.autoencoder import AutoEncoder
from regard.tasks.codes import Plane
from regard.tasks.references import once_each

MOST = 2000  # images of a split whose codes are drawn
SIDE = 12  # images of a row and of a column of the lattice
STEPS = 10  # of a walk
FLAT = 2  # numbers of a code that needs no projection


@dataclass(frozen=True)
class CodePictures:
    """A map of codes, some images beside what was made of them, and walks from one image to another."""

    codes: CodeMap
    rows: tuple[Reconstructed, ...]
    walks: tuple[UInt8[np.ndarray, "N h w C"], ...]


def map_codes(model: AutoEncoder, images: Sequence[Any], labels: Sequence[str], side: int = SIDE) -> CodeMap:
    """The codes of some images, and a lattice of codes decoded. Labels that are empty are none."""
    codes = model.encode(list(images))
    plane = Plane.of(codes)
    points = plane.points(codes)
    lattice = model.decode(plane.lattice(points, side))
    known = tuple(labels) if any(labels) else ()
    return CodeMap(points, known, lattice, exact=codes.shape[1] <= FLAT)


def picture_codes(model: AutoEncoder, corpus: Corpus, split: str, count: int) -> CodePictures:
    """All of it, of a split: `count` images are shown beside what was made of them."""
    rows = corpus.split(split)
    cells, labels = once_each(model.source, list(rows["source"]), [str(each) for each in rows["target"]])
    asked, _ = model.questions(cells[:count], labels[:count])
    shown = tuple(each.compared(None) for each in model.answer(asked, record=False))
    few = list(cells[: 2 * min(3, len(cells) // 2)])
    walks = tuple(model.interpolate(one, other, STEPS) for one, other in zip(few[::2], few[1::2], strict=True))
    return CodePictures(map_codes(model, cells[:MOST], [str(each) for each in labels[:MOST]]), shown, walks)
