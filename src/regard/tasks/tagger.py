"""A tagger as a person uses it: text in; a tag for each word, and its probability, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
import torch
from torch import Tensor

from regard.align.alignment import Alignment
from regard.data.sides.tags import Tags
from regard.data.sides.text import Text
from regard.data.texts import texts_of
from regard.errors import UsageError
from regard.evaluate.confusion import confusion
from regard.evaluate.metrics import TAGGED
from regard.model import Model
from regard.show.tagged import TaggedText
from regard.task import Side
from regard.tasks.classifier import unknown_note
from regard.tasks.seen import Looked, over_words, words_of_pieces
from regard.tasks.using import TaskModel, batched

TOKENS = 16_384  # padded positions that are read at a time


@dataclass(frozen=True)
class Tagging:
    """One answer: the words of a text, the tag of each, its probability, and what each word looked at.

    `attention` has a tensor for each attention that looked, over pieces and the end; `alignment` is the last of them
    over words, and draws itself. Of a model that does not attend there are none.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    looked: Looked = field(default_factory=Looked, repr=False)
    owners: tuple[int, ...] = field(default=(), repr=False)  # the word of each piece, and of the end

    @property
    def text(self) -> str:
        """The tags, as every answer has a text."""
        return " ".join(self.tags)

    @property
    def probability(self) -> float:
        """The mean over the words."""
        return sum(self.probabilities) / max(1, len(self.probabilities))

    @property
    def attention(self) -> tuple[Tensor, ...]:
        """The weights of every attention that looked."""
        return self.looked.attention

    @cached_property
    def alignment(self) -> Alignment | None:
        """How much each word looked at each other, heads together; None of a model that does not attend."""
        if not self.attention:
            return None
        weights = self.attention[-1].detach().numpy()
        mean = weights.reshape(-1, *weights.shape[-2:]).mean(0)[: len(self.owners), : len(self.owners)]
        words = (*self.words, "</s>")
        firsts = [self.owners.index(word) if word in self.owners else len(mean) - 1 for word in range(len(words))]
        matrix = over_words(np.ascontiguousarray(mean[firsts]), list(self.owners), len(words))
        return Alignment(matrix, words, words, kind="encoder-self")

    @property
    def seen(self) -> TaggedText:
        """Words and tags, to be drawn."""
        return self.compared(None)

    def compared(self, right: str | None) -> TaggedText:
        """The same, beside the right tags, which spaces part."""
        return TaggedText(self.words, self.tags, self.probabilities, None if right is None else tuple(right.split()))

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: each word with its tag."""
        return " ".join(f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True))

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write words and tags as a .html page, a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.compared(right)], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])


class Tagger(TaskModel):
    """A trained model that finds a tag for each word."""

    verb: ClassVar[str] = "tag"
    wants: ClassVar[str] = "tags"
    usual: ClassVar[tuple[str, ...]] = TAGGED
    source: Text
    target: Tags

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(target, Tags) or not isinstance(source, Text):
            raise UsageError("a tagger reads text and has tags as its target.")
        super().__init__(model, source, target, name)

    @overload
    def tag(self, inputs: str) -> Tagging: ...
    @overload
    def tag(self, inputs: list[str]) -> list[Tagging]: ...
    def tag(self, inputs: Any) -> Tagging | list[Tagging]:
        """The tags of a text, or of each of many, in order. Words are what stands between spaces."""
        found = self.answer(texts_of("inputs", inputs))
        return found[0] if isinstance(inputs, str) else found

    def answer(self, cells: Any, *, record: bool = True) -> list[Tagging]:
        """The likeliest tag of each word of each text. `record` keeps what was looked at."""
        cells, tokenizer = texts_of("inputs", cells), self.source.tokenizer
        items = tokenizer.encode_batch(cells)
        found: dict[int, Tagging] = {}
        for rows in batched([self.source.positions(item) for item in items], TOKENS):
            with torch.inference_mode():
                tagged = self.model.tag(self.source.collate([items[row] for row in rows]))
                chances = tagged.logits.float().softmax(-1)
            for place, row in enumerate(rows):
                words, owners = words_of_pieces(tokenizer, items[row], True, self.source.lead)
                # A word of which nothing is left, such as a sign without width alone, is judged at the end.
                firsts = [owners.index(word) if word in owners else len(owners) - 1 for word in range(len(words) - 1)]
                best = chances[place, firsts].max(-1)
                tags = tuple(self.target.names[each] for each in best.indices.tolist())
                looked = Looked.at(tagged.looked, place) if record else Looked()
                found[row] = Tagging(tuple(words[:-1]), tags, tuple(best.values.tolist()), looked, tuple(owners))
        return [found[row] for row in range(len(cells))]

    def measured(self, answers: Sequence[Tagging], references: Sequence[str]) -> dict[str, Any]:
        """Which tags are taken for which, word by word."""
        given = [tag for each in answers for tag in each.tags]
        wanted = [tag for each in references for tag in each.split()]
        strange = sorted(set(wanted) - set(self.target.names))
        found = confusion(given, wanted, (*self.target.names, *strange))
        return {"confusion": found, "notes": unknown_note(strange, wanted)}

    def __repr__(self) -> str:
        return self._repr(f"{len(self.target.names)} tags")
