"""Episodes drawn from a corpus of images and their classes, by seed, epoch and number."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from regard.data.episodes import EpisodeItem, Picture, Row, by_class, draw_places
from regard.data.sides.episode import TURNS, EpisodeSide
from regard.errors import UsageError
from regard.registry import part
from regard.task import Example, Side
from regard.types import Count


@part("examples", "episodes")
class EpisodeExamples:
    """So many episodes of a corpus are an epoch; every one draws its classes, their numbers and its images anew.

    Settings:
        count: episodes of an epoch.
        validation: episodes by which a validation measures how likely the right classes are; always the same.
    """

    ordered: ClassVar[bool] = True  # of one row many episodes may be made, and one of many
    whole: ClassVar[bool] = True  # they are drawn from all rows, not from a pool of them
    source: EpisodeSide

    def __init__(self, *, count: Count = 2000, validation: Count = 200) -> None:
        self.count, self.validation = count, validation

    def meet(self, source: Side, target: Side) -> None:
        """Learn from the source how an episode is made up."""
        if not isinstance(source, EpisodeSide):
            raise UsageError(
                "the examples 'episodes' are of the source 'episode'.", hint='Write source = "episode" in [task].'
            )
        self.source = source

    def for_validation(self) -> EpisodeExamples:
        """As many as a validation has."""
        found = EpisodeExamples(count=self.validation, validation=self.validation)
        found.source = self.source
        return found

    def __call__(self, pool: list[Example], random: Random) -> list[Example]:
        """The episodes of an epoch. Each has dice of its own: how many there are changes none of them."""
        rows = sorted(pool, key=lambda each: each.row)
        classes = by_class([each.target for each in rows], [each.source for each in rows])
        self.source.shape.check(classes, "the rows to draw episodes from")
        epoch, learnt = random.getrandbits(64), rows[0].source.learnt
        return [self._drawn(classes, Random(f"{epoch} {number}"), number, learnt) for number in range(self.count)]

    def _drawn(self, classes: dict[str, list[Row]], random: Random, number: int, learnt: bool) -> Example:
        support, queries, numbers = draw_places(classes, self.source.shape, random)
        turning, changing = learnt and self.source.rotations, learnt and self.source.draws
        turns = {name: random.randrange(TURNS) if turning else 0 for name in numbers}

        def picture(place: tuple[str, int]) -> Picture:
            name, at = place
            return Picture(classes[name][at].cell, turns[name], random.getrandbits(32) if changing else None)

        item = EpisodeItem(
            tuple(map(picture, support)),
            tuple(numbers[name] for name, _ in support),
            tuple(map(picture, queries)),
            tuple(sorted(numbers, key=numbers.__getitem__)),
        )
        target = tuple(numbers[name] for name, _ in queries)
        return Example(item, target, number, len(target))
