"""Metrics of masks, which are texts like all answers (see `data.masks`): each is found image by image, then the mean.

Of several classes each image's value is the mean over those that are there or were found, without the ground, which is
the first. Where nothing is to be found and nothing was, all is right. Pixels without a class are not looked at.

Letters: H rows and W columns of pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, UInt8

from regard.data.masks import NO_CLASS, mask_of
from regard.errors import UsageError
from regard.evaluate.counts import Counted, Reference, matched, percent, signed

UNIT = 1_000_000  # the counts of a bootstrap are whole numbers: values of an image in millionths
TOLERANCE = 0.0075  # of an image's diagonal: how far a boundary may be off (Csurka et al. 2013), a pixel at least
Overlap = tuple[int, int, int]  # pixels that are found and right, found, and right
Measure = Callable[[Overlap], float | None]


def dice(overlap: Overlap) -> float | None:
    """Twice what both have, by the size of both."""
    both, found, right = overlap
    return 2 * both / (found + right) if found + right else None


def iou(overlap: Overlap) -> float | None:
    """What both have, by what either has."""
    both, found, right = overlap
    return both / (found + right - both) if found + right else None


def recall(overlap: Overlap) -> float | None:
    """The share of what is right that was found."""
    both, _, right = overlap
    return both / right if right else None


def precision(overlap: Overlap) -> float | None:
    """The share of what was found that is right."""
    both, found, _ = overlap
    return both / found if found else None


def count_dice(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Dice of each image."""
    return _counted("Dice", dice, outputs, references)


def count_iou(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Intersection over union of each image."""
    return _counted("IoU", iou, outputs, references)


def count_recall(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """The share of the right pixels that were found, of each image that has some."""
    return _counted("pixel recall", recall, outputs, references)


def count_precision(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """The share of the found pixels that are right, of each image in which some were found."""
    return _counted("pixel precision", precision, outputs, references)


def count_boundary(outputs: Sequence[str], references: Sequence[Reference], tolerance: float | None = None) -> Counted:
    """F1 of the boundaries: the shares of the found and of the right ones that lie within `tolerance` pixels.

    Without one it is 0.75 % of the image's diagonal, at least a pixel.
    """
    told = "0.75%" if tolerance is None else f"{tolerance:g}px"
    rows = []
    for found, right, count in _pairs(outputs, references):
        near = tolerance if tolerance is not None else max(1.0, TOLERANCE * float(np.hypot(*right.shape)))
        values = [_boundary_f1(found == each, right == each, near) for each in range(1, count)]
        rows.append(_row(values, empty=1.0))
    return _signed("boundary F1", rows, f"tolerance:{told}")


def _counted(name: str, measure: Measure, outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    empty = None if measure in (recall, precision) else 1.0  # nothing to be found, and nothing found: all is right
    rows = []
    for output, reference in zip(outputs, matched(outputs, references), strict=True):
        values = [measure(each) for each in overlaps(output, reference[0])]
        rows.append(_row(values, empty))
    return _signed(name, rows)


def _row(values: Sequence[float | None], empty: float | None) -> tuple[int, int]:
    """The value of an image in units, and the units of which it is the mean; nothing of one that has no value."""
    known = [each for each in values if each is not None]
    if not known:
        return (0, 0) if empty is None else (round(empty * UNIT), UNIT)
    return round(UNIT * sum(known) / len(known)), UNIT


def _signed(name: str, rows: Sequence[tuple[int, int]], more: str = "") -> Counted:
    tail = "|".join(filter(None, ("mean:images", "classes:all but the first", more)))
    return Counted(name, np.array(rows, np.int64), percent, lambda seed: signed(seed, "", tail))


@lru_cache(maxsize=4096)
def overlaps(output: str, reference: str) -> tuple[Overlap, ...]:
    """Of each class but the first."""
    ((found, right, count),) = _pairs([output], [reference])
    pairs = np.bincount(found.ravel().astype(np.int64) * count + right.ravel(), minlength=count * count)
    table = pairs.reshape(count, count)
    return tuple(
        (int(table[each, each]), int(table[each].sum()), int(table[:, each].sum())) for each in range(1, count)
    )


def _pairs(
    outputs: Sequence[str], references: Sequence[Reference]
) -> Iterator[tuple[UInt8[np.ndarray, "H W"], UInt8[np.ndarray, "H W"], int]]:
    """Each found mask beside the right one, and how many classes there are; what has no class is ground in both."""
    for place, (output, given) in enumerate(zip(outputs, matched(outputs, references), strict=True)):
        try:
            (found, one), (right, other) = mask_of(output), mask_of(given[0])
        except ValueError as why:
            raise UsageError(f"image {place + 1}: {why}.", hint="Masks are compared with masks.") from why
        if found.shape != right.shape:
            told = [f"{mask.shape[0]} x {mask.shape[1]}" for mask in (right, found)]
            raise UsageError(f"image {place + 1}: expected a mask of {told[0]} pixels; found one of {told[1]}.")
        known = right != NO_CLASS
        nothing = np.uint8(0)
        yield np.where(known & (found != NO_CLASS), found, nothing), np.where(known, right, nothing), max(one, other)


def _boundary_f1(found: Bool[np.ndarray, "H W"], right: Bool[np.ndarray, "H W"], near: float) -> float | None:
    if not found.any() and not right.any():
        return None
    if not found.any() or not right.any():
        return 0.0
    edges = [_boundary(each) for each in (found, right)]
    shares = [_share_near(one, other, near) for one, other in (edges, edges[::-1])]
    return 2 * shares[0] * shares[1] / sum(shares) if sum(shares) else 0.0


def _boundary(inside: Bool[np.ndarray, "H W"]) -> Bool[np.ndarray, "H W"]:
    """The pixels of a mask with a neighbour, above, below or beside, that is none; the image's edge bounds too."""
    wide = np.pad(inside, 1)
    all_around = wide[:-2, 1:-1] & wide[2:, 1:-1] & wide[1:-1, :-2] & wide[1:-1, 2:]
    return inside & ~all_around


def _share_near(one: Bool[np.ndarray, "H W"], other: Bool[np.ndarray, "H W"], near: float) -> float:
    """The share of the pixels of one that have a pixel of the other within so many pixels."""
    reach = int(near)
    wide = np.pad(other, reach)
    height, width = one.shape
    found = np.zeros_like(one)
    for down in range(-reach, reach + 1):
        for across in range(-reach, reach + 1):
            if down * down + across * across <= near * near:
                found |= wide[reach + down : reach + down + height, reach + across : reach + across + width]
    return float(found[one].mean())
