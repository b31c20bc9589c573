"""Needle: a few telling words among many that say nothing, so that it is known what must be looked at.

    w17 w140 w3 w88 ... w12 ... w61  ->  pos

Most words are noise. Some of them (3 of 40) come from two small sets, one positive and one negative; the label is that
of the majority. The places of these words are the gold links of a pair (`3-0`: word 3 to the label).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from random import Random

from regard.data.pair import Pair
from regard.data.splits import check_split, draw_distinct, split_of
from regard.errors import UsageError

LABELS = ("neg", "pos")


@dataclass(frozen=True)
class Sizes:
    """How long the lines are and how many words there are: the first are positive, the next negative, then noise."""

    length: int = 40
    signals: int = 3  # telling words in a line; an odd number, so that one side has more
    vocabulary: int = 200
    each: int = 5  # words of either set

    def __post_init__(self) -> None:
        if self.signals % 2 == 0 or not 0 < self.signals <= self.length:
            raise UsageError(
                f"signals: expected an odd number from 1 to the length {self.length}; found {self.signals}."
            )
        if self.each < 1 or self.vocabulary <= 2 * self.each:
            raise UsageError(
                f"vocabulary: expected more than the {2 * self.each} telling words; found {self.vocabulary}."
            )

    @cached_property
    def positive(self) -> tuple[str, ...]:
        """The words that speak for `pos`."""
        return tuple(f"w{number}" for number in range(self.each))

    @cached_property
    def negative(self) -> tuple[str, ...]:
        """The words that speak for `neg`."""
        return tuple(f"w{number}" for number in range(self.each, 2 * self.each))

    @cached_property
    def telling(self) -> frozenset[str]:
        """Both."""
        return frozenset((*self.positive, *self.negative))

    @cached_property
    def noise(self) -> tuple[str, ...]:
        """The words that say nothing."""
        return tuple(f"w{number}" for number in range(2 * self.each, self.vocabulary))


_USUAL = Sizes()


def generate(*, split: str, size: int, seed: int = 0, sizes: Sizes | None = None) -> Iterator[Pair]:
    """Draw `size` distinct lines with their labels; the split of a line is decided by the line."""
    check_split(split)
    random = Random(f"needle {split} {seed}")
    return draw_distinct(partial(_draw, random, sizes or _USUAL, split), size)


def signals(text: str, sizes: Sizes | None = None) -> tuple[int, ...]:
    """The places of the telling words of a line, counted from 0."""
    telling = (sizes or _USUAL).telling
    return tuple(place for place, word in enumerate(text.split()) if word in telling)


def label_of(text: str, sizes: Sizes | None = None) -> str:
    """The label of a line: the majority of its telling words."""
    known = sizes or _USUAL
    telling = [word for word in text.split() if word in known.telling]
    return LABELS[2 * sum(word in known.positive for word in telling) > len(telling)]


def _draw(random: Random, sizes: Sizes, split: str) -> Pair | None:
    words = random.choices(sizes.noise, k=sizes.length)
    places = sorted(random.sample(range(sizes.length), sizes.signals))
    for place in places:
        words[place] = random.choice(random.choice((sizes.positive, sizes.negative)))
    text = " ".join(words)
    if split_of(text) != split:
        return None
    return Pair(text, label_of(text, sizes), tuple((place, 0) for place in places))
