"""What is done with codes, whatever they are of: walks between them, a lattice in them, and which are near.

Letters: N codes, Z numbers of a code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.errors import UsageError

BLOCK = 1024  # codes whose distance to all others is computed at a time
EDGE = 5.0  # percent of the codes that lie beyond the lattice, at each end


def checked_codes(codes: Any, width: int) -> Float[np.ndarray, "*N Z"]:
    """Codes as people hand them over: one, or a row each."""
    found = np.ascontiguousarray(codes, dtype=np.float32)
    if found.ndim not in (1, 2) or found.shape[-1] != width or not np.isfinite(found).all():
        told = " x ".join(map(str, found.shape)) or "a number"
        raise UsageError(
            f"codes: expected a code of {width} numbers, or a row for each of several; found {told}"
            f"{'' if np.isfinite(found).all() else ', not all of them finite'}."
        )
    return found


def steps_between(one: Float[np.ndarray, " Z"], other: Float[np.ndarray, " Z"], count: int) -> Float[np.ndarray, "N Z"]:
    """Codes in equal steps from the one to the other, both of them among them."""
    if count < 2:
        raise UsageError(f"expected two steps or more, both ends among them; found {count}.")
    shares = np.linspace(0, 1, count, dtype=np.float32)[:, None]
    return (1 - shares) * one + shares * other


def nearest_others(codes: Float[np.ndarray, "N Z"]) -> list[int]:
    """For each code the place of the nearest of the others."""
    rows = codes.astype(np.float64)
    squares, found = np.square(rows).sum(1), list[int]()
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK]
        distances = squares - 2 * some @ rows.T  # and their own squares, which are the same along a row
        distances[np.arange(len(some)), first + np.arange(len(some))] = np.inf  # itself
        found += distances.argmin(1).tolist()
    return found


@dataclass(frozen=True)
class Plane:
    """The plane through some codes in which they differ most: their first two principal components."""

    middle: Float[np.ndarray, " Z"]
    axes: Float[np.ndarray, "2 Z"]

    @classmethod
    def of(cls, codes: Float[np.ndarray, "N Z"]) -> Plane:
        """Of codes with two numbers it is what they span, unturned."""
        middle = codes.mean(0)
        if codes.shape[1] < 3:
            return cls(middle, np.eye(2, codes.shape[1], dtype=np.float32))
        _, _, directions = np.linalg.svd(codes - middle, full_matrices=False)
        axes = np.zeros((2, codes.shape[1]), np.float32)
        axes[: len(directions)] = directions[:2]
        return cls(middle, axes)

    def points(self, codes: Float[np.ndarray, "N Z"]) -> Float[np.ndarray, "N 2"]:
        """Where codes lie in it."""
        return (codes - self.middle) @ self.axes.T

    def lattice(self, points: Float[np.ndarray, "N 2"], side: int) -> Float[np.ndarray, "M Z"]:
        """Codes on a regular grid of `side` x `side` points, row by row from the top, over where most points lie."""
        low, high = np.percentile(points, [EDGE, 100 - EDGE], axis=0)
        across, down = (np.linspace(low[axis], high[axis], side) for axis in (0, 1))
        grid = np.stack(np.meshgrid(across, down[::-1]), -1).reshape(-1, 2)
        return (self.middle + grid @ self.axes).astype(np.float32)
