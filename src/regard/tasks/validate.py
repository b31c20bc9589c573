"""A validation: answers to held-out rows, by the task's metrics; their likelihood; two of them drawn; and looks."""

from __future__ import annotations

from typing import Any

import torch
from datasets import Dataset

from regard.data.batches import Batches
from regard.data.corpus import Corpus, column
from regard.data.sides.text import Text
from regard.evaluate.likelihood import Likelihood
from regard.evaluate.metrics import likely, measured, metric
from regard.learn.events import Validation
from regard.model import Model
from regard.task import TaskParts
from regard.tasks.goals.segment import Segment
from regard.tasks.goals.write import Write
from regard.tasks.looked import chosen_pairs, gates_of, looks_of
from regard.tasks.references import once_each, texts_in

PAIRS = 500  # rows of the validation split that are answered each time
TOKENS = 4096


def held_out(corpus: Corpus) -> Dataset:
    """The validation rows that a model is asked; of images with several captions, as many images."""
    rows, count, seen = corpus.split("val"), 0, set[str]()
    if corpus.target == "class":
        return rows  # of which episodes are drawn, as many as their source asks
    if corpus.source != "image":
        return rows.select(range(min(PAIRS, len(rows))))
    for cell in column(rows, "source"):
        seen.add(cell)
        if len(seen) > PAIRS:
            break
        count += 1
    return rows.select(range(count))


def _translates(parts: TaskParts) -> bool:
    """Does it turn text into text?"""
    return isinstance(parts.goal, Write) and isinstance(parts.source, Text) and isinstance(parts.target, Text)


class Validator:
    """What a model is asked between updates.

    `tokens` are the positions of a batch whose likelihood is measured; of `looks` sentences is kept where a translator
    looks, of as many images how far gates are open.
    """

    def __init__(self, corpus: Corpus, parts: TaskParts, tokens: int = TOKENS, looks: int = 0) -> None:
        self.rows, self.parts, self.tokens = held_out(corpus), parts, max(tokens, TOKENS)
        sources, references = (self._column(name) for name in ("source", "target"))
        asked = once_each(parts.source, sources, references)
        self.sources, self.references = parts.goal.questions(*asked)
        self.looks = looks
        self.pairs = chosen_pairs(self.sources, self.references, looks) if looks and _translates(parts) else []

    def __call__(self, model: Model) -> Validation:
        """Answers against what is right."""
        names = [name for name in self.parts.metrics if metric(name).needs != "nll"]
        goal = self.parts.goal
        described = getattr(goal, "described", None)  # by what samples are compared
        values = measured(names, goal.answer(model, self.sources), self.references, described) if names else {}
        found = {**values, **self._likelihood(model)}
        ordered = {name: found.pop(name) for name in self.parts.metrics if name in found}  # the first one decides
        drawn = tuple(goal.drawn(model, cell) for cell in self._shown())
        picture = goal.picture(model) if hasattr(goal, "picture") else None
        return Validation({**ordered, **found}, drawn, self._looks(model), picture)

    def _looks(self, model: Model) -> tuple[dict[str, Any], ...]:
        """What a translator looks at in a few sentences; what gates let through in a few images."""
        goal = self.parts.goal
        if isinstance(goal, Segment):
            return gates_of(goal.person(model), self.sources[: self.looks], self.references[: self.looks])
        return looks_of(goal.person(model), self.pairs) if self.pairs and isinstance(goal, Write) else ()

    def _column(self, name: str) -> list[Any]:
        """The cells of one side; where the corpus has none, nothing for each row."""
        return list(self.rows[name]) if name in self.rows.column_names else [None] * len(self.rows)

    def _likelihood(self, model: Model) -> dict[str, float]:
        """-log p of a prediction, and what metrics make of all of them together."""
        found = self._nll(model)
        if found is None:
            return {}
        total, count = found
        texts = [Likelihood.of(each, 0.0, 0) for each in texts_in(self.references)]
        whole = sum(texts, Likelihood(total, count, 0, 0))
        values = {name: counted.value() for name, counted in likely(self.parts.metrics, [whole]).items()}
        return {**values, "nll": total / count}

    def _nll(self, model: Model) -> tuple[float, int] | None:
        """-log p of all predictions together, and how many they are."""
        goal = self.parts.goal
        total, count = 0.0, 0
        with torch.no_grad():
            asked, examples = goal.for_validation(), self.parts.examples
            examples = examples.for_validation() if hasattr(examples, "for_validation") else examples
            for batch in Batches(self.rows, asked, tokens=self.tokens, shuffle=False, examples=examples):
                loss = goal.nll(model, batch)
                if loss is None:
                    return None
                total, count = total + float(loss.nll) * loss.count, count + loss.count
        return total, count

    def _shown(self) -> list[Any]:
        """A short cell and a middling one: what a person can take in at a glance. A language model shows one text."""
        if getattr(self.parts.target, "framed", False):
            return [None]
        if getattr(self.parts.target, "is_image", False):  # there is a picture
            return []
        there = (cell for cell in self.sources if cell is not None and (not isinstance(cell, str) or cell.strip()))
        by_length = sorted(there, key=len)
        return [by_length[len(by_length) // 10], by_length[len(by_length) // 2]] if by_length else []
