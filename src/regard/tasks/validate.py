"""A validation: real decoding of held-out pairs, their likelihood, and two of them drawn with their alignment."""

from __future__ import annotations

import torch
from datasets import Dataset

from regard.data.batches import Batches, Examples
from regard.data.corpus import Corpus
from regard.data.example import Example
from regard.data.tokenizer import Tokenizer
from regard.evaluate.metrics import WRITTEN, counting
from regard.learn.events import Validation
from regard.learn.loss import sequence_loss
from regard.model import Model
from regard.search import Options
from regard.show.terminal import draw
from regard.translator import Translator

PAIRS = 500  # pairs of the validation split that are decoded each time


def held_out(corpus: Corpus) -> Dataset:
    """The validation pairs that a model is asked."""
    rows = corpus.split("val")
    return rows.select(range(min(PAIRS, len(rows))))


class Validator:
    """What a model is asked between updates."""

    def __init__(self, corpus: Corpus, source: Tokenizer, target: Tokenizer) -> None:
        rows = held_out(corpus)
        self.sources, self.references = list(rows["source"]), list(rows["target"])
        self.source, self.target = source, target

    def __call__(self, model: Model) -> Validation:
        """Greedy outputs against their references."""
        translator = Translator(model, self.source, self.target)
        found = [best[0] for best in translator.search(self.sources, Options(beam=1), record=False)]
        outputs = [each.text for each in found]
        values = {
            **{each: counting(each)(outputs, self.references).value() for each in WRITTEN},
            "nll": self._nll(model),
        }
        return Validation(values, tuple(self._drawn(translator, line) for line in self._shown()))

    def _nll(self, model: Model) -> float:
        pairs = [Example(*pair) for pair in zip(self.sources, self.references, strict=True)]
        total, count = 0.0, 0
        with torch.no_grad():
            for batch in Batches(Examples(pairs), self.source, self.target, shuffle=False):
                loss = sequence_loss(model, batch)
                total, count = total + float(loss.nll) * loss.pieces, count + loss.pieces
        return total / count

    def _shown(self) -> list[str]:
        """A short line and a middling one: what a person can take in at a glance."""
        by_length = sorted((line for line in self.sources if line.strip()), key=len)
        return [by_length[len(by_length) // 10], by_length[len(by_length) // 2]] if by_length else []

    def _drawn(self, translator: Translator, line: str) -> str:
        found = translator.translate(line, beam=1)
        head = f"{line}  ->  {found.text}"
        if found.alignment is None or len(found.alignment.source) > 40:
            return head
        labels = [f"{word} " for word in found.alignment.source]
        return f"{head}\n{draw(found.alignment.matrix[:-1], labels, found.alignment.target[:-1])}\n"
