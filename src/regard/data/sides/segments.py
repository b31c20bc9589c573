"""One text or two, told apart: what BERT reads, between [CLS] and [SEP]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Literal

from regard.data.padding import pad
from regard.data.sides.text import Text, ids_of
from regard.data.tokenizer import END, START
from regard.errors import BrokenData
from regard.registry import part
from regard.task import Role
from regard.types import Probability, Segmented, Whole

TAB, FEED = "\t", "\n"
MOST = 2  # texts of an example


@dataclass(frozen=True)
class Line:
    """The pieces of a row that goes on in the next one: it ended with a line feed, which is no piece here."""

    ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


@part("side", "segments")
class Segments(Text):
    """One text, or two with a tab between them, and which of them each piece belongs to.

    What BERT calls [CLS] and [SEP] are the pieces `<s>` and `</s>` that every tokenizer has: an example is
    `<s> text </s>`, or `<s> one </s> other </s>`. A row that ends with a line feed goes on in the next (`documents`).

    Settings:
        pieces: what text is cut into: "bpe", "unigram", "characters" or "words"; "auto" looks at the corpus.
        vocabulary: how many kinds of pieces there are; 0 goes by the size of the corpus.
        longest: examples with more pieces than this are left out; 0 for no limit.
        sample: share of subwords cut anew at random in every epoch (BPE-dropout, subword regularisation).
        length: positions that an example takes at most, special pieces included: what is longer is cut at its end, of
            two texts the longer one; 0 for no limit.
    """

    lead: ClassVar[int] = 1

    def __init__(
        self,
        role: Role,
        *,
        pieces: Literal["auto", "bpe", "unigram", "characters", "words"] = "auto",
        vocabulary: Whole = 0,
        longest: Whole = 0,
        sample: Probability = 0.0,
        length: Whole = 0,
    ) -> None:
        super().__init__(role, pieces=pieces, vocabulary=vocabulary, longest=longest, sample=sample)
        self.length = length

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn a tokenizer from the texts."""
        super().fit(text for cell in cells for text in str(cell).removesuffix(FEED).split(TAB))

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The pieces of each text: of one as they are, of two both, of one that goes on as a `Line`."""
        texts = [str(cell).removesuffix(FEED).split(TAB) for cell in cells]
        found = iter(super().encode([text for some in texts for text in some], random))
        items = []
        for cell, some in zip(cells, texts, strict=True):
            if len(some) > MOST:
                raise BrokenData(
                    f"expected one text, or two with a tab between them; found {len(some)}: {str(cell)[:60]!r}.",
                    hint="Take the other tabs out.",
                )
            parts = [next(found) for _ in some]
            alone = Line(tuple(ids_of(parts[0]))) if str(cell).endswith(FEED) else parts[0]
            items.append(alone if len(parts) == 1 else tuple(parts))
        return items

    def cut(self, item: Any) -> tuple[Any, ...]:
        """As much of each text as there is room for in an example."""
        texts = _texts(item)
        lengths, room = [len(each) for each in texts], self.length - 1 - len(texts)
        if not self.length or sum(lengths) <= room:
            return texts
        while sum(lengths) > max(room, 1):
            lengths[max(range(len(lengths)), key=lambda place: (lengths[place], place))] -= 1
        return tuple(ids_of(each)[:length] for each, length in zip(texts, lengths, strict=True))

    def positions(self, item: Any) -> int:
        """The first special piece, then each text and its end."""
        return 1 + sum(len(each) + 1 for each in self.cut(item))

    def predictions(self, item: Any) -> int:
        """All but the first."""
        return self.positions(item) - 1

    def fits(self, item: Any) -> bool:
        """Have its texts no more pieces than they may have?"""
        return not self.longest or sum(map(len, _texts(item))) <= self.longest

    def collate(self, items: Sequence[Any]) -> Segmented:
        """`<s>` one `</s>` other `</s>`: what stands before the first end is of the first text."""
        both = [self.cut(item) for item in items]
        ids = pad([[START, *(piece for each in item for piece in (*ids_of(each), END))] for item in both])
        which = pad([[0, *(place for place, each in enumerate(item) for _ in range(len(each) + 1))] for item in both])
        return Segmented(ids.data, ids.mask, which.data)


def _texts(item: Any) -> tuple[Any, ...]:
    """The texts of an example: two of them, or one, whose pieces may be a tuple themselves."""
    return item if isinstance(item, tuple) and item and not isinstance(item[0], int) else (item,)
