"""Which split a line belongs to: a property of the line itself, so that splits never overlap.

The rule is a stable hash (never Python's own `hash`, which changes from run to run): of a hundred lines about
ninety are for training, five for validation and five for testing, whatever the seed and the size asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b

from regard.data.pair import Pair
from regard.errors import UnknownName, UsageError

SPLITS = ("train", "val", "test")
_PATIENCE = 2_000  # draws without a new line before we say that there are no more


def digest(text: str) -> int:
    """A 64-bit number that depends on the text alone."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def split_of(text: str) -> str:
    """The split that a line belongs to: `train` (90 %), `val` (5 %) or `test` (5 %)."""
    bucket = digest(text) % 100
    if bucket < 90:
        return "train"
    return "val" if bucket < 95 else "test"


def check_split(split: str) -> str:
    """The same name, or an error that lists the splits there are."""
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    return split


def draw_distinct(draw: Callable[[], Pair | None], size: int) -> Iterator[Pair]:
    """Draw until there are `size` pairs with different sources; a draw may come up empty."""
    seen: set[int] = set()  # numbers, not lines: millions of them fit in memory
    misses = 0
    while len(seen) < size:
        pair = draw()
        key = None if pair is None else digest(pair.source)
        if pair is not None and key is not None and key not in seen:
            seen.add(key)
            misses = 0
            yield pair
            continue
        misses += 1
        if misses > _PATIENCE:
            raise UsageError(
                f"{size} different lines were asked for; there are only about {len(seen)} in this split.",
                hint="Ask for fewer pairs, or allow more kinds of lines.",
            )
