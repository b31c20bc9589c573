"""Toy tasks whose right attention is known: copy, reverse, sort and lookup.

    copy      b a d        ->  b a d        word j of the target comes from word j
    reverse   b a d        ->  d a b        word j comes from word n-1-j
    sort      b a b        ->  a b b        equal words keep their order (sure); their twins are possible
    lookup    c=3 a=7 c?   ->  3            from the slot asked for (sure) and the question itself (possible)

The first three draw 3 to 20 words from 20 symbols. Lookup has 16 slots in a random order, each with one of 8
classes, and a query. Lengths, symbols, slots and classes can be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from string import ascii_lowercase

from regard.data.pair import Link, Pair
from regard.data.splits import check_split, draw_distinct, split_of
from regard.errors import UnknownName, UsageError


@dataclass(frozen=True)
class Sizes:
    """How large the lines of the toy tasks are."""

    shortest: int = 3  # words of a line of copy, reverse and sort
    longest: int = 20
    symbols: int = 20
    slots: int = 16  # of lookup
    classes: int = 8

    def __post_init__(self) -> None:
        if min(self.shortest, self.symbols, self.slots, self.classes) < 1 or self.longest < self.shortest:
            raise UsageError(f"sizes of a toy task are 1 or more, shortest <= longest; found {self}.")


Task = Callable[[Random, Sizes], Pair]


def generate(task: str, *, split: str, size: int, seed: int = 0, sizes: Sizes | None = None) -> Iterator[Pair]:
    """Draw `size` distinct pairs of a toy task; the split of a pair is decided by its source line."""
    if task not in TASKS:
        raise UnknownName("toy task", task, TASKS)
    check_split(split)
    random = Random(f"{task} {split} {seed}")
    draw = partial(_draw, TASKS[task], random, sizes or Sizes(), split)
    return draw_distinct(draw, size)


def _draw(task: Task, random: Random, sizes: Sizes, split: str) -> Pair | None:
    pair = task(random, sizes)
    return pair if split_of(pair.source) == split else None


def _copy(random: Random, sizes: Sizes) -> Pair:
    words = _line(random, sizes)
    return _pair(words, words, tuple((place, place) for place in range(len(words))))


def _reverse(random: Random, sizes: Sizes) -> Pair:
    words = _line(random, sizes)
    last = len(words) - 1
    return _pair(words, words[::-1], tuple((place, last - place) for place in range(len(words))))


def _sort(random: Random, sizes: Sizes) -> Pair:
    words = _line(random, sizes)
    order = sorted(range(len(words)), key=words.__getitem__)  # stable: equal words keep their order
    target = [words[place] for place in order]
    sure = tuple(sorted((place, rank) for rank, place in enumerate(order)))
    twins = {(s, t) for s, word in enumerate(words) for t, other in enumerate(target) if word == other}
    return _pair(words, target, sure, tuple(sorted(twins - set(sure))))


def _lookup(random: Random, sizes: Sizes) -> Pair:
    slots = symbols(sizes.slots)
    random.shuffle(slots)
    classes = [str(random.randint(1, sizes.classes)) for _ in slots]
    asked = random.randrange(len(slots))
    words = [f"{slot}={label}" for slot, label in zip(slots, classes, strict=True)] + [f"{slots[asked]}?"]
    return _pair(words, [classes[asked]], ((asked, 0),), ((len(slots), 0),))


TASKS: dict[str, Task] = {"copy": _copy, "reverse": _reverse, "sort": _sort, "lookup": _lookup}


def symbols(count: int) -> list[str]:
    """That many words of equal width, in alphabetical order: a to z, or aa, ab ... where letters run out."""
    words = [""]
    while len(words) < count:
        words = [word + letter for word in words for letter in ascii_lowercase]
    return words[:count]


def _line(random: Random, sizes: Sizes) -> list[str]:
    length = random.randint(sizes.shortest, sizes.longest)
    return random.choices(symbols(sizes.symbols), k=length)


def _pair(source: list[str], target: list[str], sure: tuple[Link, ...], possible: tuple[Link, ...] = ()) -> Pair:
    return Pair(" ".join(source), " ".join(target), sure, possible)
