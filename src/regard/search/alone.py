"""Beam search for one source: what `beam.py` and `greedy.py` find, with as little as possible to do at each step.

Of one source there are a few rows, and what a search keeps of them are a few numbers: in lists they cost less than the
calls that tensors of them take. Rules that somebody must ask for are left to the search of many (`Running`), and so is
what is watched.

Letters: N rows, V vocabulary, H heads, S source positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.fast import shortcuts
from regard.hooks import Grown, hooked
from regard.model import Model
from regard.search.constraints import LEAST, NEVER, refuse_nan
from regard.search.hypothesis import Hypothesis, penalty_of
from regard.search.loop import in_use, read
from regard.search.options import Options
from regard.search.penalty import heads_apart
from regard.types import Attended, Grid, Padded

FEW = 16  # rows; of more, tensors are the sooner ones


class Continued(NamedTuple):
    """A hypothesis that may go on: its log-likelihood then, the row that it continues, and the piece."""

    likelihood: float
    row: int
    piece: int


class Ended(NamedTuple):
    """An output: what it is ranked by, its log-likelihood, and the step and the row that wrote its end."""

    score: float
    likelihood: float
    step: int
    row: int


def is_alone(source: Padded | Grid, options: Options) -> bool:
    """Is it one source, of which nothing is asked but the best outputs, and does nobody watch?"""
    asked = options.prefix or options.no_repeat or options.beta or options.min_length or options.shortlist
    plain = not (asked or options.continues or options.sampling) and options.rows <= FEW
    return plain and len(source.mask) == 1 and shortcuts() and not hooked(Grown)


def search_alone(
    model: Model, source: Padded | Grid, options: Options, *, start: int, end: int, record: bool
) -> list[Hypothesis]:
    """The best outputs of the one source, best first."""
    with in_use(model):
        memory = read(model, source)
        options.check_pieces(1, size=model.sizes[1], end=end)
        found = Alone(options, options.limit(int(memory.mask.sum())), end, record)
        state, token = model.predict.start(memory), torch.tensor([start], device=memory.mask.device)
        avoid = torch.tensor(list(options.avoid), dtype=torch.long, device=token.device)
        going = found.steps[0]
        while going:
            stepped = model.step(token, state)
            found.look(stepped.looked)
            chances = torch.log_softmax(stepped.logits, 1, dtype=torch.float32)
            going = found.go_on(chances.index_fill_(1, avoid, NEVER))
            parent, state = [each.row for each in going], stepped.state
            if parent != list(range(len(chances))):  # to copy a state costs as much as a small step
                state = state.reorder_in_place(torch.tensor(parent, dtype=torch.long, device=token.device))
            token = torch.tensor([each.piece for each in going], dtype=torch.long, device=token.device)
        return found.outputs(memory.mask[0])


@dataclass
class Alone:
    """One search under way: the rows of each step so far, and what has ended."""

    options: Options
    limit: int
    end: int
    record: bool
    steps: list[list[Continued]] = field(default_factory=lambda: [[Continued(0.0, 0, 0)]])
    ended: list[Ended] = field(default_factory=list)
    looks: list[tuple[Float[Tensor, "N H 1 S"], ...]] = field(default_factory=list)

    def look(self, looked: tuple[Attended, ...]) -> None:
        """Keep what the rows of a step looked at, if it is wanted."""
        if self.record:
            self.looks.append(tuple(heads_apart(each.weights) for each in looked))

    def go_on(self, chances: Float[Tensor, "N V"]) -> list[Continued]:
        """The rows of the next step: the likeliest continuations that have not ended and are not without hope."""
        step, room = len(self.steps) - 1, self.options.beam - len(self.ended)
        best = sorted(self._continuations(chances, step, room), key=lambda each: -each.likelihood)[:room]
        length = penalty_of(step + 1, self.options.exponent)
        self.ended += [Ended(e.likelihood / length, e.likelihood, step, e.row) for e in best if e.piece == self.end]
        longest, worst = penalty_of(self.limit + 1, self.options.exponent), self._worst()
        going = [e for e in best if e.piece != self.end and e.likelihood / longest > worst]
        self.steps.append(going)
        return going

    def _continuations(self, chances: Float[Tensor, "N V"], step: int, room: int) -> Iterator[Continued]:
        """Of each row as many of the likeliest as there is room for; its end at its limit, or if nothing is left."""
        rows = self.steps[-1]
        if step >= self.limit:
            last = chances[:, self.end].clamp(min=LEAST).tolist()
            yield from (Continued(row.likelihood + last[n], n, self.end) for n, row in enumerate(rows))
            return
        values, pieces = (each.tolist() for each in chances.topk(min(room, chances.shape[1])))
        for n, row in enumerate(rows):
            if values[n][0] != values[n][0]:  # one NaN makes its whole row NaN
                refuse_nan(chances)
            if values[n][0] == NEVER:
                yield Continued(row.likelihood + LEAST, n, self.end)
            for value, piece in zip(values[n], pieces[n], strict=True):
                if value > NEVER:
                    yield Continued(row.likelihood + value, n, piece)

    def _worst(self) -> float:
        """What an output must beat to be one of those that are kept."""
        scores = sorted((each.score for each in self.ended), reverse=True)
        return scores[self.options.nbest - 1] if len(scores) >= self.options.nbest else NEVER

    def outputs(self, real: Tensor) -> list[Hypothesis]:
        """The best of what has ended; of equals the one found earlier."""
        best = sorted(self.ended, key=lambda each: -each.score)[: self.options.nbest]
        return [self._read(each, real) for each in best]

    def _read(self, found: Ended, real: Tensor) -> Hypothesis:
        """Follow one output from its end to its start."""
        path = [found.row]
        for step in range(found.step, 0, -1):
            path.append(self.steps[step][path[-1]].row)
        path.reverse()
        ids = tuple(self.steps[step][path[step]].piece for step in range(1, found.step + 1))
        looks = zip(*self.looks[: found.step + 1], strict=True)
        weights = (torch.cat([each[row] for each, row in zip(layer, path, strict=True)], 1) for layer in looks)
        seen = tuple(each[..., real[: each.shape[-1]]] for each in weights)
        return Hypothesis(ids, found.score, found.likelihood, seen)
