"""The loop that every search is: step the model, apply the rules, let a strategy pick, part with what has ended.

It knows neither recurrent nets nor Transformers, only a state that can be stepped and reordered. Rows that have
ended or cannot win any more leave the batch: the state is reordered to the rows still alive. Nothing that happens
to a sentence depends on the sentences beside it.

Letters: N rows, B sentences, V vocabulary, S source positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.errors import UsageError
from regard.model import Model
from regard.search.options import Options
from regard.search.penalty import looked_at, ranks
from regard.search.reading import read_by_length
from regard.search.rows import Picked, Rows, first_rows
from regard.search.rules import Rules, log_probabilities
from regard.search.trail import Finished, Hypothesis, Trail
from regard.search.words import words_of
from regard.types import Grid, Memory, Padded, State


class Strategy:
    """How rows go on. `copies` is how often each sentence is searched for; `nbest` how many outputs are kept."""

    copies = 1
    nbest = 1

    def begin(self, limits: Int[Tensor, " B"]) -> None:
        """Get ready, before the first step, for outputs (those of copies too) of at most so many pieces."""

    def pick(self, chances: Float[Tensor, "N V"], rows: Rows, step: int) -> Picked:
        """Which rows go on, each with which piece; -inf marks what may not be written."""
        raise TypeError(f"{type(self).__name__} does not say how it picks")

    def hopeful(self, finished: Finished, rows: Rows) -> Bool[Tensor, " N"]:
        """Of the rows that go on, those that can still matter, given what has just finished."""
        return torch.ones_like(rows.piece, dtype=torch.bool)


@contextmanager
def in_use(model: Model) -> Iterator[None]:
    """The model without gradients, dropout or draws, whatever it was doing before."""
    training = model.training
    try:
        if training:
            model.eval()
        with torch.no_grad():
            yield
    finally:
        if training:
            model.train()


def read(model: Model, source: Padded | Grid) -> Memory:
    """The source as a memory, of a model that writes something."""
    if not hasattr(model.predict, "step"):
        raise UsageError(
            "search looks for what a model writes, and this model does not write: it predicts a label.",
            hint="Call model.label(source).",
        )
    return read_by_length(model, source)


def search(
    model: Model,
    source: Padded | Grid,
    options: Options,
    strategy: Strategy,
    *,
    start: int,
    end: int,
    record: bool,
) -> list[list[Hypothesis]]:
    """The outputs of each sentence, best first; of a sentence with copies, those of each copy in turn."""
    if not source.data.shape[0]:
        return []
    with in_use(model):
        running = Running(model, source, options, strategy, end=end, record=record)
        running.until_all_have_ended(start)
        return running.trail.read(strategy.nbest, running.real)


class Running:
    """One search under way."""

    def __init__(
        self, model: Model, source: Padded | Grid, options: Options, strategy: Strategy, *, end: int, record: bool
    ) -> None:
        self.options, self.strategy = options, strategy
        self.trail = Trail(record)
        memory = read(model, source)
        copies = torch.arange(len(memory.mask), device=memory.mask.device).repeat_interleave(strategy.copies)
        rules = Rules(options, memory.mask.sum(1), size=model.sizes[1], end=end)
        words = words_of(model, source, options.shortlist, rules)
        self.rules, self.words = words.placed(rules).reorder(copies), words.reorder(copies)
        self.state: State = _follow(model.predict.start(memory), copies, len(memory.mask))
        self.real: Bool[Tensor, "B S"] = memory.mask[copies]
        strategy.begin(self.rules.limits)

    def until_all_have_ended(self, start: int) -> None:
        """Step until no row is left."""
        rows = first_rows(len(self.real), start, remember=self.options.no_repeat > 0, device=self.real.device)
        self.token = rows.piece
        step = 0
        while len(rows):
            rows = self.advance(rows, step)
            step += 1

    def advance(self, rows: Rows, step: int) -> Rows:
        """One step for all rows: the rows that go on."""
        stepped = self.words.model.step(self.token, self.state)
        self.trail.look(stepped.looked)
        if self.options.beta:
            rows = rows.cover(looked_at(stepped.looked))
        chances = log_probabilities(self.words.own(stepped.logits, rows.owner))
        self.rules(chances, rows, step)
        picked = self.strategy.pick(chances, rows, step)
        after = rows.follow(picked)
        ended = picked.piece == self.rules.end
        finished = self._finish(after.reorder(_places(ended)), picked.row[ended], step)
        going = _places(~ended)
        going = going[self.strategy.hopeful(finished, after.reorder(going))]
        parent = picked.row[going]
        onward = after.reorder(going)
        self.token = self.words.ids(onward.piece, onward.owner)
        self.trail.go_on(parent, self.token)
        self.state = _follow(stepped.state, parent, len(rows))
        return onward

    def _finish(self, ended: Rows, row: Int[Tensor, " F"], step: int) -> Finished:
        """Score the outputs that have just ended, and keep them."""
        steps = torch.full_like(row, step)
        score = ranks(ended.likelihood, steps + 1, self.options, ended.covered, self.real[ended.owner])
        finished = Finished(ended.owner, steps, row, ended.likelihood, score)
        self.trail.finished.append(finished)
        return finished


def _places(chosen: Bool[Tensor, " N"]) -> Int[Tensor, " M"]:
    return chosen.nonzero().squeeze(1)


def _follow(state: State, parent: Int[Tensor, " M"], before: int) -> State:
    """The state of the rows that go on. To copy a state costs as much as a small step: not where nothing moves."""
    if len(parent) == before and torch.equal(parent, torch.arange(before, device=parent.device)):
        return state
    return state.reorder(parent)
