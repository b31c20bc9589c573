"""What might have been written in the place of each piece of an output: the likeliest, given all pieces before it."""

from __future__ import annotations

from typing import Any

from regard.data.padding import pad
from regard.data.tokenizer import END, PAD, START
from regard.search.loop import in_use
from regard.serve.refused import Refused
from regard.serve.tasks import Cell, Served, tokenizer_of
from regard.types import Batch

LEAST = 1e-45  # of a probability, whose logarithm is asked for


def candidates(served: Served, cell: Cell, answer: Any, top: int) -> dict[str, Any]:
    """For each piece of an answer, and for its end: the `top` likeliest pieces there, and how likely it was itself."""
    entry, owner = served.entry, served.model
    if entry.goal != "write" or entry.reads == "nothing":
        raise Refused(400, f"{entry.name} has no candidates for the pieces of an output.", "candidates")
    model, tokenizer = owner.model, tokenizer_of(owner)
    if entry.reads == "text" and not hasattr(owner.source, "collate"):
        source = pad([[*owner.source.encode(cell.given).ids, END]])
    else:
        source = owner.source.collate(owner.source.encode([cell.given]))
    target = pad([[START, *answer.ids, END]])
    with in_use(model):
        chances = model.teach(Batch(source, target)).logits[0].float().softmax(-1)
    own = chances.gather(-1, target.data[0, 1:, None])[:, 0].clamp(min=LEAST).log()
    chances[:, [PAD, START]] = 0.0  # which nobody writes
    best = chances.topk(min(top, chances.shape[-1]), -1)
    each = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    found = [
        [
            {"piece": "</s>" if piece == END else tokenizer.said(piece), "id": piece, "probability": chance}
            for piece, chance in zip(pieces, some, strict=True)
        ]
        for pieces, some in each
    ]
    return {"candidates": found, "piece_likelihoods": own.tolist()}
