"""Where in an image the words of its caption are: `0.25,0,0.5,0.25-2` links a box to a word.

A box is left, top, right and bottom, as shares of width and height, so that it is right whatever size the image is
brought to. Words are counted from 0 between spaces, as those of word links are. A corpus of captions keeps them in its
column `links`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from regard.data.rows import Row

Box = tuple[float, float, float, float]  # left, top, right, bottom, from 0 to 1

_NUMBER = r"(\d+(?:\.\d+)?)"
_PLACE = re.compile(",".join([_NUMBER] * 4) + r"-(\d+)")


@dataclass(frozen=True)
class Place:
    """A word, by its number, and the box of what it names."""

    word: int
    box: Box

    def holds(self, right: float, down: float) -> bool:
        """Is a point, from 0 to 1 in both directions, inside the box?"""
        left, top, end, bottom = self.box
        return left <= right <= end and top <= down <= bottom


def write_places(places: Sequence[Place]) -> str:
    """All of one caption, in a line."""
    return " ".join(f"{','.join(f'{edge:.4g}' for edge in each.box)}-{each.word}" for each in places)


def read_places(line: str) -> tuple[Place, ...]:
    """What `write_places` wrote; what is no place is left out (see `wrong_places`)."""
    found = filter(None, map(_PLACE.fullmatch, line.split()))
    return tuple(
        Place(int(each[5]), (float(each[1]), float(each[2]), float(each[3]), float(each[4]))) for each in found
    )


def wrong_places(row: Row) -> str | None:
    """What is wrong with the places of a caption's words, or nothing."""
    words = len(row.target.split())
    for item in (row.links or "").split():
        if not _PLACE.fullmatch(item):
            return f"'{item}' is no place such as 0.25,0,0.5,0.25-2 (left, top, right, bottom; the word)"
        (place,) = read_places(item)
        left, top, right, bottom = place.box
        if not (left < right <= 1 and top < bottom <= 1):
            return f"'{item}' is no box inside the image: its edges are shares of width and height"
        if place.word >= words:
            return f"'{item}' names word {place.word}, counted from 0; the caption has {words}"
    return None
