"""An auto-encoder of texts as a person uses it: texts in; texts, and the codes that they were written from, out.

Letters: N texts, Z numbers of a code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float

from regard.data.sides.nothing import Nothing
from regard.data.texts import texts_of
from regard.data.tokenizer import Pieces
from regard.engine.pytorch import search_source
from regard.errors import UsageError
from regard.model import Model
from regard.search import Hypothesis, Options
from regard.search.loop import in_use
from regard.search.options import Number
from regard.task import Side
from regard.tasks.codes import checked_codes, nearest_others, steps_between
from regard.tasks.goals.reconstruct import writing_side
from regard.tasks.using import batched
from regard.tasks.writer import Writer, Written
from regard.types import Codes

POSITIONS = 2**14  # of texts that are encoded at a time
TOGETHER = 512  # codes that are written out at a time


@dataclass(frozen=True)
class WrittenAgain(Written):
    """One output, and the text that was read."""

    source: str = field(default="", kw_only=True)

    @property
    def is_copy(self) -> bool:
        """Whether it is the text that was read, letter by letter."""
        return self.text.strip() == self.source.strip()


class SentenceAutoEncoder(Writer):
    """A trained model that writes texts again from a vector for each."""

    verb: ClassVar[str] = "reconstruct"
    wants: ClassVar[str] = "nothing"
    usual: ClassVar[tuple[str, ...]] = ("exact_match", "bleu", "chrf")
    alpha: Number = 0.0  # a copy is as long as it is: no length is liked better

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(target, Nothing):
            raise UsageError("an auto-encoder of texts reads text and has nothing as its target.")
        super().__init__(model, source, writing_side(source), name)

    @classmethod
    def load(cls, folder: str | Path) -> Any:
        """Read a model folder, or the best model of a run folder."""
        found = super().load(folder)
        found.alpha = cls.alpha
        return found

    @property
    def width(self) -> int:
        """How many numbers a code has."""
        return int(self.model.encode.widths.summary)

    def checked(self, cells: Any) -> list[Any]:
        """Texts, in a list."""
        return list(texts_of("inputs", cells))

    def reconstruct(self, inputs: Any, *, beam: int = 5, nbest: int = 1, max_length: int = 200) -> Any:
        """What is written of a text, or of each of a list; with `nbest` more, a list of them for each."""
        found = self.search(inputs, Options(beam=max(beam, nbest), nbest=nbest, max_length=max_length), record=False)
        best = [each if nbest > 1 else each[0] for each in found]
        return best[0] if isinstance(inputs, str) else best

    def answer(self, cells: Any, *, record: bool = True) -> list[Any]:
        """The likeliest text for each, piece by piece."""
        return [best[0] for best in self.search(cells, Options(beam=1), record=False)]

    def encode(self, inputs: Any) -> Any:
        """The code of a text; of a list the codes, a row each, in order."""
        texts = self.checked(inputs)
        items, found = self.source.encode(texts), np.zeros((len(texts), self.width), np.float32)
        for rows in batched([self.source.positions(item) for item in items], POSITIONS):
            with in_use(self.model):
                found[rows] = self.model.read(self.source.collate([items[row] for row in rows])).summary.float().numpy()
        return found[0] if isinstance(inputs, str) else found

    def decode(self, codes: Any, *, beam: int = 5, max_length: int = 200) -> Any:
        """The text that a code stands for; of several codes, a row each, the texts in order."""
        given = checked_codes(codes, self.width)
        options, found = self._settled(Options(beam=beam, max_length=max_length)), list[str]()
        for some in torch.from_numpy(given.reshape(-1, self.width)).split(TOGETHER):
            outputs = search_source(self.model, Codes.of(some), options, record=False)
            found += [self.target.tokenizer.read(best[0].ids).text for best in outputs]
        return found if given.ndim > 1 else found[0]

    def interpolate(self, one: str, other: str, count: int = 8) -> list[str]:
        """So many texts, from what is written of the one to what is written of the other, by codes in equal steps."""
        first, last = self.encode([one, other])
        texts: list[str] = self.decode(steps_between(first, last, count))
        return texts

    def nearest(self, codes: Float[np.ndarray, "N Z"]) -> list[int]:
        """For each of many codes the place of the other one that is nearest to it."""
        return nearest_others(codes)

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """What is right is what is read."""
        return cells, cells

    def told(self, cell: Any, item: Any, written: Pieces, found: Hypothesis) -> WrittenAgain:
        """What was written of a text."""
        plain = super().told(cell, item, written, found)
        kept = {name: getattr(plain, name) for name in ("text", "score", "likelihood", "pieces", "ids")}
        return WrittenAgain(**kept, source=cell)

    def __repr__(self) -> str:
        return self._repr(f"codes of {self.width} numbers")
