"""Pointing accuracy: do the words of a caption look at what they name?

Of every word whose place in the image is known, the cell with the largest weight is taken (of equal ones the first),
and it is a hit if its middle lies in the box. (Zhang et al. 2016 call it the pointing game.)

Letters: W words, i rows and j columns of cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from regard.data.places import Box, Place
from regard.evaluate.counts import Counted, equal_counts, percent, signed


def count_pointing(looked: Sequence[Float[np.ndarray, "_ _ _"]], places: Sequence[Sequence[Place]]) -> Counted:
    """Of each image: the words that look at what they name, and the words whose place is known."""
    equal_counts(images=len(looked), places=len(places))
    rows = []
    for weights, known in zip(looked, places, strict=True):
        inside = [each.holds(*peak(weights[each.word])) for each in known if each.word < len(weights)]
        rows.append((sum(inside), len(known)))
    return Counted("pointing accuracy", np.array(rows, np.int64), percent, lambda seed: signed(seed, "", "box:middle"))


def peak(weights: Float[np.ndarray, "i j"]) -> tuple[float, float]:
    """The middle of the cell with the largest weight: how far right and how far down, from 0 to 1."""
    left, top, right, bottom = peak_box(weights)
    return (left + right) / 2, (top + bottom) / 2


def peak_box(weights: Float[np.ndarray, "i j"]) -> Box:
    """The cell with the largest weight (of equal ones the first): left, top, right and bottom, from 0 to 1."""
    rows, columns = weights.shape
    row, column = divmod(int(weights.argmax()), columns)
    return column / columns, row / rows, (column + 1) / columns, (row + 1) / rows
