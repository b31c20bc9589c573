"""A model that writes a text for whatever it reads, by search; `Translator` is its like for text.

What an answer is called and what is drawn of it is added by those who read something of their own: `Captioner`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from regard.data.sides.text import Text
from regard.data.stored import Stored
from regard.data.texts import texts_of
from regard.data.tokenizer import END, Pieces
from regard.engine.home import read_alpha
from regard.engine.pytorch import search_source
from regard.engine.pytorch.columns import columns_together, vocabulary_by_columns
from regard.errors import UsageError
from regard.evaluate.metrics import WRITTEN
from regard.fast.direct import helps
from regard.model import Model
from regard.search import Hypothesis, Options, force
from regard.search.options import ALPHA, Number
from regard.search.sampling import dice_of
from regard.task import Side
from regard.tasks.using import TaskModel, batched
from regard.translate.translator import SILENT
from regard.types import Batch

POSITIONS = 2**20  # of sources, times the hypotheses of each, that are searched for at a time
PIXELS, IMAGES = 2**22, 128  # of images that are written about at a time, at most


@dataclass(frozen=True)
class Written:
    """One output: its text, its score, its pieces, and every weight it was written with.

    `score` is what outputs are ranked by, `likelihood` the log-likelihood of the pieces and the end. `attention` has a
    tensor (heads, pieces and the end, positions of the source) for each layer that looks there.
    """

    text: str
    score: float
    likelihood: float
    pieces: tuple[str, ...]
    attention: tuple[Tensor, ...] = field(default=(), repr=False)
    ids: tuple[int, ...] = field(default=(), repr=False)

    def drawn(self) -> str:
        """For a terminal."""
        return self.text


class Writer(TaskModel):
    """A trained model that writes text. `alpha` is the length penalty where nobody asks for another."""

    verb: ClassVar[str] = "answer"
    wants: ClassVar[str] = "text"
    usual: ClassVar[tuple[str, ...]] = WRITTEN
    alpha: Number = ALPHA
    target: Text

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(target, Text):
            raise UsageError("a model that writes has text as its target.", hint='Write target = "text" in [task].')
        super().__init__(model, source, target, name)

    @classmethod
    def load(cls, folder: str | Path) -> Any:
        """Read a model folder, or the best model of a run folder."""
        found = super().load(folder)
        found.alpha = read_alpha(found.folder)
        return found

    @staticmethod
    def arrange(model: Model) -> None:
        """One source at a time is written about most: its few rows like matrices by columns, and a step as a whole."""
        TaskModel.arrange(columns_together(model) if helps() else vocabulary_by_columns(model))
        if hasattr(model.predict, "packs"):
            model.predict.packs = True

    def checked(self, cells: Any) -> list[Any]:
        """Cells of the source as people hand them over."""
        return list(cells)

    def told(self, cell: Any, item: Any, written: Pieces, found: Hypothesis) -> Any:
        """What was written for a cell, with at least what `Written` has."""
        return Written(written.text, found.score, found.likelihood, written.pieces, tuple(found.weights), found.ids)

    def search(self, cells: Any, options: Options | None = None, *, record: bool = True) -> list[list[Any]]:
        """The best answers for each cell, best first. `record` keeps what was looked at."""
        cells, options = self.checked(cells), self._settled(options or Options())
        options.check_pieces(len(cells), size=self.model.sizes[1], end=END)
        items, found = self.source.encode(cells), dict[int, list[Any]]()
        for rows in self._batches(items, options.rows):
            some = [items[row] for row in rows]
            chosen = replace(options, prefix=[options.prefix[row] for row in rows]) if options.prefix else options
            seed = None if options.sampling is None else options.sampling.seed
            dice = None if seed is None else [dice_of(seed, _numbers(item)) for item in some]
            outputs = search_source(self.model, self.source.collate(some), chosen, record=record, dice=dice)
            for row, hypotheses in zip(rows, outputs, strict=True):
                read = [(self.target.tokenizer.read(each.ids), each) for each in hypotheses]
                found[row] = [self.told(cells[row], items[row], *each) for each in read]
        return [found[row] for row in range(len(cells))]

    def force(self, cells: Any, targets: str | Sequence[str], *, record: bool = True) -> list[Any]:
        """Given texts as if the model had written them, in order."""
        cells, texts = self.checked(cells), texts_of("targets", targets)
        if len(cells) != len(texts):
            raise UsageError(f"expected as many texts as sources; found {len(texts)} and {len(cells)}.")
        items, wanted = self.source.encode(cells), self.target.tokenizer.encode_batch(texts)
        found, options = dict[int, Any](), self._settled(Options())
        for rows in self._batches(items, 1):
            source = self.source.collate([items[row] for row in rows])
            batch = Batch(source, self.target.collate([wanted[row] for row in rows]))
            for row, forced in zip(rows, force(self.model, batch, options, record=record), strict=True):
                found[row] = self.told(cells[row], items[row], wanted[row], forced)
        return [found[row] for row in range(len(cells))]

    def score(self, cells: Any, targets: str | Sequence[str]) -> list[float]:
        """The log-likelihood of given texts."""
        return [each.likelihood for each in self.force(cells, targets, record=False)]

    def answer(self, cells: Any, *, record: bool = True) -> list[Any]:
        """The best answer for each cell. `record` keeps what was looked at."""
        return [best[0] for best in self.search(cells, record=record)]

    def _settled(self, options: Options) -> Options:
        """What was asked, with what this model wants where nothing was."""
        return replace(options, avoid=SILENT, alpha=self.alpha if options.alpha is None else options.alpha)

    def _batches(self, items: Sequence[Any], rows: int) -> list[list[int]]:
        lengths = [max(1, self.source.positions(item)) for item in items]
        if getattr(self.source, "is_image", False):  # its pixels are read once, whatever is written about it
            return list(batched([max(PIXELS // IMAGES, each) for each in lengths], PIXELS))
        return list(batched(lengths, max(1, POSITIONS // rows)))

    def __repr__(self) -> str:
        return self._repr(f"{len(self.target.tokenizer):,} pieces")


def _numbers(item: Any) -> list[int]:
    """An item as numbers that it is known by."""
    item = item.read() if isinstance(item, Stored) else item
    return item.flatten().tolist() if isinstance(item, Tensor) else list(item)
