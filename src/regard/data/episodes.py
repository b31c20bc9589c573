"""Episodes: a few labelled images of each of a few classes, and images of the same classes to be told.

An `Episode` is what a person asks. An item of it holds pictures, which are read when a batch is made: a corpus of
drawings may be larger than memory, and of what is drawn only a part is seen in an epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from regard.errors import BrokenData

Shown = tuple[Any, str]  # an image and its class


@dataclass(frozen=True)
class Episode:
    """Labelled images in the order they are shown, and the image that is asked about."""

    support: tuple[Shown, ...]
    query: Any

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that are shown, in the order of their first image."""
        return tuple(dict.fromkeys(name for _, name in self.support))

    def __len__(self) -> int:
        return len(self.support) + 1

    def __str__(self) -> str:
        return str(self.query)


@dataclass(frozen=True)
class Picture:
    """An image that has yet to be read: turned by so many quarters, and changed as `seed` draws, if there is one."""

    cell: Any
    turns: int = 0
    seed: int | None = None


@dataclass(frozen=True)
class Row:
    """A row of a corpus, of which episodes are made, to be learnt from or to be asked about."""

    cell: Any
    learnt: bool = False


@dataclass(frozen=True)
class EpisodeItem:
    """Pictures that are shown, the number of the class of each, and pictures that are asked about."""

    support: tuple[Picture, ...]
    numbers: tuple[int, ...]
    queries: tuple[Picture, ...]
    names: tuple[str, ...] = ()  # of the classes, by number

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All of them, what is shown first."""
        return self.support + self.queries


@dataclass(frozen=True)
class Shape:
    """How many classes an episode has (ways), examples of each (shots), and images that are asked about (queries)."""

    ways: int
    shots: int
    queries: int = 1

    def __str__(self) -> str:
        return f"{self.ways}-way {self.shots}-shot"

    @property
    def least(self) -> int:
        """Images that a class must have."""
        return self.shots + 1

    def check(self, classes: Mapping[str, Sequence[Any]], where: str) -> None:
        """Refuse data in which there are too few classes with enough images."""
        enough = sum(len(rows) >= self.least for rows in classes.values())
        if enough < self.ways:
            raise BrokenData(
                f"{where}: {self} episodes need {self.ways} classes of {self.least} images or more; found {enough} "
                f"(of {len(classes)} classes).",
                hint="Add classes, or ask for fewer: -s task.source.ways=... -s task.source.shots=...",
            )


def draw_places(
    classes: Mapping[str, Sequence[Any]], shape: Shape, random: Random
) -> tuple[list[tuple[str, int]], list[tuple[str, int]], dict[str, int]]:
    """Which images are shown and which are asked about, each as a class and a place in it; and the classes' numbers.

    The classes are numbered anew in every episode, and their images shown in any order. The images that are asked about
    are of any of the classes, and none of those that are shown.
    """
    enough = [name for name, rows in classes.items() if len(rows) >= shape.least]
    chosen = random.sample(enough, shape.ways)
    numbers = {name: number for number, name in enumerate(random.sample(chosen, shape.ways))}
    support: list[tuple[str, int]] = []
    left: dict[str, list[int]] = {}
    for name in chosen:
        places = random.sample(range(len(classes[name])), len(classes[name]))
        support += [(name, place) for place in places[: shape.shots]]
        left[name] = places[shape.shots :]
    random.shuffle(support)
    queries = []
    for _ in range(shape.queries):
        name = random.choice(chosen)
        queries.append((name, random.choice(left[name])))
    return support, queries, numbers


def by_class(names: Sequence[str], values: Sequence[Any]) -> dict[str, list[Any]]:
    """What belongs to each class; the classes by name."""
    found: dict[str, list[Any]] = {name: [] for name in sorted(set(names))}
    for name, value in zip(names, values, strict=True):
        found[name].append(value)
    return found
