"""Beam search: at each step the likeliest continuations of all hypotheses of a sentence, as many as the beam is wide.

Unfinished hypotheses are compared by log-likelihood, finished ones by their score (see `penalty`). One that ends
leaves its place in the beam empty, as in Bahdanau's and Marian's decoders, so that a beam of one is greedy search
whatever the penalties; where a text is continued, another takes it (`ContinuingBeam`). A hypothesis is given up as
soon as nothing it can become beats the worst output kept: a likelihood only falls and a coverage penalty is never
positive, so likelihood / lp(longest output) is a bound. What is given up could have pushed aside only what is likewise
hopeless, so that giving up never changes a result.

Letters: N rows, B sentences, L sentences that have rows, V vocabulary, K beam, F finished outputs, M rows picked.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.model import Model
from regard.search.alone import is_alone, search_alone
from regard.search.backpointers import Finished, place_in_group
from regard.search.constraints import NEVER
from regard.search.hypothesis import Hypothesis
from regard.search.loop import search
from regard.search.options import Options
from regard.search.penalty import continued_penalty, length_penalty
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
    if is_alone(source, options):
        return [search_alone(model, source, options, start=start, end=end, record=record)]
    beam = ContinuingBeam(options, end) if options.continues else Beam(options)
    return search(model, source, options, beam, start=start, end=end, record=record, tokens=tokens)


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
        values, places = totals.topk(min(self.looks_at, totals.shape[1]))
        row = (first.unsqueeze(1) + places.div(width, rounding_mode="floor")).clamp(max=len(rows) - 1)
        piece, chance = pieces[row, places % width], best[row, places % width]
        chosen = self.taken(piece, owner) & (values > NEVER)
        return Picked(row[chosen], piece[chosen], chance[chosen])

    @property
    def looks_at(self) -> int:
        """How many continuations of a sentence can be picked."""
        return self.options.beam

    def taken(self, pieces: Int[Tensor, "L K"], owner: Int[Tensor, " L"]) -> Bool[Tensor, "L K"]:
        """Which of each sentence's continuations, likeliest first, are picked: as many as there is room for."""
        return torch.arange(pieces.shape[1], device=owner.device) < self.room[owner].unsqueeze(1)

    def hopeful(self, finished: Finished, rows: Rows) -> Bool[Tensor, " N"]:
        """Put what has finished on the board; rows that cannot beat the worst on a full board have no hope."""
        if len(finished.owner):
            owner, line, counts = finished.owner.unique_consecutive(return_inverse=True, return_counts=True)
            self.room[owner] -= counts
            scores = self.board.new_full((len(owner), self.options.beam), NEVER)
            scores[line, place_in_group(finished.owner)] = finished.score
            self.board[owner] = torch.cat((self.board[owner], scores), 1).topk(self.nbest).values
        return rows.likelihood / self.longest[rows.owner] > self.board[rows.owner, -1]


class ContinuingBeam(Beam):
    """The beam of texts that are continued: one that ends makes room for another, so that as many always go on.

    What ends counts if it is among the likeliest, as many as the beam is wide; a text may end at any place, so that
    its end is seldom a sign that no better one is left.
    """

    def __init__(self, options: Options, end: int) -> None:
        super().__init__(options)
        self.end = end

    def begin(self, limits: Int[Tensor, " B"]) -> None:
        """The longest of all have as many pieces as may be written."""
        super().begin(limits)
        self.longest = continued_penalty(torch.full_like(limits, self.options.max_length), self.options.exponent)

    @property
    def looks_at(self) -> int:
        """All of the likeliest may end, and as many others are wanted."""
        return 2 * self.options.beam

    def wanted(self, rows: Rows) -> int:
        """Of one row as many as of its sentence."""
        return self.looks_at

    def taken(self, pieces: Int[Tensor, "L K"], owner: Int[Tensor, " L"]) -> Bool[Tensor, "L K"]:
        """Of the likeliest those that end, and of all the first that go on."""
        ends, most = pieces == self.end, self.options.beam
        likeliest = torch.arange(pieces.shape[1], device=owner.device) < most
        return torch.where(ends, likeliest, (~ends).cumsum(1) <= most)


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
