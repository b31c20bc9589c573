"""A filler as a person uses it: text with holes in; the likeliest pieces, and what was looked at, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
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
from regard.show.shaded import Shaded
from regard.task import Side
from regard.tasks.goals.fill import Fill, told_piece
from regard.tasks.reader import NAMES, TOKENS, Reader, SelfLooked, looked_by, looks, row_ids, runs
from regard.tasks.using import batched
from regard.types import Padded

KEPT = 10  # pieces that are kept for each hole where nobody says how many


@dataclass(frozen=True)
class Hole:
    """One hole: its position, and the likeliest pieces with their probabilities, the likeliest first."""

    position: int
    pieces: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def piece(self) -> str:
        """The likeliest."""
        return self.pieces[0]

    @property
    def probability(self) -> float:
        """That of the likeliest."""
        return self.probabilities[0]


@dataclass(frozen=True)
class Filling(SelfLooked):
    """One answer: a text with holes, what fills them, and what every position looked at."""

    source: str
    filled: str
    holes: tuple[Hole, ...]
    attention: tuple[Tensor, ...] = field(default=(), repr=False)
    words: tuple[str, ...] = field(default=(), repr=False)
    owners: tuple[int, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The likeliest piece of each hole, with spaces between them."""
        return " ".join(told_piece(hole.piece) for hole in self.holes)

    @property
    def probability(self) -> float:
        """The mean over the holes."""
        return sum(hole.probability for hole in self.holes) / max(1, len(self.holes))

    def views(self, right: str | None = None) -> list[Shaded]:
        """For each hole the words, shaded by what it looked at in the last layer, and its likeliest pieces."""
        wanted = right.split() if right is not None else []
        if right is not None and len(wanted) != len(self.holes):
            raise UsageError(
                f"expected a piece for each of {len(self.holes)} holes; found {len(wanted)}.",
                hint="Write them with spaces between.",
            )
        found = []
        for number, hole in enumerate(self.holes):
            weights = self.over_words(self.looked()[hole.position : hole.position + 1]) if self.attention else None
            names = tuple(map(told_piece, hole.pieces))
            shown = Shaded(
                self.words,
                np.zeros((0, len(self.words)), np.float32) if weights is None else weights,
                names[0],
                hole.probability,
                wanted[number] if wanted else None,
                classes=names,
                probabilities=hole.probabilities,
                note=f"Hole {number + 1} of {len(self.holes)}: {self.filled}" if len(self.holes) > 1 else self.filled,
            )
            found.append(shown)
        return found

    def compared(self, right: str | None) -> Shaded:
        """The first hole, beside the right piece."""
        if not self.holes:
            raise UsageError(f"{self.source!r} has no hole.", hint=f"Write {MASK} where a piece is hidden.")
        return self.views(right)[0]

    @property
    def seen(self) -> list[Shaded]:
        """What is drawn: a picture a hole."""
        return self.views()

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the text with its holes, what fills them, and how likely it is."""
        told = [f"{told_piece(hole.piece)} ({hole.probability:.0%})" for hole in self.holes]
        return f"{self.source}  ->  {', '.join(told)}"

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write what each hole looked at as a .html page, a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        return save_answers(self.views(right), path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers(self.views())


@dataclass(frozen=True)
class Scored:
    """How likely a text is, piece by piece: each hidden in its turn while all others are seen (Salazar et al. 2020).

    `total` is the pseudo-log-likelihood, the sum over pieces. It is no likelihood of the text, but orders texts.
    """

    text: str
    pieces: tuple[str, ...]
    each: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum."""
        return sum(self.each)


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
        words, owners = self.words_of(ids)
        return Filling(cell, _sentence(tokenizer, filled), holes, looked, tuple(words), tuple(owners))

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
