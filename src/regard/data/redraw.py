"""Which of several formulas an image shows: each is drawn again, as large as the image is, and laid over it.

The size of a formula's letters is not known, so it is drawn in the sizes that give about the width of the image, a
quarter of a pixel from one to the next: of a right formula one of them fits to the pixel, and a letter that is another
one stands out, however small.
That holds for images that are drawn as ours are. Of others (TeX's own spaces and letters are a little different)
nothing looks enough like the image, and what the model likes best stays first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8
from numpy.lib.stride_tricks import sliding_window_view

from regard.data.mathtext import DOTS, draw_formula

SAME = 0.997  # of two images that differ by little noise; nothing else is looked at then
SURE = 0.95  # of two images of one size; another is not looked for then
ALIKE = 0.5  # below, no image looks like another
_INK = 0.35  # how dark a pixel is that is ink for certain
_WIDER = tuple(
    sorted((step / 4 for step in range(-6, 7)), key=abs)
)  # pixels than the image that a drawing is asked for
_NEAR = 5  # sizes that are tried where one is known
_OFF = 1  # pixels that a drawing is moved by at most, up, down and sideways
_PROPORTION = 1.3  # how many times wider for its height than the image nothing is that looks like it
Ink = Float[np.ndarray, "i j"]  # cut


def most_alike(image: UInt8[np.ndarray, "h w"], formulas: Sequence[str]) -> list[int]:
    """The places of formulas, the one that `image` (black on white) shows first, the others as they were."""
    usual = list(range(len(formulas)))
    ink, found, size = cut_to_ink(image), list[Fit](), 0.0
    if ink is None:
        return usual
    for formula in formulas:
        found.append(fit(ink, formula, size))
        if found[-1].likeness >= SAME:
            break
        size = max((each for each in found if each.likeness >= SURE), default=Fit()).dots
    best = max(range(len(found)), key=lambda place: found[place].likeness, default=0)
    if not found or found[best].likeness < ALIKE:
        return usual
    return [best, *(each for each in usual if each != best)]


def cut_to_ink(image: UInt8[np.ndarray, "h w"]) -> Ink | None:
    """How dark each pixel is, from 0 to 1, within the box around what is ink for certain; None where nothing is."""
    dark = 1 - image.astype(np.float32) / 255
    rows, columns = (np.flatnonzero((dark > _INK).any(axis)) for axis in (1, 0))
    return dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) else None


@dataclass(frozen=True, order=True)
class Fit:
    """How much a formula looks like an image at its best: the square of their correlation, and its dots an inch."""

    likeness: float = 0.0
    dots: float = 0.0


def likeness(ink: Ink, formula: str) -> float:
    """How much a formula looks like an image: 1 where both are the same."""
    return fit(ink, formula).likeness


def fit(ink: Ink, formula: str, known: float = 0.0) -> Fit:
    """Draw a formula in each size that is about as wide as the image; where one is `known`, in those next to it."""
    best = Fit()
    for display in (True, False) if r"\frac" in formula else (False,):
        for dots in _sizes(ink, formula, display, known):
            drawn = draw_formula(formula, dots=dots, display=display)
            cut = None if drawn is None else cut_to_ink(drawn)
            best = best if cut is None else max(best, Fit(_overlap(ink, cut), dots))
            if best.likeness >= SAME:
                return best
    return best


def _sizes(ink: Ink, formula: str, display: bool, known: float) -> list[float]:
    """Dots an inch with which a formula is about as wide as the image; none if its proportions are others."""
    plain = draw_formula(formula, display=display)
    usual = None if plain is None else cut_to_ink(plain)
    if usual is None:
        return []
    (height, width), (high, wide) = ink.shape, usual.shape
    # Of what is one letter high a pixel more or less is much.
    if not 1 / _PROPORTION < ((height + 2) * wide) / ((high + 2) * width) < _PROPORTION:
        return []
    sizes = [DOTS * max(1.0, width + step) / wide for step in _WIDER]
    return sorted(sizes, key=lambda size: abs(size - known))[:_NEAR] if known else sizes


def _overlap(ink: Ink, drawn: Float[np.ndarray, "h w"]) -> float:
    """The square of the correlation, wherever in reach it is largest."""
    height, width = (max(pair) for pair in zip(ink.shape, drawn.shape, strict=True))
    room = np.zeros((height + 2 * _OFF, width + 2 * _OFF), np.float32)
    room[_OFF : _OFF + ink.shape[0], _OFF : _OFF + ink.shape[1]] = ink
    reach = 2 * _OFF + 1
    places = sliding_window_view(room, drawn.shape)[:reach, :reach]
    products = np.einsum("ijhw,hw->ij", places, drawn)
    return float(products.max() ** 2 / ((ink**2).sum() * (drawn**2).sum()))
