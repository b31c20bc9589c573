"""A tagger as a person uses it: text in; a tag for each word, and its probability, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import torch

from regard.data.sides.tags import Tags
from regard.data.sides.text import Text
from regard.engine.home import describe, model_home, named_folder
from regard.errors import UsageError
from regard.model import Model
from regard.task import Side
from regard.tasks.using import batched, load_parts

TOKENS = 16_384  # padded positions that are read at a time


@dataclass(frozen=True)
class Tagging:
    """One answer: the words of a text, the tag of each, and its probability."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def text(self) -> str:
        """The tags, as every answer has a text."""
        return " ".join(self.tags)

    @property
    def probability(self) -> float:
        """The mean over the words."""
        return sum(self.probabilities) / max(1, len(self.probabilities))

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: each word with its tag."""
        return " ".join(f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True))


class Tagger:
    """A trained model that finds a tag for each word."""

    folder: Path | None = None

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(target, Tags) or not isinstance(source, Text):
            raise UsageError("a tagger reads text and has tags as its target.")
        self.model, self.source, self.target, self.name = model.eval(), source, target, name

    @classmethod
    def load(cls, folder: str | Path) -> Tagger:
        """Read a model folder, or the best model of a run folder."""
        home = model_home(folder)
        model, parts = load_parts(home)
        found = cls(model, parts.source, parts.target, named_folder(folder).name)
        found.folder = home
        return found

    @overload
    def tag(self, inputs: str) -> Tagging: ...
    @overload
    def tag(self, inputs: list[str]) -> list[Tagging]: ...
    def tag(self, inputs: str | list[str]) -> Tagging | list[Tagging]:
        """The tags of a text, or of each of many, in order."""
        found = self.answer([inputs] if isinstance(inputs, str) else inputs)
        return found[0] if isinstance(inputs, str) else found

    def answer(self, cells: Sequence[Any], *, record: bool = True) -> list[Tagging]:
        """The likeliest tag of each word of each text."""
        from regard.tasks.goals.tag import first_pieces

        tokenizer = self.source.tokenizer
        items = tokenizer.encode_batch(cells)
        found: dict[int, Tagging] = {}
        for rows in batched([len(item) + 1 for item in items], TOKENS):
            with torch.inference_mode():
                tagged = self.model.tag(self.source.collate([items[row] for row in rows]))
                chances = tagged.logits.float().softmax(-1)
            for place, row in enumerate(rows):
                best = chances[place, first_pieces(self.source, items[row])].max(-1)
                words = tuple(str(cells[row]).split())
                tags = tuple(self.target.names[each] for each in best.indices.tolist())
                found[row] = Tagging(words, tags, tuple(best.values.tolist()))
        return [found[row] for row in range(len(cells))]

    def __repr__(self) -> str:
        told = describe(self.folder) if self.folder else "a model in memory"
        return f"<Tagger {self.name}: {told}; {len(self.target.names)} tags; tag, answer>"
