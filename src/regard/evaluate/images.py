"""Images that were made against those that are right: how far apart their pixels are.

An answer has `values`, the light of each of its numbers (0 is none, 1 is all), and `read`, the pixels of what it was
made of; the right image has pixels from 0 to 255. Counts are whole numbers, so squares are kept in steps of 2^-20.

Letters: h rows and w columns of pixels, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, UInt8

from regard.errors import ShapeError
from regard.evaluate.counts import Counted, equal_counts, signed

Pixels: TypeAlias = UInt8[np.ndarray, "h w C"]
CountImages: TypeAlias = Callable[[Sequence[Any], Sequence[Any]], Counted]
STEP = 2**20
WHITE = 255
BEST = 100.0  # decibels of an image that is the right one


def squared_error(values: Float[np.ndarray, "h w C"], right: Pixels) -> float:
    """The sum over all numbers of an image of how far it is from the right one, squared."""
    if values.shape != right.shape:
        raise ShapeError(f"expected images of one size; found {values.shape} and {right.shape}.")
    return float(np.square(values.astype(np.float64) - right / WHITE).sum())


def count_mse(answers: Sequence[Any], references: Sequence[Pixels]) -> Counted:
    """The squared error of each image, and how many numbers it has."""
    return Counted("MSE", _rows(answers, references), _mean, lambda seed: signed(seed, "", "light:0-1"))


def count_psnr(answers: Sequence[Any], references: Sequence[Pixels]) -> Counted:
    """The same counts, as decibels below the light of white: the peak signal-to-noise ratio of all images together."""
    return Counted("PSNR", _rows(answers, references), _decibels, lambda seed: signed(seed, "", "light:0-1"))


def count_noise(answers: Sequence[Any], references: Sequence[Pixels]) -> Counted:
    """The squared error of each answer, and that of what it was made of: below 100 % it is the nearer one."""
    equal_counts(answers=len(answers), references=len(references))
    rows = [
        (_steps(squared_error(each.values, right)), _steps(squared_error(each.read / WHITE, right)))
        for each, right in zip(answers, references, strict=True)
    ]
    return Counted("noise left", np.array(rows, np.int64), _share, lambda seed: signed(seed, "", "light:0-1"))


def _rows(answers: Sequence[Any], references: Sequence[Pixels]) -> np.ndarray:
    equal_counts(answers=len(answers), references=len(references))
    pairs = zip(answers, references, strict=True)
    return np.array([(_steps(squared_error(each.values, right)), right.size) for each, right in pairs], np.int64)


def _steps(error: float) -> int:
    return round(error * STEP)


def _mean(sums: list[int]) -> float:
    error, count = sums
    return error / STEP / max(1, count)


def _decibels(sums: list[int]) -> float:
    error = _mean(sums)
    return BEST if not error else min(BEST, -10 * math.log10(error))


def _share(sums: list[int]) -> float:
    left, there = sums
    return 100 * left / there if there else 100.0
