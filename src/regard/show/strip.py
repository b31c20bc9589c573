"""A text word by word: once for each word that looks, shaded by what that word looked at.

Of a text that reads itself this is the figure of Cheng, Dong and Lapata (2016): the current word red, what it looks at
shaded, what is still to come pale. There a row is the step that reads its word, which a record keeps with the next
word, whose step it is that writes.

Letters: Q words that look, S words that are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from regard.align.alignment import START, Alignment
from regard.align.record import Aligner, Record
from regard.show.causal import closed, looks_back, start_first
from regard.show.shaded import EVEN

HERE = -1  # a word that looks at a text which it is no part of


@dataclass(frozen=True)
class Strip:
    """A text, the words that look, where each stands in it, and how much it looked at each word.

    `closed` is what was not there to be looked at. `note` says which heads it was read from.
    """

    words: tuple[str, ...]
    rows: tuple[str, ...]
    own: tuple[int, ...]
    weights: Float[np.ndarray, "Q S"]
    closed: Bool[np.ndarray, "Q S"]
    note: str = ""

    @classmethod
    def of(cls, alignment: Alignment) -> Strip:
        """An alignment as it is; of what looks back, as `read_back` gives it."""
        shown = start_first(alignment)
        before = int(shown.source[:1] == (START,))
        own = [HERE if shown.kind == "cross" else row + before for row in range(len(shown.target))]
        own = [place if place < len(shown.source) else HERE for place in own]  # the end is never looked back at
        later = np.arange(len(shown.source)) > np.array(own)[:, None]
        hidden = later & (shown.numpy() == 0) if looks_back(shown) else closed(shown)
        return cls(shown.source, shown.target, tuple(own), shown.numpy(), hidden, shown.note)

    @property
    def reads_itself(self) -> bool:
        """Do words that look stand in the text?"""
        return any(place != HERE for place in self.own)

    def full(self, row: int) -> float:
        """The weight that is shaded fully: the row's largest, but at least some even shares of what is open to it."""
        seen = [weight for place, weight in enumerate(self.weights[row].tolist()) if place != self.own[row]]
        even = EVEN / max(1, int((~self.closed[row]).sum()))
        return max([min(1.0, even), *seen])

    def shades(self, row: int) -> Float[np.ndarray, " S"]:
        """How dark each word is, from 0 to 1."""
        return np.clip(self.weights[row].astype(np.float64) / self.full(row), 0, 1)

    def strongest(self, row: int) -> int | None:
        """The word that was looked at most, besides the word itself; none where nothing was."""
        weights = self.weights[row].copy()
        if self.own[row] != HERE:
            weights[self.own[row]] = 0.0
        return int(weights.argmax()) if weights.any() else None


def read_back(
    record: Record,
    kind: str | None = None,
    layer: int | None = None,
    heads: tuple[int, ...] | None = None,
    *,
    pieces: bool = False,
) -> Alignment:
    """An alignment as a text is read: of what looks back, each word at the step that reads it, and no end."""
    reader: Aligner = record.reader(kind, layer, heads)
    if reader.kind != "decoder-self":
        return record.alignment(kind, layer, heads, pieces=pieces)
    found = replace(record, aligner=replace(reader, shift=True)).alignment(pieces=pieces)
    return replace(found, matrix=found.numpy()[:-1], target=found.target[:-1], note=str(reader))
