"""A classifier as a person uses it: inputs in; a class, its probability and what was looked at out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.sides.label import Label
from regard.data.sides.text import Text
from regard.data.texts import texts_of
from regard.errors import UsageError
from regard.evaluate.calibration import calibration
from regard.evaluate.confusion import confusion
from regard.evaluate.metrics import LABELLED
from regard.model import Model
from regard.show.masked import MaskedImage
from regard.show.pictured import Pictured
from regard.show.shaded import Shaded
from regard.task import Side
from regard.tasks.seen import Looked, looks, masking_at, maskings, open_words, over_words, words_read
from regard.tasks.using import TaskModel, batched

TOKENS = 16_384  # padded positions that are read at a time


@dataclass(frozen=True)
class Classification:
    """One answer: the class, its probability, that of every class, and what was looked at to find it.

    `attention` has a tensor for each attention that looked: (queries, pieces and the end), (heads, queries, pieces and
    the end), or cells of an image in the place of pieces; of masks over an image each module's, as a mean over its
    channels (1, cells). `seen` is the same over words, or over the image, and draws.
    """

    label: str
    probability: float
    probabilities: Mapping[str, float]
    source: Any
    looked: Looked = field(default_factory=Looked, repr=False)
    side: Side | None = field(default=None, repr=False)
    cells: tuple[int, int] | None = field(default=None, repr=False)  # rows and columns of an image's grid

    @property
    def text(self) -> str:
        """The class, as every answer has a text."""
        return self.label

    @property
    def attention(self) -> tuple[Tensor, ...]:
        """The weights of every attention that looked; none of a model that does not attend."""
        masks = tuple(torch.from_numpy(each.mask).flatten().unsqueeze(0) for each in self.looked.masks)
        return self.looked.attention or self.looked.encoder or masks

    @property
    def grid(self) -> Float[np.ndarray, "Q i j"] | None:
        """The weights over the cells of an image, for each query; None where no image was looked at."""
        weights = self.looked.queries()
        return None if self.cells is None or not len(weights) else weights.reshape(-1, *self.cells)

    @cached_property
    def seen(self) -> Shaded | Pictured | MaskedImage:
        """Words and weights, or the image and the weights over it, with the answer."""
        return self.compared(None)

    def compared(self, right: str | None) -> Shaded | Pictured | MaskedImage:
        """The same, beside the right answer."""
        told: dict[str, Any] = {"answer": self.label, "probability": self.probability, "right": right}
        told |= {"classes": tuple(self.probabilities), "probabilities": tuple(self.probabilities.values())}
        if self.looked.masks:
            return MaskedImage(pixels_of(self.side, self.source), self.looked.masks, **told)
        if not isinstance(self.side, Text):
            return Pictured(pixels_of(self.side, self.source), self.grid, **told)
        words, owners = words_read(self.side, self.source)
        weights = over_words(self.looked.queries(), owners, len(words))
        return Shaded(tuple(words), weights, **told, gates=open_words(self.looked.open_keys(), owners, len(words)))

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the words that were looked at, and the class."""
        seen = self.compared(right)
        if not isinstance(seen, Shaded):
            return f"{self.source}  ->  {self.label} ({self.probability:.0%})"
        return f"{shaded_line(seen)}  ->  {self.label} ({self.probability:.0%})"

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write the picture of what was looked at: a .html page, a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.compared(right)], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])


