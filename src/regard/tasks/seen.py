"""What a model looked at while it found a label: weights over the words of a text, or the cells of an image.

Letters: Q queries (of all heads), K keys, S words, the end included.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor

from regard.align.alignment import END
from regard.data.sides.text import Text
from regard.data.tokenizer import Pieces, Tokenizer
from regard.hooks import Looked as LookEvent
from regard.hooks import Masked, hook
from regard.show.masked import DRAWN, Masking
from regard.types import Attended


@dataclass(frozen=True)
class Looked:
    """The weights of one row of a batch: those of the last attention decide what is shown; the others are kept."""

    attention: tuple[Tensor, ...] = ()
    gates: Tensor | None = None
    encoder: tuple[Tensor, ...] = ()  # of every layer that read the text and looked at it (heads, positions, positions)
    masks: tuple[Masking, ...] = ()  # of every module that laid a mask over an image

    @classmethod
    def at(cls, looked: tuple[Attended, ...], place: int) -> Looked:
        """Of the row at `place`."""
        weights = tuple(each.weights[place].float() for each in looked)
        gates = looked[-1].gates if looked else None
        return cls(weights, None if gates is None else gates[place])

    def queries(self) -> Float[np.ndarray, "Q K"]:
        """What each query looked at; of many heads each is a query of its own. None where the model does not attend."""
        if not self.attention and self.encoder:  # a class that is read off the first position, which looked last
            return self.encoder[-1].mean(0)[:1].numpy()
        if not self.attention:
            return np.zeros((0, 0), np.float32)
        weights = self.attention[-1].detach().numpy()
        return weights.reshape(-1, weights.shape[-1])

    def open_keys(self) -> Float[np.ndarray, " K"] | None:
        """Which keys were open, to any head, where gates chose them."""
        if self.gates is None:
            return None
        gates = self.gates.detach().float().numpy()
        return gates.reshape(-1, gates.shape[-1]).max(0)


@contextmanager
def looks(record: bool) -> Iterator[list[Float[Tensor, "B H S S"]]]:
    """What every attention looked at inside the block, in order: the layers, also where they share their weights."""
    found: list[Tensor] = []

    def hear(event: LookEvent) -> None:
        found.append(event.weights if event.weights.dim() == 4 else event.weights.unsqueeze(1))

    if not record:  # somebody who listens makes every attention take the slower, open way
        yield found
        return
    with hook(LookEvent, hear):
        yield found


@contextmanager
def maskings(record: bool) -> Iterator[list[Masked]]:
    """Every mask that is laid over an image inside the block, in order."""
    found: list[Masked] = []
    if not record:
        yield found
        return
    with hook(Masked, found.append):
        yield found


def masking_at(event: Masked, place: int) -> Masking:
    """What one module did with the image at `place`: of its channels those whose mask says most of what the trunk has.

    All of them would be many megabytes for each image; `regard.watch` has them.
    """
    height, width = (int(event.real[place].any(axis).sum()) for axis in (1, 0))
    before, mask, after = (each[place, :, :height, :width].float() for each in (event.before, event.mask, event.after))
    telling = mask.flatten(1).std(1, correction=0) * before.flatten(1).abs().mean(1)
    channels = telling.topk(min(DRAWN, len(telling))).indices
    drawn, opened, left = (each[channels].numpy() for each in (before, mask, after))
    return Masking(mask.mean(0).numpy(), tuple(channels.tolist()), drawn, opened, left, event.formula)


def words_of_pieces(
    tokenizer: Tokenizer, pieces: Pieces, spaced: bool | None = None, lead: int = 0
) -> tuple[list[str], list[int]]:
    """The words of a text and its end, and the word of each piece and of the end; what has no word goes to the end.

    So do special pieces that stand before the text, `lead` of them.
    """
    spans = tokenizer.words(pieces, spaced)
    owners = [owner if owner >= 0 else len(spans) for owner in tokenizer.piece_to_word(pieces, spans)]
    return [*(pieces.text[start:end] for start, end in spans), END], [*[len(spans)] * lead, *owners, len(spans)]


def words_read(side: Text, cell: str) -> tuple[list[str], list[int]]:
    """The words that a side reads of a cell and its end, and the word of each position; of two texts, those of both."""
    texts = cell.removesuffix("\n").split("\t") if side.lead else [cell]
    found = [words_of_pieces(side.tokenizer, side.tokenizer.encode(text)) for text in texts]
    last = sum(len(words) - 1 for words, _ in found)
    every: list[str] = []
    owners = [last] * side.lead
    for words, own in found:
        owners += [last if word == len(words) - 1 else len(every) + word for word in own]
        every += words[:-1]
    return [*every, END], owners


def over_words(weights: Float[np.ndarray, "Q K"], owners: list[int], count: int) -> Float[np.ndarray, "Q S"]:
    """Weights of pieces, summed over each word."""
    found = np.zeros((len(weights), count), np.float32)
    for piece, owner in enumerate(owners[: weights.shape[1]]):
        found[:, owner] += weights[:, piece]
    return found


def open_words(gates: Any, owners: list[int], count: int) -> Float[np.ndarray, " S"] | None:
    """A word is open if one of its pieces is."""
    if gates is None:
        return None
    found = np.zeros(count, np.float32)
    for piece, owner in enumerate(owners):
        found[owner] = max(found[owner], gates[piece])
    return found
