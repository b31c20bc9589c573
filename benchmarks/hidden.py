"""Hidden words of held-out text: their loss, and whether the order of two segments is told; the same masks for all.

Each run makes its own examples of the text; what is hidden is drawn by row, whatever masks the run was taught with.
The head for two segments can be asked about pairs of either kind, whichever it learnt. Run by
`python benchmarks/language_models.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

import torch
from torch.nn import functional as F

from regard.data.batches import Batches
from regard.data.corpus import Corpus
from regard.data.examples.documents import Documents
from regard.data.hiding import SEEN, Hiding
from regard.tasks.filler import Filler
from regard.types import Batch


@dataclass(frozen=True)
class Found:
    """Nats of a hidden piece, and how many are found; pairs of segments told right, in percent; the encoder's size."""

    nll: float
    accuracy: float
    pairs: float
    weights: int


def asked(model: Filler, data: str, split: str, pairs: str | None) -> Iterator[Batch]:
    """The batches of a split, the same for every run that makes the same examples."""
    assert model.parts is not None
    goal, examples = model.parts.goal, model.parts.examples
    goal.copies = 0  # else a run that was taught with static masks would be asked with its own
    goal.hiding = Hiding(share=0.15, masked=1.0, swapped=0.0)  # holes, however the run was taught
    if pairs is not None and isinstance(examples, Documents):
        examples = Documents(length=examples.length, pairs=pairs, short=0.0)
    rows = Corpus.open(data, reads="text", wants="nothing").split(split)
    yield from Batches(rows, goal.for_validation(), shuffle=False, examples=examples)


def measure(model: Filler, batches: Iterator[Batch]) -> Found:
    """Of a model, over some batches."""
    nats, pieces, hits, right = 0.0, 0, 0, list[bool]()
    with torch.inference_mode():
        for batch in batches:
            memory = model.model.read(batch.source)
            asked = batch.target.data != SEEN
            logits, wanted = model.model.predict.fill(memory, asked).logits.float(), batch.target.data[asked]
            nats += float(F.cross_entropy(logits, wanted, reduction="sum"))
            pieces, hits = pieces + len(wanted), hits + int((logits.argmax(-1) == wanted).sum())
            if model.model.predict.follows is not None and "follows" in batch.extra:
                told = model.model.predict.follows(memory.summary).argmax(-1)
                right += (told == batch.extra["follows"]).tolist()
    weights = sum(weight.numel() for weight in model.model.encode.parameters())
    return Found(nats / pieces, 100 * hits / pieces, 100 * fmean(right) if right else float("nan"), weights)
