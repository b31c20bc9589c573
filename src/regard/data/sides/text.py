"""Text as one side of a task: pieces of a tokenizer, which the side learns from the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal

from regard.data.holes import holes_in
from regard.data.padding import pad
from regard.data.tokenizer import END, SOURCE_FILE, START, TARGET_FILE, Tokenizer, train_pair
from regard.errors import UsageError
from regard.registry import part
from regard.task import Role, Spec
from regard.types import Padded, Probability, Whole

FILES: dict[Role, str] = {"source": SOURCE_FILE, "target": TARGET_FILE}
Joint = Literal["auto", "yes", "no"]


@dataclass(frozen=True)
class Framed:
    """Pieces as a model without a source is taught them: after one that it is given first, each is predicted.

    A text stands between two ends, of which the first is that of the text before. One that ends with a line feed goes
    on in the next row, and has no end of its own. A block of a long text begins with the last piece of the one before.
    """

    ids: tuple[int, ...]

    @classmethod
    def of(cls, text: str, ids: Sequence[int]) -> Framed:
        """A row of a corpus."""
        return cls((END, *ids) if text.endswith("\n") else (END, *ids, END))

    def __len__(self) -> int:
        return len(self.ids)


@part("side", "text")
class Text:
    """Text, cut into pieces. A target that does not say otherwise is cut as its source is.

    Settings:
        pieces: what text is cut into: "bpe", "unigram", "characters", "words", or "spaced" for words that spaces part
            already, with <unk> for unknown ones; "auto" looks at the corpus.
        vocabulary: how many kinds of pieces there are; 0 goes by the size of the corpus.
        longest: examples with more pieces than this are left out; 0 for no limit.
        sample: share of subwords cut anew at random in every epoch (BPE-dropout, subword regularisation).
    """

    column: ClassVar[str] = "text"  # what a corpus calls its cells
    lead: ClassVar[int] = 0  # special pieces that stand before the text, of a source

    def __init__(
        self,
        role: Role,
        *,
        pieces: Literal["auto", "bpe", "unigram", "characters", "words", "spaced"] = "auto",
        vocabulary: Whole = 0,
        longest: Whole = 0,
        sample: Probability = 0.0,
    ) -> None:
        self.role, self.pieces, self.vocabulary, self.longest, self.sample = role, pieces, vocabulary, longest, sample
        self.places = False  # whether items know where their pieces stand: a goal that needs it says so
        self.masked = False  # whether a piece stands for hidden ones, which people write [MASK]: a goal says so
        self.framed = False  # whether items stand in their frames: a goal whose texts have no source says so
        self._tokenizer: Tokenizer | None = None

    @classmethod
    def of(cls, tokenizer: Tokenizer, role: Role, **settings: Any) -> Text:
        """With a tokenizer that is there already."""
        side = cls(role, **settings)
        side.tokenizer = tokenizer
        return side

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts the text."""
        if self._tokenizer is None:
            raise UsageError(f"the {self.role}'s tokenizer has not been learnt.", hint="Call fit with its lines first.")
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def spec(self) -> Spec:
        """How many pieces there are."""
        return Spec(len(self.tokenizer))

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn a tokenizer from lines."""
        self.tokenizer = Tokenizer.train(cells, kind=self.pieces, size=self.vocabulary or "auto", mask=self.masked)

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The pieces of each line: their ids, in a frame where that is wanted, or `Pieces` where places are."""
        sample = self.sample if random is not None else 0.0
        if self.framed:
            found = self.tokenizer.encode_ids(cells, sample=sample, random=random)
            return [Framed.of(text, ids) for text, ids in zip(cells, found, strict=True)]
        if not self.places:
            plain = list(self.tokenizer.encode_ids(cells, sample=sample, random=random))
            return holes_in(self.tokenizer, cells, plain) if self.masked else plain
        if not sample:
            return list(self.tokenizer.encode_batch(cells))
        return [self.tokenizer.encode(line, sample=sample, random=random) for line in cells]

    def positions(self, item: Any) -> int:
        """Its pieces and the end; of a target the start too."""
        if isinstance(item, Framed):
            return len(item)
        return len(item) + (1 if self.role == "source" else 2)

    def predictions(self, item: Any) -> int:
        """Its pieces and the end; of pieces in a frame all but the first."""
        return len(item) - 1 if isinstance(item, Framed) else len(item) + 1

    def fits(self, item: Any) -> bool:
        """Has it no more pieces than it may have?"""
        return not self.longest or self.predictions(item) - 1 <= self.longest

    def collate(self, items: Sequence[Any]) -> Padded:
        """A source ends with `</s>`; a target stands between `<s>` and `</s>`; what has a frame keeps it."""
        if items and isinstance(items[0], Framed):
            return pad([item.ids for item in items])
        before = [] if self.role == "source" else [START]
        return pad([[*before, *ids_of(item), END] for item in items])

    def files(self) -> dict[str, str]:
        """The tokenizer."""
        return {FILES[self.role]: self.tokenizer.backend.to_str()}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> Text:
        """With the tokenizer of a model folder."""
        return cls.of(Tokenizer.load(folder / FILES[role]), role, **settings)


def ids_of(item: Any) -> Sequence[int]:
    """The ids of an item, with places or without."""
    return getattr(item, "ids", item)


def fit_texts(source: Text, target: Text, lines: tuple[Iterable[str], Iterable[str]], joint: Joint) -> None:
    """Learn the tokenizers of two texts: one for both, or one each; what the target does not say is as the source."""
    target.longest = target.longest or source.longest
    if target.pieces not in ("auto", source.pieces):
        if joint == "yes":
            raise UsageError(
                f'task.joint = "yes" needs pieces of one kind; found {source.pieces} and {target.pieces}.',
                hint="Leave task.target.pieces out.",
            )
        source.fit(lines[0])
        target.fit(lines[1])
        return
    source.tokenizer, target.tokenizer = train_pair(
        *lines,
        joint="auto" if joint == "auto" else joint == "yes",
        kind=source.pieces,
        size=source.vocabulary or "auto",
        target_size=target.vocabulary or None,
    )
