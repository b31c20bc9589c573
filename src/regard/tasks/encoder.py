"""An encoder as a person uses it: text in; a vector, and what was looked at, out.

Letters: N texts, D width of a vector, S positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.align.record import Tokenized
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.data.texts import texts_of
from regard.errors import UsageError
from regard.model import Model
from regard.predict.vector import vector_of
from regard.show.shaded import Shaded
from regard.task import Side
from regard.tasks.classifier import shaded_line
from regard.tasks.reader import NOTHING, TOKENS, Reader, SelfLooked, looked_by, looks, row_ids
from regard.tasks.using import batched

BLOCK = 1024  # texts whose likeness to all others is computed at a time


@dataclass(frozen=True)
class Encoding(SelfLooked):
    """One answer: a text, its vector, and what every position looked at; `pool` says how states became the vector."""

    source: str
    vector: Float[np.ndarray, " D"]
    pool: str = "mean"
    attention: tuple[Tensor, ...] = field(default=(), repr=False)
    read: Tokenized = field(default=NOTHING, repr=False)
    model: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        """The numbers in short, as every answer has a text; `numbers` are whole."""
        return " ".join(f"{number:.3f}" for number in self.vector.tolist())

    @property
    def numbers(self) -> list[str]:
        """All numbers, each with as many digits as it has."""
        return [f"{number:.8g}" for number in self.vector.tolist()]

    @property
    def weights(self) -> Float[np.ndarray, "Q W"]:
        """How much each word was looked at in the last layer, by all positions together.

        By the first alone, where its state is the vector; no query where nothing was kept.
        """
        if not self.attention:
            return np.zeros((0, len(self.words)), np.float32)
        looked = self.looked()
        return self.over_words(looked[:1] if self.pool == "first" else looked.mean(0, keepdims=True))

    @property
    def seen(self) -> Shaded:
        """The words, shaded by how much each was looked at."""
        return self.compared(None)

    def compared(self, right: str | None) -> Shaded:
        """The same: there is no right vector to be beside it."""
        return Shaded(self.words, self.weights, f"a vector of {len(self.vector)} numbers", note=self.source)

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the words, and how much each was looked at."""
        return f"{shaded_line(self.seen)}  ->  {len(self.vector)} numbers"

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write the picture of what was looked at: a .html page, a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.seen], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])


class Encoder(Reader):
    """A trained model that makes vectors of texts."""

    verb: ClassVar[str] = "encode"
    wants: ClassVar[str] = "label"  # an evaluation asks how near texts of one class are
    usual: ClassVar[tuple[str, ...]] = ("accuracy",)

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(source, Text) or not isinstance(target, Nothing):
            raise UsageError("an encoder reads text and has nothing as its target.")
        super().__init__(model, source, target, name)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.model.predict.width)

    @overload
    def encode(
        self, inputs: str, *, pool: str | None = ..., normalise: bool | None = ...
    ) -> Float[np.ndarray, " D"]: ...
    @overload
    def encode(
        self, inputs: list[str], *, pool: str | None = ..., normalise: bool | None = ...
    ) -> Float[np.ndarray, "N D"]: ...
    def encode(self, inputs: Any, *, pool: str | None = None, normalise: bool | None = None) -> Any:
        """The vector of a text, or those of many, a row each, in order.

        `pool` (mean, first or max) and `normalise` are as the model's recipe says where nobody asks for another.
        """
        found = self.answer(inputs, record=False, pool=pool, normalise=normalise)
        if isinstance(inputs, str):
            return found[0].vector
        return np.stack([each.vector for each in found]) if found else np.zeros((0, self.width), np.float32)

    def answer(
        self, cells: Any, *, record: bool = True, pool: str | None = None, normalise: bool | None = None
    ) -> list[Encoding]:
        """The vector of each text. `record` keeps what was looked at."""
        cells, part = texts_of("inputs", cells), self.model.predict
        how = pool or part.pool
        unit = part.normalise if normalise is None else normalise
        items = self.items(cells)
        found: dict[int, Encoding] = {}
        for rows in batched([self.source.positions(item) for item in items], TOKENS):
            batch = self.source.collate([items[row] for row in rows])
            with torch.inference_mode(), looks(record) as layers:
                vectors = vector_of(self.model.read(batch), how, unit).float().numpy()
            for place, row in enumerate(rows):
                ids = row_ids(batch, place)
                seen, read = looked_by(layers, place, len(ids)), self.tokenized(cells[row], ids)
                found[row] = Encoding(cells[row], vectors[place], how, seen, read, self.name)
        return [found[row] for row in range(len(cells))]

    def nearest(self, vectors: Float[np.ndarray, "N D"]) -> list[int]:
        """For each of many vectors the place of the other one at the smallest angle."""
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        found: list[int] = []
        for first in range(0, len(unit), BLOCK):
            likeness = unit[first : first + BLOCK] @ unit.T
            likeness[np.arange(len(likeness)), first + np.arange(len(likeness))] = -np.inf  # itself
            found += likeness.argmax(1).tolist()
        return found

    def neighbours(self, texts: Sequence[str], labels: Sequence[str]) -> list[str]:
        """For each text the label of the one nearest to it: what an evaluation asks."""
        if len(texts) < 2:
            raise UsageError(f"expected at least two texts, to find the nearest of the others; found {len(texts)}.")
        return [labels[place] for place in self.nearest(self.encode(list(texts)))]

    def __repr__(self) -> str:
        return self._repr(f"vectors of {self.width} numbers")