class Classifier(TaskModel):
    """A trained model that finds classes."""

    verb: ClassVar[str] = "classify"
    wants: ClassVar[str] = "label"
    usual: ClassVar[tuple[str, ...]] = LABELLED
    target: Label

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(target, Label):
            raise UsageError("a classifier has a label as its target.")
        super().__init__(model, source, target, name)

    @property
    def classes(self) -> tuple[str, ...]:
        """All that it tells apart."""
        return self.target.names

    @overload
    def classify(self, inputs: list[Any]) -> list[Classification]: ...
    @overload
    def classify(self, inputs: Any) -> Classification: ...
    def classify(self, inputs: Any) -> Classification | list[Classification]:
        """The class of a text or an image, or of each of many, in order.

        An image is the path of its file, an open Pillow image, or an array of pixels (height, width, channels).
        """
        if isinstance(inputs, list | tuple):
            return self.answer(inputs)
        return self.answer([inputs])[0] if self.reads == "image" else self.answer(texts_of("inputs", inputs))[0]

    def answer(self, cells: Any, *, record: bool = True) -> list[Classification]:
        """The likeliest class of each cell. `record` keeps what was looked at."""
        cells = texts_of("inputs", cells) if self.reads == "text" else images_of(cells)
        found: dict[int, Classification] = {}
        items = self.source.encode(cells)
        for rows in batched([self.source.positions(item) for item in items], TOKENS):
            looking = record and self._reads_by_looking
            with torch.inference_mode(), looks(looking) as heard, maskings(record) as masked:
                memory = self.model.read(self.source.collate([items[row] for row in rows]))
                labelled = self.model.predict.label(memory)
                chances = labelled.logits.float().softmax(-1)
            for place, row in enumerate(rows):
                looked = Looked.at(labelled.looked, place) if record else Looked()
                if heard and not looked.attention:
                    size = self.source.positions(items[row])
                    looked = Looked(encoder=tuple(each[place, :, :size, :size].float() for each in heard))
                if masked:
                    looked = replace(looked, masks=tuple(masking_at(each, place) for each in masked))
                found[row] = self._told(cells[row], chances[place], looked, memory.grid)
        return [found[row] for row in range(len(cells))]

    @property
    def _reads_by_looking(self) -> bool:
        """Is the class read off the first position of a text, as BERT's is, so that what that looked at can be told?"""
        first = getattr(self.model.encode, "summary", "") in ("first", "pooled")
        return isinstance(self.source, Text) and first and getattr(self.model.predict, "pool", "") == "summary"

    def measured(self, answers: Sequence[Classification], references: Sequence[str]) -> dict[str, Any]:
        """Which classes are taken for which, and whether it is as sure as it is right."""
        texts, wanted = [each.label.strip() for each in answers], [each.strip() for each in references]
        known = [name.strip() for name in self.classes]
        strange = sorted(set(wanted) - set(known))
        sure = [min(1.0, each.probability) for each in answers]
        found = {"confusion": confusion(texts, wanted, [*dict.fromkeys((*known, *strange))])}
        return found | {"calibration": calibration(texts, wanted, sure), "notes": unknown_note(strange, wanted)}

    def _told(self, cell: Any, chances: Tensor, looked: Looked, grid: tuple[int, int] | None) -> Classification:
        best = int(chances.argmax())
        every = dict(zip(self.target.names, chances.tolist(), strict=True))
        return Classification(self.target.names[best], float(chances[best]), every, cell, looked, self.source, grid)

    def __repr__(self) -> str:
        return self._repr(f"{len(self.classes)} classes")


def unknown_note(strange: Sequence[str], references: Sequence[str]) -> tuple[str, ...]:
    """What a report says of right answers that training never saw, and which are therefore never found."""
    if not strange:
        return ()
    rows = sum(each in set(strange) for each in references)
    told = ", ".join(strange[:5]) + (" ..." if len(strange) > 5 else "")
    return (f"{rows:,} of {len(references):,} right answers are classes that the training data had not: {told}",)


def images_of(given: Any) -> list[Any]:
    """Images as people hand them over: paths, open images, arrays; anything else is refused by its place."""
    from PIL.Image import Image

    if isinstance(given, str | Path | bytes) or not isinstance(given, Sequence):
        raise UsageError(f"inputs: expected a list of images; found {type(given).__name__}.", hint="Write [image].")
    for place, each in enumerate(given):
        if not isinstance(each, str | Path | Image | np.ndarray) or (isinstance(each, str) and not each.strip()):
            found = "None" if each is None else f"{type(each).__name__} {each!r:.40}"
            raise UsageError(
                f"inputs[{place}]: expected an image; found {found}.",
                hint="Give the path of a file, an open Pillow image, or an array of pixels.",
            )
    return list(given)


def shaded_line(seen: Shaded, shades: str = " ░▒▓█") -> str:
    """Words, each after a block that is the darker the more it was looked at, all queries together."""
    words = seen.words[:-1]
    if not len(seen.weights):
        return " ".join(words)
    mean = seen.weights.mean(0)
    top = max(float(mean.max()), 1e-9)
    blocks = [shades[round(float(weight) / top * (len(shades) - 1))] for weight in mean[:-1]]
    return " ".join(f"{block}{word}" for block, word in zip(blocks, words, strict=True))


def pixels_of(side: Side | None, cell: Any) -> np.ndarray:
    """An image as the model read it: height, width, channels."""
    pixels = getattr(side, "pixels", None)
    if pixels is None:
        raise UsageError("only texts and images can be drawn.")
    return pixels(cell).permute(1, 2, 0).numpy()
