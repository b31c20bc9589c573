"""Pairs of texts as examples: with the links between their words, where a goal wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from regard.data.batches import Batches, Split
from regard.data.links import Linked, goals, piece_links
from regard.data.sides.text import Text, ids_of
from regard.data.tokenizer import Pieces, Tokenizer
from regard.errors import UsageError
from regard.task import BaseGoal, Example, Side
from regard.types import Batch


class Pairs(BaseGoal):
    """Source and target as they are encoded; `linked` ones carry the sure links of the corpus' column `links`.

    These count the words between spaces if `spaced`, else those of `Tokenizer.words`.
    """

    def __init__(self, source: Side, target: Side, linked: bool = False, spaced: bool | None = None) -> None:
        super().__init__(source, target)
        self.linked, self.spaced = linked, spaced
        if linked:
            self.columns = ("links",)
            for side in (source, target):
                if not isinstance(side, Text):
                    raise UsageError("word links need text on both sides.", hint='Write guide = "none".')
                side.places = True

    def prepare(self, example: Example, random: Random) -> Example:
        """With links between pieces where there are links between words."""
        if not self.linked:
            return example
        source, target = example.source, example.target
        linked = self._linked(str(example.extra["links"]), source, target, example.row)
        return replace(example, source=ids_of(source), target=ids_of(target), extra={"links": linked})

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Pairs, padded; with what each piece should look at."""
        batch = super().collate(examples)
        if not self.linked:
            return batch
        shape = batch.target.mask.shape[1], batch.source.mask.shape[1]
        return replace(batch, links=goals([each.extra.get("links") for each in examples], *shape))

    def _linked(self, line: str, source: Pieces, target: Pieces, row: int) -> Linked:
        owners = [
            _owners(side.tokenizer, pieces, self.spaced, sampled=bool(side.sample))
            for side, pieces in ((self.source, source), (self.target, target))
            if isinstance(side, Text)
        ]
        return piece_links(line, *owners, where=f"pair {row + 1}")


def _owners(tokenizer: Tokenizer, pieces: Pieces, spaced: bool | None, *, sampled: bool) -> list[int]:
    """The word of each piece. Where a script has no spaces, words are pieces: those that are not cut at random."""
    return tokenizer.piece_to_word(pieces, tokenizer.words(pieces.text if sampled else pieces, spaced))


def pair_batches(
    split: Split,
    source: Tokenizer,
    target: Tokenizer,
    *,
    longest: int | None = None,
    sample: float = 0.0,
    linked: bool = False,
    spaced: bool | None = None,
    **settings: Any,
) -> Batches:
    """The batches of a split of text pairs, cut by given tokenizers."""
    texts = {"longest": longest or 0, "sample": sample}
    goal = Pairs(Text.of(source, "source", **texts), Text.of(target, "target", **texts), linked, spaced)
    return Batches(split, goal, **settings)
