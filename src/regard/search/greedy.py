"""Greedy search: the likeliest next piece, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.model import Model
from regard.types import Grid, Padded


@dataclass(frozen=True)
class Found:
    """One output: its pieces without start and end, its log-likelihood, and one row of weights a piece.

    The rows are those of the decoder's last attention (the mean of its heads), the row of the end included;
    there are none for a decoder that does not attend.
    """

    ids: list[int]
    score: float
    weights: Float[Tensor, "T S"] | None


@torch.no_grad()
def greedy(model: Model, source: Padded | Grid, *, start: int, end: int, longest: int) -> list[Found]:
    """One output for each row of the source; after `longest` pieces it is made to end."""
    state = model.start(source)
    rows = source.data.shape[0]
    token = torch.full((rows,), start)
    scores, alive = torch.zeros(rows), torch.ones(rows, dtype=torch.bool)
    tokens, looks = [], []
    for number in range(longest + 1):
        stepped = model.step(token, state)
        chances = torch.log_softmax(stepped.logits.float(), -1)
        token = chances.argmax(-1) if number < longest else torch.full_like(token, end)
        scores += chances.gather(1, token.unsqueeze(1)).squeeze(1) * alive
        tokens.append(token)
        if stepped.looked:
            looks.append(_heads_joined(stepped.looked[-1].weights))
        state, alive = stepped.state, alive & (token != end)
        if not alive.any():
            break
    weights = torch.cat(looks, 1) if looks else None
    return [_cut(torch.stack(tokens, 1)[row].tolist(), float(scores[row]), weights, row, end) for row in range(rows)]


def _heads_joined(weights: Tensor) -> Float[Tensor, "B 1 S"]:
    return weights.mean(1) if weights.dim() == 4 else weights


def _cut(ids: list[int], score: float, weights: Tensor | None, row: int, end: int) -> Found:
    """What one row wrote before its end."""
    count = ids.index(end)
    return Found(ids[:count], score, None if weights is None else weights[row, : count + 1])
