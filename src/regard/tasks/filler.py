"""A filler as a person uses it: text with holes in; the likeliest pieces, and what was looked at, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, overload

import torch
from torch import Tensor

from regard.data.holes import mask_of
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.data.texts import texts_of
from regard.data.tokenizer import END, MASK, PAD, START
from regard.errors import UsageError
from regard.evaluate.metrics import FILLED
from regard.model import Model
from regard.task import Side
from regard.tasks.filling import Filling, Hole, Scored
from regard.tasks.goals.fill import Fill
from regard.tasks.reader import NAMES, TOKENS, Reader, looked_by, looks, row_ids, runs
from regard.tasks.using import batched
from regard.types import Padded

KEPT = 10  # pieces that are kept for each hole where nobody says how many


class Filler(Reader):
    """A trained model that finds hidden pieces."""

    verb: ClassVar[str] = "fill"
    wants: ClassVar[str] = "nothing"
    usual: ClassVar[tuple[str, ...]] = FILLED

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(source, Text) or not isinstance(target, Nothing):
            raise UsageError("a filler reads text and has nothing as its target.")
        super().__init__(model, source, target, name)
        source.masked = True
        self.goal = Fill(source, target)
        self.mask = mask_of(source.tokenizer)

    @overload
    def fill(self, inputs: str, top: int = ...) -> Filling: ...
    @overload
    def fill(self, inputs: list[str], top: int = ...) -> list[Filling]: ...
    def fill(self, inputs: Any, top: int = 5) -> Filling | list[Filling]:
        """The `top` likeliest pieces for each [MASK] of a text, or of each of many, in order.

        Of a model that reads two texts, a tab stands between them.
        """
        if top < 1:
            raise UsageError(f"top: expected a number of pieces, 1 or more; found {top}.")
        found = self.answer(texts_of("inputs", inputs), top=top)
        for place, each in enumerate(found):
            if not each.holes:
                raise UsageError(
                    f"inputs{'' if isinstance(inputs, str) else f'[{place}]'}: expected {MASK} where a piece is "
                    f"hidden; found {each.source[:60]!r}.",
                    hint=f'Write "a {MASK} sentence", say.',
                )
        return found[0] if isinstance(inputs, str) else found

    def answer(self, cells: Any, *, record: bool = True, top: int = KEPT) -> list[Filling]:
        """The likeliest pieces for the holes of each text. `record` keeps what was looked at."""
        cells = texts_of("inputs", cells)
        items = self.items(cells)
        found: dict[int, Filling] = {}
        for rows in batched([self.source.positions(item) for item in items], TOKENS):
            batch = self.source.collate([items[row] for row in rows])
            with torch.inference_mode(), looks(record) as layers:
                memory = self.model.read(batch)
                holes = batch.data == self.mask
                logits = self.model.predict.fill(memory, holes).logits.float()
                logits[:, [PAD, START, END, self.mask]] = -torch.inf  # never hidden, so nothing is known of them
                best = logits.softmax(-1).topk(min(top, logits.shape[-1]), -1)
            each = iter(zip(best.indices.tolist(), best.values.tolist(), strict=True))
            for place, row in enumerate(rows):
                positions = holes[place].nonzero()[:, 0].tolist()
                options = [(position, *next(each)) for position in positions]
                ids = row_ids(batch, place)
                found[row] = self._told(cells[row], ids, options, looked_by(layers, place, len(ids)))
        return [found[row] for row in range(len(cells))]

    def score(self, inputs: Any) -> Any:
        """The pseudo-log-likelihood of a text, or of each of many, in order: see `Scored`."""
        texts = texts_of("inputs", inputs)
        found = [self._scored(text, item) for text, item in zip(texts, self.items(texts), strict=True)]
        return found[0] if isinstance(inputs, str) else found

    def follows(self, first: str, second: str) -> float:
        """The probability that one text follows another, of a model that learnt it (next sentence, or order)."""
        if getattr(self.model.predict, "follows", None) is None:
            raise UsageError(
                f"{self.name or 'this model'} did not learn whether one text follows another.",
                hint="Train with pair = true in [predict] and pairs of documents.",
            )
        with torch.inference_mode():
            memory = self.model.read(self.source.collate(self.items([f"{first}\t{second}"])))
            return float(self.model.predict.fill(memory, memory.mask & False).follows.float().softmax(-1)[0, 1])

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Texts with holes, and what stood there."""
        return self.goal.questions(cells, references)

    def _told(self, cell: str, ids: list[int], options: list[Any], looked: tuple[Tensor, ...]) -> Filling:
        tokenizer = self.source.tokenizer
        holes = tuple(
            Hole(position, tuple(tokenizer.said(piece) for piece in pieces), tuple(chances))
            for position, pieces, chances in options
        )
        best = {position: pieces[0] for position, pieces, _ in options}
        filled = [best.get(position, piece) for position, piece in enumerate(ids)]
        return Filling(cell, _sentence(tokenizer, filled), holes, looked, self.tokenized(cell, ids), self.name)

    def named(self, piece: int) -> str:
        """A piece as it stands in the text, special ones by their names."""
        return MASK if piece == self.mask else super().named(piece)

    def _scored(self, text: str, item: Any) -> Scored:
        row = self.source.collate([item])
        ids = row.data[0]
        places = [place for place, piece in enumerate(ids.tolist()) if piece not in NAMES]
        each: list[float] = []
        for start in range(0, len(places), max(1, TOKENS // len(ids))):
            some = torch.tensor(places[start : start + max(1, TOKENS // len(ids))])
            many = _repeated(row, len(some))
            hidden = torch.zeros_like(many.mask)
            hidden[torch.arange(len(some)), some] = True
            many.data[hidden] = self.mask
            with torch.inference_mode():
                logits = self.model.predict.fill(self.model.read(many), hidden).logits.float()
            each += logits.log_softmax(-1)[torch.arange(len(some)), ids[some]].tolist()
        return Scored(text, tuple(self.source.tokenizer.said(int(ids[place])) for place in places), tuple(each))

    def __repr__(self) -> str:
        return self._repr(f"{len(self.source.tokenizer):,} pieces")


def _repeated(row: Padded, count: int) -> Padded:
    """One row, so many times."""
    names = [each.name for each in fields(row)]
    return replace(row, **{name: getattr(row, name).expand(count, -1).clone() for name in names})


def _sentence(tokenizer: Any, ids: Sequence[int]) -> str:
    """The text of a row, a tab between two."""
    return "\t".join(tokenizer.decode(some) for special, some in runs(ids) if not special)
