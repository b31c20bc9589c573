"""Greedy search: the likeliest next piece, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from regard.model import Model
from regard.search.loop import Strategy, search
from regard.search.options import Options
from regard.search.rows import Picked, Rows
from regard.search.trail import Hypothesis
from regard.types import Grid, Padded


def greedy_search(
    model: Model,
    source: Padded | Grid,
    options: Options | None = None,
    *,
    start: int,
    end: int,
    record: bool = False,
) -> list[Hypothesis]:
    """One output for each sentence: what a beam of one finds, with less to do at each step."""
    outputs = search(model, source, options or Options(), Greedy(), start=start, end=end, record=record)
    return [found[0] for found in outputs]


class Greedy(Strategy):
    """Every row goes on with its likeliest piece."""

    def pick(self, chances: Float[Tensor, "N V"], rows: Rows, step: int) -> Picked:
        """The best piece of each row."""
        best, piece = chances.max(-1)
        return Picked(torch.arange(len(rows), device=piece.device), piece, best)


@dataclass(frozen=True)
class Found:
    """One output: its pieces without start and end, its log-likelihood, and one row of weights a piece.

    The rows are those of the decoder's last attention (the mean of its heads), the row of the end included;
    there are none for a decoder that does not attend.
    """

    ids: list[int]
    score: float
    weights: Float[Tensor, "T S"] | None


def greedy(model: Model, source: Padded | Grid, *, start: int, end: int, longest: int) -> list[Found]:
    """Greedy search in short, for pictures: an output has at most `longest` pieces, and one matrix of weights."""
    options = Options(max_length=longest, stretch=inf)
    outputs = greedy_search(model, source, options, start=start, end=end, record=True)
    return [
        Found(list(each.ids), each.likelihood, each.weights[-1].mean(0) if each.weights else None) for each in outputs
    ]
