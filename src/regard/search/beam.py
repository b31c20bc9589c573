"""Beam search: at each step the likeliest continuations of all hypotheses of a sentence, as many as the beam is wide.

Unfinished hypotheses are compared by log-likelihood, finished ones by their score (see `penalty`). One that ends
leaves its place in the beam empty, as in Bahdanau's and Marian's decoders, so that a beam of one is greedy search
whatever the penalties. A hypothesis is given up as soon as nothing it can become beats the worst output kept:
a likelihood only falls and a coverage penalty is never positive, so likelihood / lp(longest output) is a bound.
What is given up could have pushed aside only what is likewise hopeless, so that giving up never changes a result.

Letters: N rows, B sentences, L sentences that have rows, V vocabulary, K beam, F finished outputs, M rows picked.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.model import Model
from regard.search.backpointers import Finished, place_in_group
from regard.search.constraints import NEVER
from regard.search.hypothesis import Hypothesis
from regard.search.loop import search
from regard.search.options import Options
from regard.search.penalty import length_penalty
from regard.search.rows import Picked, Rows
from regard.search.strategy import Candidates, Strategy
from regard.types import Grid, Padded


def beam_search(
    model: Model,
    source: Padded | Grid,
    options: Options | None = None,
    *,
    start: int,
    end: int,
    record: bool = False,
    tokens: int | None = None,
) -> list[list[Hypothesis]]:
    """The best outputs of each sentence, best first; `record` keeps what they looked at.

    With `tokens`, no more than so many padded source positions are searched for at a time.
    """
    options = options or Options()
    return search(model, source, options, Beam(options), start=start, end=end, record=record, tokens=tokens)


class Beam(Strategy):
    """The likeliest continuations of each sentence's rows."""

    continuous = True

    def __init__(self, options: Options) -> None:
        self.options, self.nbest = options, options.nbest

    def begin(self, limits: Int[Tensor, " B"]) -> None:
        """Every place in every beam is free, and nothing is on the board."""
        self.longest = length_penalty(limits + 1, self.options.exponent)
        self.room = torch.full_like(limits, self.options.beam)
        self.board = self.longest.new_full((len(limits), self.nbest), NEVER)

    def begin_more(self, limits: Int[Tensor, " B"]) -> None:
        """The same for others, who stand after those who are there."""
        there = self.longest, self.room, self.board
        self.begin(limits)
        now = self.longest, self.room, self.board
        self.longest, self.room, self.board = (torch.cat(both) for both in zip(there, now, strict=True))

    def wanted(self, rows: Rows) -> int:
        """What is among the best of a sentence is among the best of its row: two small searches for one large."""
        return int(self.room[rows.owner].max())

    def pick(self, found: Candidates, rows: Rows) -> Picked:
        """As many of the likeliest continuations of each sentence as there is room for."""
        best, pieces, width = found.chances, found.pieces, found.pieces.shape[1]
        totals, owner, first = _side_by_side(rows, rows.likelihood.unsqueeze(1) + best)
        values, places = totals.topk(min(self.options.beam, totals.shape[1]))
        rank = torch.arange(values.shape[1], device=values.device)
        sentence, chosen = ((rank < self.room[owner].unsqueeze(1)) & (values > NEVER)).nonzero(as_tuple=True)
        place = places[sentence, chosen]
        row = first[sentence] + place.div(width, rounding_mode="floor")
        return Picked(row, pieces[row, place % width], best[row, place % width])

    def hopeful(self, finished: Finished, rows: Rows) -> Bool[Tensor, " N"]:
        """Put what has finished on the board; rows that cannot beat the worst on a full board have no hope."""
        if len(finished.owner):
            owner, line, counts = finished.owner.unique_consecutive(return_inverse=True, return_counts=True)
            self.room[owner] -= counts
            scores = self.board.new_full((len(owner), self.options.beam), NEVER)
            scores[line, place_in_group(finished.owner)] = finished.score
            self.board[owner] = torch.cat((self.board[owner], scores), 1).topk(self.nbest).values
        return rows.likelihood / self.longest[rows.owner] > self.board[rows.owner, -1]


def _side_by_side(
    rows: Rows, totals: Float[Tensor, "N K"]
) -> tuple[Float[Tensor, "L R"], Int[Tensor, " L"], Int[Tensor, " L"]]:
    """The continuations of each sentence that has rows in one line, whose it is, and the number of its first row."""
    owner, line, counts = rows.owner.unique_consecutive(return_inverse=True, return_counts=True)
    first = counts.cumsum(0) - counts
    place = torch.arange(len(rows), device=line.device) - first[line]
    lines = totals.new_full((len(owner), int(counts.max()), totals.shape[1]), NEVER)
    lines[line, place] = totals
    return lines.flatten(1), owner, first
