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
from regard.tasks.cache import Cache, Reading
from regard.tasks.using import batched
from regard.types import Padded

TOKENS = 4096  # padded positions that are read at a time
Read = tuple[Float[Tensor, " T"], Float[Tensor, "T F"]]  # -log p of pieces, and what they were predicted from


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


def piece_nll(
    model: Model, texts: Sequence[Sequence[int]], longest: int, cache: Cache | None = None
) -> list[list[float]]:
    """-log p of every piece but the first of each text, in nats; with a cache, of the two together."""
    if cache is not None:
        return [cache.nll(each).tolist() for each in read_texts(model, texts, longest)]
    joined: list[list[float]] = [[] for _ in texts]
    for each, (nll, _) in _read(model, texts, longest):
        joined[each.text] += nll.tolist()
    return joined


def read_texts(model: Model, texts: Sequence[Sequence[int]], longest: int) -> list[Reading]:
    """Each text with what its pieces were predicted from, which a cache looks back at."""
    parts: list[list[Read]] = [[] for _ in texts]
    for each, read in _read(model, texts, longest):
        parts[each.text].append(read)
    return [
        Reading(torch.cat([own for _, own in some]).float(), torch.tensor(ids[1:]), torch.cat([own for own, _ in some]))
        for ids, some in zip(texts, parts, strict=True)
    ]


def _read(model: Model, texts: Sequence[Sequence[int]], longest: int) -> list[tuple[Window, Read]]:
    """Every window of the texts, in order, with the predictions of it that count."""
    every = [each for text, ids in enumerate(texts) for each in windows(text, ids, longest)]
    found: dict[int, Read] = {}
    with in_use(model):
        for rows in batched([len(each.ids) for each in every], TOKENS):
            found |= zip(rows, _of_batch(model, [every[row] for row in rows]), strict=True)
    return [(each, found[row]) for row, each in enumerate(every)]


def _of_batch(model: Model, some: Sequence[Window]) -> list[Read]:
    target = pad([each.ids for each in some])
    real = target.mask[:, 1:]
    taught = model.predict.teach(Padded(target.data[:, :-1], real), model.nothing_read(len(some)))
    before = torch.tensor([each.counted for each in some]).unsqueeze(1)
    counts = real & (torch.arange(real.shape[1]) >= before)
    rows, wanted = taught.rows[counts], target.data[:, 1:][counts]
    if taught.table is None:
        plain = F.cross_entropy(rows.float(), wanted, reduction="none")
    else:
        plain, _ = product_nll(rows, taught.table, taught.bias, wanted, 0.0)
    refuse_nan(plain)
    sizes = counts.sum(1).tolist()
    return list(zip(plain.double().split(sizes), rows.split(sizes), strict=True))
