"""Repeats: some words drawn at random, and the same words again: unforeseeable once, and certain the second time.

    w3 w17 w9 w9 w1 again w3 w17 w9 w9 w1

A model that can look back finds in the second half what it has to write; one that cannot has to carry all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from regard.data.pair import Pair
from regard.data.splits import check_split, draw_distinct, split_of

WORDS = tuple(f"w{number}" for number in range(48))
LENGTH = 20
AGAIN = "again"


def generate(*, split: str, size: int, seed: int = 0) -> Iterator[Pair]:
    """Draw `size` distinct lines; the split of a line is decided by the line. Nothing is read: the source is empty."""
    check_split(split)
    random = Random(f"repeats {split} {seed}")
    drawn = draw_distinct(partial(_draw, random, split), size)
    return (Pair("", each.source) for each in drawn)


def _draw(random: Random, split: str) -> Pair | None:
    words = random.choices(WORDS, k=LENGTH)
    text = " ".join([*words, AGAIN, *words])
    return Pair(text, "") if split_of(text) == split else None
