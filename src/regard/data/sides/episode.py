"""Episodes as the source of a task: a few labelled images of each of a few classes, then images to be told.

A corpus has images and their classes, a row each. The examples `episodes` draw from them; in use, a cell is an
`Episode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import torch
from jaxtyping import UInt8
from torch import Tensor

from regard.data.episodes import Episode, EpisodeItem, Picture, Row, Shape, Shown, by_class, draw_places
from regard.data.sides.image import Image
from regard.errors import UsageError
from regard.registry import part
from regard.task import Role, Spec
from regard.types import AtLeastZero, Count, Episodes, Share, Whole

TURNS = 4  # quarters of a full turn


@part("side", "episode")
class EpisodeSide(Image):
    """Labelled images of classes never seen before, a few of each, and further images whose class is to be found.

    Settings:
        ways: classes of an episode.
        shots: labelled images of each of them.
        queries: images of an episode that are asked about in training, side by side: what is shown is read once.
        rotations: whether the quarter turns of a class are further classes in training. No episode has one class in two
            turns: some look the same either way.
        questions: episodes that a validation or an evaluation asks; the same each time.
        size: height and width that every image is brought to.
        channels: 1 for grey, 3 for colours.
        flip: whether an image is mirrored, left for right, every other time in training.
        shift: pixels that an image is moved by at most in training, in both directions; what is left free is black.
        crop: share of height and of width that is cut off at most in training, anywhere around what is left.
        colour: how much brightness, contrast and saturation change at most in training.
    """

    column = "image"
    is_episode = True

    def __init__(
        self,
        role: Role,
        *,
        ways: Count = 5,
        shots: Count = 1,
        queries: Count = 5,
        rotations: bool = False,
        questions: Count = 1000,
        size: tuple[Count, Count] = (28, 28),
        channels: Count = 1,
        flip: bool = False,
        shift: Whole = 0,
        crop: Share = 0.0,
        colour: AtLeastZero = 0.0,
    ) -> None:
        super().__init__(role, size=size, channels=channels, flip=flip, shift=shift, crop=crop, colour=colour)
        if ways < 2:
            raise UsageError("ways = 1 leaves nothing to tell apart.", hint="Write ways = 5.")
        if rotations and size[0] != size[1]:
            raise UsageError(
                f"rotations = true turns images by a quarter; they are {size[0]} x {size[1]} pixels.",
                hint="Write a size of two equal numbers, or rotations = false.",
            )
        self.ways, self.shots, self.queries = ways, shots, queries
        self.rotations, self.asked = rotations, questions

    @property
    def shape(self) -> Shape:
        """How an episode of training is made up."""
        return Shape(self.ways, self.shots, self.queries)

    def spec(self) -> Spec:
        """The channels of an image, and ways, shots, height and width."""
        return Spec(self.channels, (self.ways, self.shots, *self.size))

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """Of an episode its pictures; of an image, a row that episodes can be drawn from. Nothing is read yet."""
        return [self._item(cell) if isinstance(cell, Episode) else Row(cell, random is not None) for cell in cells]

    def _item(self, episode: Episode) -> EpisodeItem:
        self.check(episode.support)
        names = episode.classes
        numbers = tuple(names.index(name) for _, name in episode.support)
        return EpisodeItem(
            tuple(Picture(cell) for cell, _ in episode.support), numbers, (Picture(episode.query),), names
        )

    def check(self, shown: Sequence[Shown]) -> None:
        """Refuse examples that a model of this side was not made for."""
        names = list(dict.fromkeys(name for _, name in shown))
        if len(names) != self.ways:
            raise UsageError(
                f"this model tells {self.ways} classes apart; the examples are of {len(names)}: {_told(names)}.",
                hint=f"Give it {self.shots} labelled {_images(self.shots)} of each of {self.ways} classes.",
            )
        for name in names:
            count = sum(each == name for _, each in shown)
            if count != self.shots:
                raise UsageError(
                    f"this model is shown {self.shots} {_images(self.shots)} of each class; of '{name}' it was given "
                    f"{count}.",
                    hint=f"Give it {self.shots} of each, or train another with -s task.source.shots={count}.",
                )

    def draw(self, cells: Sequence[str], names: Sequence[str]) -> tuple[list[Episode], list[str]]:
        """The episodes that are asked about such rows, and the right class of each: always the same."""
        classes, shape = by_class(names, cells), Shape(self.ways, self.shots)
        shape.check(classes, "the rows to be asked about")
        found, right = [], []
        for number in range(self.asked):
            support, ((name, place),), _ = draw_places(classes, shape, Random(f"question {number}"))
            found.append(Episode(tuple((classes[each][at], each) for each, at in support), classes[name][place]))
            right.append(name)
        return found, right

    def positions(self, item: Any) -> int:
        """The images of an episode."""
        return len(item.pictures) if isinstance(item, EpisodeItem) else 1

    def frame(self, item: Any) -> tuple[int, ...]:
        """All images are of one size."""
        return ()

    def collate(self, items: Sequence[EpisodeItem]) -> Episodes:  # type: ignore[override]
        """All images of all episodes, from 0 to 1, and the classes of those that are shown."""
        pixels = [torch.stack([self._picture(each) for each in item.pictures]) for item in items]
        return Episodes(torch.stack(pixels).float() / 255, torch.tensor([item.numbers for item in items]))

    def _picture(self, picture: Picture) -> UInt8[Tensor, "C h w"]:
        found = self.pixels(picture.cell, None if picture.seed is None else Random(picture.seed))
        return torch.rot90(found, picture.turns, (1, 2)) if picture.turns else found


def _told(names: Sequence[str]) -> str:
    return (", ".join(names[:8]) + (" ..." if len(names) > 8 else "")) or "none"


def _images(count: int) -> str:
    return "image" if count == 1 else "images"
