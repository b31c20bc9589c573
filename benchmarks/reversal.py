"""The reversal task of the score bench: write a sequence backwards (or copy it), with each score and scope in turn.

Where a model should look is known: at the mirrored position. Models are Regard's own recipes made small.
Run by `python benchmarks/mechanisms.py --only score`. Ids: 0 padding, 1 start, 2 end, 3..22 symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.model import Model
from regard.recipe import resolve
from regard.types import Batch, Padded

START, END, FIRST, SIZE = 1, 2, 3, 23
TRAINED, BATCH, RATE, CLIP = (3, 20), 64, 2e-3, 1.0
Buckets = tuple[tuple[int, int], ...]
BUCKETS: Buckets = ((3, 8), (9, 14), (15, 20), (21, 30))
# Two layers of LSTM in the recipes of Luong and Sutskever, one GRU here, so that all arms differ in attention alone.
SMALL = (
    "embed.width=32",
    "embed.dropout=0.0",
    "encode.cell=gru",
    "encode.direction=both",
    "encode.hidden=64",
    "predict.hidden=64",
    "predict.dropout=0.0",
    "predict.embed.width=32",
    "predict.embed.dropout=0.0",
)
ONE_GRU = ("encode.layers=1", "encode.dropout=0.0", "predict.layers=1", "predict.cell=gru")


@dataclass(frozen=True)
class Arm:
    """A recipe and what is changed in it; `copies` makes the task copying instead of reversal."""

    recipe: str
    changes: tuple[str, ...] = ()
    copies: bool = False

    def build(self) -> Model:
        """The small model of this arm."""
        return resolve(self.recipe, (*SMALL, *self.changes)).build(SIZE, SIZE)


def _luong(*changes: str, copies: bool = False) -> Arm:
    return Arm("luong", (*ONE_GRU, *changes), copies)


LOCAL_M = ("attend.score=general", "attend.scope=local_m", "attend.scope.reach=4")
LOCAL_P = ("attend.score=general", "attend.scope=local_p", "attend.scope.reach=4")
ARMS: dict[str, Arm] = {
    "none": Arm("seq2seq", ONE_GRU),
    "none, wider": Arm("seq2seq", (*ONE_GRU, "encode.hidden=108", "predict.hidden=108")),  # no fewer parameters
    "additive": Arm("rnnsearch", ("attend.score.hidden=64", "predict.readout.hidden=64")),
    "dot": _luong("attend.score=dot"),
    "general": _luong("attend.score=general"),
    "location": _luong("attend.score=location", "attend.score.longest=30"),
    "cosine": _luong("attend.score=cosine"),
    "local-m": _luong(*LOCAL_M),
    "local-p": _luong(*LOCAL_P),
    "local-m, copy": _luong(*LOCAL_M, copies=True),
}


def draw(lengths: Tensor, generator: torch.Generator, copies: bool = False) -> Batch:
    """Random sequences of the given lengths and what is to be written, framed by start and end."""
    mask = masks.from_lengths(lengths)
    source = torch.randint(FIRST, SIZE, mask.shape, generator=generator) * mask
    wanted = source if copies else masks.flip(source.unsqueeze(-1), mask).squeeze(-1)
    framed = F.pad(wanted, (1, 1)).scatter(1, (lengths + 1).unsqueeze(1), END)
    framed[:, 0] = START
    return Batch(Padded(source, mask), Padded(framed, masks.from_lengths(lengths + 2)))


def loss(model: Model, batch: Batch) -> Tensor:
    """The mean negative log-likelihood of a piece."""
    wanted = batch.target.data[:, 1:]
    return F.cross_entropy(model.teach(batch).logits.flatten(0, 1), wanted.flatten(), ignore_index=0)


def greedy(model: Model, source: Padded, steps: int) -> tuple[Tensor, Tensor | None]:
    """What the model writes piece by piece (B T), and the weights it looked with (B T S)."""
    state, token = model.start(source), torch.full((source.data.shape[0],), START)
    pieces, looked = [], []
    for _ in range(steps):
        stepped = model.step(token, state)
        state, token = stepped.state, stepped.logits.argmax(-1)
        pieces.append(token)
        looked += [one.weights for one in stepped.looked]
    return torch.stack(pieces, 1), torch.cat(looked, 1) if looked else None


@torch.no_grad()
def examine(model: Model, batch: Batch, copies: bool = False) -> tuple[float, float | None]:
    """The share of sequences written without a mistake, and of looks whose best key is the right one."""
    wanted, real = batch.target.data[:, 1:], batch.target.mask[:, 1:]
    pieces, weights = greedy(model, batch.source, wanted.shape[1])
    exact = ((pieces == wanted) | ~real).all(1).float().mean()
    if weights is None:
        return float(exact), None
    places = torch.arange(batch.source.data.shape[1])
    gold = places.expand_as(batch.source.data) if copies else batch.source.lengths[:, None] - 1 - places
    right = weights[:, :-1].argmax(-1) == gold
    return float(exact), float(right[batch.source.mask].float().mean())


def train(
    name: str, seed: int, *, steps: int, each: int, buckets: Buckets = BUCKETS, trained: tuple[int, int] = TRAINED
) -> dict[str, Any]:
    """Train one arm, then its exact match and alignment by length, and the weights of one sequence of fifteen."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    arm, began = ARMS[name], process_time()
    model = arm.build()
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(steps):
        lengths = torch.randint(trained[0], trained[1] + 1, (BATCH,), generator=generator)
        optimiser.zero_grad()
        loss(model, draw(lengths, generator, arm.copies)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
    model.eval()
    fresh = torch.Generator().manual_seed(seed + 1_000_003)
    found = {}
    for low, high in buckets:
        lengths = torch.randint(low, high + 1, (each,), generator=fresh)
        found[f"{low}-{high}"] = examine(model, draw(lengths, fresh, arm.copies), arm.copies)
    with torch.no_grad():
        one = greedy(model, draw(torch.tensor([15]), fresh, arm.copies).source, 16)[1]
    return {
        "arm": name,
        "seed": seed,
        "buckets": found,
        "weights": None if one is None else one[0].tolist(),
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": process_time() - began,
    }
