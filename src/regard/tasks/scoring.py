"""How likely pieces of text are to a model without a source: of texts of any length, each piece with a context.

A text longer than a model can read at once is read in windows that overlap by half: every piece but those of the first
window is predicted from at least half a window before it, and counted once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.data.padding import pad
from regard.learn.cross_entropy import product_nll
from regard.model import Model
from regard.search.constraints import refuse_nan
from regard.search.loop import in_use
from regard.tasks.using import batched
from regard.types import Padded

TOKENS = 4096  # padded positions that are read at a time


@dataclass(frozen=True)
class Window:
    """A stretch of a text: whose it is, its pieces, and how many of its predictions were counted before."""

    text: int
    ids: Sequence[int]
    counted: int


def windows(text: int, ids: Sequence[int], longest: int) -> Iterator[Window]:
    """The windows of a text whose first piece is given; at most `longest` pieces of each are predicted."""
    done, last = 0, len(ids) - 1
    while done < last:
        start = 0 if done == 0 else max(0, min(done - longest // 2, last - longest))
        end = min(start + longest, last)
        yield Window(text, ids[start : end + 1], done - start)
        done = end


def piece_nll(model: Model, texts: Sequence[Sequence[int]], longest: int) -> list[list[float]]:
    """-log p of every piece but the first of each text, in nats."""
    every = [each for text, ids in enumerate(texts) for each in windows(text, ids, longest)]
    found: list[list[float]] = [[] for _ in every]
    with in_use(model):
        for rows in batched([len(each.ids) for each in every], TOKENS):
            for row, values in zip(rows, _of_batch(model, [every[row].ids for row in rows]), strict=True):
                found[row] = values[every[row].counted :].tolist()
    joined: list[list[float]] = [[] for _ in texts]
    for each, own in zip(every, found, strict=True):
        joined[each.text] += own
    return joined


def _of_batch(model: Model, lines: Sequence[Sequence[int]]) -> list[Float[Tensor, " T"]]:
    target = pad(lines)
    real = target.mask[:, 1:]
    taught = model.predict.teach(Padded(target.data[:, :-1], real), model.nothing_read(len(lines)))
    rows, wanted = taught.rows[real], target.data[:, 1:][real]
    if taught.table is None:
        plain = F.cross_entropy(rows.float(), wanted, reduction="none")
    else:
        plain, _ = product_nll(rows, taught.table, taught.bias, wanted, 0.0)
    refuse_nan(plain)
    return list(torch.split(plain.double(), real.sum(1).tolist()))
