"""What a model that reads a text whole, both ways, has whatever it is asked for: words, and what each looked at.

Letters: Q queries, S positions, the special pieces included, W words, those too; H heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor, nn

from regard.align.alignment import END as END_MARK
from regard.align.alignment import Alignment
from regard.align.record import Aligner, Layer, Record, Tokenized
from regard.data.holes import words_of_ids
from regard.data.sides.text import Text
from regard.data.tokenizer import END, START
from regard.errors import UsageError
from regard.hooks import Looked, hook
from regard.tasks.using import TaskModel
from regard.types import Padded

TOKENS = 16_384  # padded positions that are read at a time
NAMES = {START: "[CLS]", END: "[SEP]"}  # as people know them
KIND = "encoder-self"
NOTHING = Tokenized("", (END,), (END_MARK,), (END_MARK,), (0,))


class SelfLooked:
    """An answer with what every position looked at.

    `attention` has a tensor (heads, positions, positions) for each layer, over all pieces, the special ones included;
    `read` are these pieces, the words that they make up, and the word of each; `model` is the model's name.
    """

    attention: tuple[Tensor, ...]
    read: Tokenized
    model: str

    @property
    def words(self) -> tuple[str, ...]:
        """What the pieces make up."""
        return self.read.words

    @property
    def owners(self) -> tuple[int, ...]:
        """The word of each position."""
        return self.read.word

    @cached_property
    def record(self) -> Record | None:
        """What every position looked at, in every layer and head; None where that was not kept."""
        if not self.attention:
            return None
        layers = tuple(Layer(KIND, number, each.float()) for number, each in enumerate(self.attention))
        return Record(self.read, NOTHING, layers, Aligner(KIND, len(layers) - 1), self.model)

    def looked(self, layer: int = -1) -> Float[np.ndarray, "S S"]:
        """How much each position looked at each other in a layer, the mean over its heads."""
        if self.record is None:
            raise UsageError("what was looked at was not kept.", hint="Write answer(..., record=True).")
        return self.record.weights(KIND, layer).mean(0).numpy()

    @property
    def alignment(self) -> Alignment | None:
        """How much each word looked at each other in the last layer; None where that was not kept."""
        return self.record.alignment() if self.record else None

    def over_words(self, weights: Float[np.ndarray, "Q S"]) -> Float[np.ndarray, "Q W"]:
        """Weights of positions, summed over each word."""
        found = np.zeros((len(weights), len(self.words)), np.float32)
        for position, word in enumerate(self.owners):
            found[:, word] += weights[:, position]
        return found


class Reader(TaskModel):
    """A trained model that reads texts as pieces between special ones."""

    source: Text

    @property
    def most(self) -> int | None:
        """How many positions a text may take; None where positions are not learnt."""
        table = getattr(getattr(self.model.embed, "position", None), "table", None)
        return len(table) if isinstance(table, nn.Parameter) else None

    def items(self, cells: Sequence[str]) -> list[Any]:
        """Texts as pieces; one that is longer than the model has positions for is told by its place."""
        items = self.source.encode(cells)
        for place, item in enumerate(items):
            if self.most is not None and self.source.positions(item) > self.most:
                raise UsageError(
                    f"inputs[{place}]: expected at most {self.most} pieces, the special ones included; found "
                    f"{self.source.positions(item)}.",
                    hint="Cut the text in two.",
                )
        return items

    def tokenized(self, text: str, ids: Sequence[int]) -> Tokenized:
        """The pieces of a row of a batch, the special ones by their names, its words, and the word of each position."""
        words, owners = self.words_of(ids)
        return Tokenized(text, tuple(ids), tuple(map(self.named, ids)), tuple(words), tuple(owners))

    def named(self, piece: int) -> str:
        """A piece as it stands in the text, special ones by their names."""
        return NAMES.get(piece) or self.source.tokenizer.said(piece)

    def words_of(self, ids: Sequence[int]) -> tuple[list[str], list[int]]:
        """The words of a row of a batch, the special pieces among them, and the word of each position."""
        words: list[str] = []
        owners: list[int] = []
        for special, some in runs(ids):
            found, own = ([NAMES[some[0]]], [0]) if special else words_of_ids(self.source.tokenizer, some)
            owners += [len(words) + each for each in own]
            words += found
        return words, owners


@contextmanager
def looks(record: bool) -> Iterator[list[Float[Tensor, "B H S S"]]]:
    """What every attention looked at inside the block, in order: the layers, also where they share their weights."""
    found: list[Tensor] = []

    def hear(event: Looked) -> None:
        found.append(event.weights if event.weights.dim() == 4 else event.weights.unsqueeze(1))

    if not record:  # somebody who listens makes every attention take the slower, open way
        yield found
        return
    with hook(Looked, hear):
        yield found


def looked_by(layers: Sequence[Float[Tensor, "B H S S"]], place: int, size: int) -> tuple[Tensor, ...]:
    """What one row of a batch looked at, without its padding."""
    return tuple(layer[place, :, :size, :size] for layer in layers)


def row_ids(batch: Padded, place: int) -> list[int]:
    """The ids of one row, without its padding."""
    return batch.data[place][batch.mask[place]].tolist()


def runs(ids: Sequence[int]) -> Iterator[tuple[bool, list[int]]]:
    """Special pieces one by one, and what stands between them."""
    run: list[int] = []
    for piece in ids:
        if piece not in NAMES:
            run.append(piece)
            continue
        if run:
            yield False, run
        run = []
        yield True, [piece]
    if run:
        yield False, run
