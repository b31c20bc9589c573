"""A model that learns from a few examples, as a person uses it: a folder a class, and images to be told.

model.classify(["a.png", "b.png"], support="mine")      # mine/alpha/1.png mine/beta/1.png ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, overload

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.episodes import Episode, Shown
from regard.data.labelled.classes import folders_in
from regard.data.labelled.images import is_image
from regard.data.sides.episode import EpisodeSide
from regard.data.sides.episode_class import EpisodeClass
from regard.errors import MissingData, UsageError
from regard.evaluate.calibration import calibration
from regard.model import Model
from regard.show.episode import EpisodeSeen, weight_lines
from regard.tasks.classifier import images_of
from regard.tasks.seen import looks
from regard.tasks.using import TaskModel, batched

IMAGES = 4_096  # that are read at a time


@dataclass(frozen=True)
class Recognition:
    """One answer: the class, its probability, that of each class shown, and the examples that were looked at.

    `attention` has the weights of every attention block, from the first to the last, over the labelled images in the
    order they were shown and, last, the image itself.
    """

    label: str
    probability: float
    probabilities: Mapping[str, float]
    source: Episode
    attention: tuple[Float[Tensor, " I"], ...] = field(default=(), repr=False)
    side: EpisodeSide | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The class, as every answer has a text."""
        return self.label

    @property
    def weights(self) -> Float[Tensor, " S"] | None:
        """How much the last attention looked at each labelled image; None of a model that does not attend."""
        return self.attention[-1][:-1] if self.attention else None

    @cached_property
    def seen(self) -> EpisodeSeen:
        """Images and weights, with the answer."""
        return self.compared(None)

    def compared(self, right: str | None) -> EpisodeSeen:
        """The same, beside the right answer."""
        if self.side is None:
            raise UsageError("an answer without its side cannot be drawn.")
        cells = [*(cell for cell, _ in self.source.support), self.source.query]
        pixels = [self.side.pixels(cell).permute(1, 2, 0).numpy() for cell in cells]
        weights = None if self.weights is None else self.attention[-1].numpy()
        names = tuple(name for _, name in self.source.support)
        classes, chances = tuple(self.probabilities), tuple(self.probabilities.values())
        told: dict[str, Any] = {"answer": self.label, "probability": self.probability, "right": right}
        return EpisodeSeen(tuple(pixels[:-1]), names, pixels[-1], weights, classes, chances, **told)

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the image, its class, and a bar for each labelled image."""
        found = f"{self.source.query}  ->  {self.label} ({self.probability:.0%})"
        found += f", right: {right}" if right not in (None, self.label) else ""
        if self.weights is None:
            return found
        names = tuple(name for _, name in self.source.support)
        lines = weight_lines(names, self.weights.tolist(), max(map(len, names)))
        return "\n".join([found, *(f"  {line}" for line in lines)])

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write the picture of what was looked at: a .html page, a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.compared(right)], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])


class EpisodeClassifier(TaskModel):
    """A trained model that is shown a few images of each class and tells the class of others."""

    verb: ClassVar[str] = "classify"
    wants: ClassVar[str] = "class"
    usual: ClassVar[tuple[str, ...]] = ("accuracy",)
    source: EpisodeSide

    def __init__(self, model: Model, source: EpisodeSide, target: EpisodeClass, name: str = "") -> None:
        super().__init__(model, source, target, name)

    @property
    def ways(self) -> int:
        """Classes that it tells apart."""
        return self.source.ways

    @property
    def shots(self) -> int:
        """Labelled images of each that it is shown."""
        return self.source.shots

    @overload
    def classify(self, inputs: list[Any], support: Any) -> list[Recognition]: ...
    @overload
    def classify(self, inputs: Any, support: Any) -> Recognition: ...
    def classify(self, inputs: Any, support: Any) -> Recognition | list[Recognition]:
        """The class of an image, or of each of many, by labelled examples.

        An image is the path of its file, an open Pillow image, or an array of pixels (height, width, channels).
        `support` is a folder with a folder a class, or the images of each class by its name.
        """
        shown, many = self.shown(support), isinstance(inputs, list | tuple)
        found = self.classify_by(images_of(inputs if many else [inputs]), shown)
        return found if many else found[0]

    def shown(self, support: Any) -> tuple[Shown, ...]:
        """Labelled images, as many of as many classes as the model was made for; others are refused."""
        found = support_of(support)
        self.source.check(found)
        return found

    def classify_by(self, inputs: Sequence[Any], shown: tuple[Shown, ...], *, record: bool = True) -> list[Recognition]:
        """The class of each image by examples that were found to fit."""
        return self.answer([Episode(shown, each) for each in inputs], record=record)

    def answer(self, cells: Sequence[Any], *, record: bool = True) -> list[Recognition]:
        """The likeliest class of each episode's image. `record` keeps what was looked at."""
        strange = next((each for each in cells if not isinstance(each, Episode)), None)
        if strange is not None:
            raise UsageError(
                f"an image alone has no class: this model is shown {self.source.shape} examples first; found "
                f"{strange!r:.60}.",
                hint="Write model.classify(images, support=FOLDER), or regard classify MODEL IMAGE --support FOLDER.",
            )
        items = self.source.encode(cells)
        found: dict[int, Recognition] = {}
        for rows in batched([self.source.positions(item) for item in items], IMAGES):
            with torch.inference_mode(), looks(record) as heard:
                labelled = self.model.label(self.source.collate([items[row] for row in rows]))
                chances = labelled.logits.float().softmax(-1)
            for place, row in enumerate(rows):
                attention = tuple(each[place, :, -1].mean(0).float() for each in heard)
                found[row] = self._told(cells[row], chances[place], attention)
        return [found[row] for row in range(len(cells))]

    def _told(self, episode: Episode, chances: Tensor, attention: tuple[Tensor, ...]) -> Recognition:
        names, best = episode.classes, int(chances.argmax())
        every = dict(zip(names, chances.tolist(), strict=True))
        return Recognition(names[best], float(chances[best]), every, episode, attention, self.source)

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Episodes drawn from the rows of a corpus, always the same."""
        return self.source.draw(cells, references)

    def measured(self, answers: Sequence[Recognition], references: Sequence[str]) -> dict[str, Any]:
        """Whether it is as sure as it is right; of what the score is a mean."""
        texts = [each.label for each in answers]
        sure = [min(1.0, each.probability) for each in answers]
        note = f"{len(answers):,} episodes, {self.source.shape}: chance is {1 / self.ways:.0%}"
        return {"calibration": calibration(texts, list(references), sure), "notes": (note,)}

    def __repr__(self) -> str:
        return self._repr(str(self.source.shape))


def support_of(given: Any) -> tuple[Shown, ...]:
    """Labelled images: a folder a class, or lists of images by class, or pairs of an image and its class."""
    if isinstance(given, str | Path):
        return _of_folder(Path(given).expanduser())
    if isinstance(given, Mapping):
        return tuple((cell, str(name)) for name, cells in given.items() for cell in images_of(list(cells)))
    raise UsageError(
        f"support: expected a folder, or the images of each class by its name; found {type(given).__name__}.",
        hint='Write support="folder", or support={"alpha": ["a.png"], "beta": ["b.png"]}.',
    )


def _of_folder(folder: Path) -> tuple[Shown, ...]:
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise MissingData(
            f"{folder}: expected a folder with a folder a class; found {found}.",
            hint="Lay the examples out as FOLDER/alpha/1.png FOLDER/beta/1.png ...",
        )
    shown = tuple((str(file), each.name) for each in folders_in(folder) for file in _images_in(each))
    if not shown:
        seen = ", ".join(sorted(each.name for each in folder.iterdir())[:8]) or "no files at all"
        raise MissingData(
            f"{folder}: expected a folder a class of images (.png, .jpg ...); found {seen}.",
            hint="Lay the examples out as FOLDER/alpha/1.png FOLDER/beta/1.png ...",
        )
    return shown


def _images_in(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.iterdir()) if file.is_file() and is_image(file)]
