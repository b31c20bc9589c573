"""The loop that every search is: step the model, apply the rules, let a strategy pick, part with what has ended.

It knows neither recurrent nets nor Transformers, only a state that can be stepped and reordered. Rows that have
ended or cannot win any more leave the batch: the state is reordered to the rows still alive. Nothing that happens
to a sentence depends on the sentences beside it.

Letters: N rows, B sentences, V vocabulary, S source positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.errors import UsageError
from regard.fast import shortcuts
from regard.hooks import Grown, tell
from regard.model import Model
from regard.search.backpointers import Backpointers, Finished
from regard.search.constraints import Constraints, log_probabilities
from regard.search.hypothesis import Hypothesis
from regard.search.options import Options
from regard.search.penalty import looked_at, ranks
from regard.search.queue import Queue
from regard.search.reading import read_by_length
from regard.search.rows import Rows, first_rows, slices
from regard.search.strategy import Candidates, Strategy
from regard.search.words import Words, words_of
from regard.types import Grid, Memory, Padded, State, Stepped


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
    tokens: int | None = None,
) -> list[list[Hypothesis]]:
    """The outputs of each sentence, best first; of a sentence with copies, those of each copy in turn.

    With `tokens`, texts are searched for longest first, at most so many padded positions at a time; where the model
    and what is asked allow it, others enter as places become free.
    """
    queue = Queue(source, options, tokens)
    found: list[list[Hypothesis]] = []
    with in_use(model):
        while len(queue):
            found += Running(model, queue, strategy, start=start, end=end, record=record).outputs()
    place = queue.order.repeat_interleave(strategy.copies).argsort(stable=True)
    return [found[each] for each in place.tolist()]


@dataclass(frozen=True)
class Entered:
    """Sentences that have just entered: what they may write, the state that they begin with, what of them is real."""

    rules: Constraints
    words: Words
    state: State
    real: Bool[Tensor, "B S"]


class Running:
    """One search under way. Its sentences, and their copies, are numbered (`owner`) as they enter."""

    def __init__(self, model: Model, queue: Queue, strategy: Strategy, *, start: int, end: int, record: bool) -> None:
        self.model, self.queue, self.options, self.strategy = model, queue, queue.options, strategy
        self.start, self.end, self.before = start, end, queue.entered
        self.backpointers = Backpointers(record)
        self.room: Tensor | None = None
        first = self._enter(queue.places())
        self.rules, self.words, self.state, self.real = first.rules, first.words, first.state, first.real
        self.rows = self._first_rows(0)
        self.token = self.rows.piece
        self.backpointers.enter(self.rows.owner)
        strategy.begin(self.rules.limits)
        self._read_prefixes()
        self.continuous = bool(len(queue)) and self._is_continuous()

    def outputs(self) -> list[list[Hypothesis]]:
        """Step until no row is left."""
        found: dict[int, list[Hypothesis]] = {}
        while len(self.rows):
            self.advance()
            if self.continuous and len(self.queue) and len(self.rows):
                alive = self.rows.owner.unique_consecutive()
                if more := self.queue.wanted(self.before + int(alive[0]), len(alive)):
                    found |= self.backpointers.read(self.strategy.nbest, self.real, alive)
                    self.enter_more(more)
        found |= self.backpointers.read(self.strategy.nbest, self.real)
        return [found[owner] for owner in range(len(self.real))]

    def advance(self) -> None:
        """One step for all rows."""
        rows = self.rows
        stepped = self.words.model.step(self.token, self.state)
        self.state = stepped.state  # the one before may go
        self.backpointers.look(stepped.looked)
        if self.options.beta:
            rows = rows.cover(looked_at(stepped.looked))
        picked = self.strategy.pick(self._candidates(stepped, rows), rows)
        after = rows.reorder_in_place(picked)
        ended = picked.piece == self.rules.end
        finished = self._finish(after.reorder(_places(ended)), picked.row[ended])
        going = _places(~ended)
        going = going[self.strategy.hopeful(finished, after.reorder(going))]
        tell(Grown(picked.row, picked.piece, after.likelihood, ended, going))
        parent = picked.row[going]
        self.state = _follow(self.state, parent, len(rows))
        self.rows = after.reorder(going)
        self.token = self.words.ids(self.rows.piece, self.rows.owner)
        self.backpointers.go_on(parent, self.token)

    def _candidates(self, stepped: Stepped, rows: Rows) -> Candidates:
        """What every row may go on with; the scores of the vocabulary are made for some rows after others."""
        step, wanted, parts = self.backpointers.steps(rows.owner), self.strategy.wanted(rows), []
        for part in slices(len(rows), self.words.size):
            some, at = rows.some(part), step[part] if isinstance(step, Tensor) else step
            logits = self.words.own(stepped.some(part), some.owner)
            if self.room is None or len(self.room) < logits.numel():  # once for all steps: large ones leave holes
                self.room = torch.empty(logits.numel(), device=logits.device)
            chances = log_probabilities(logits, self.room)
            self.rules(chances, some, at)
            parts.append(self.strategy.narrow(chances, some, at, wanted))
        return Candidates.joined(parts)

    def enter_more(self, count: int) -> None:
        """The next so many sentences begin, beside the rows that go on."""
        more, inside, device = self._enter(count), len(self.real), self.real.device
        state = more.state.counted(count, device)
        self.state = self.state.counted(len(self.rows), device).concatenate(state)
        self.rules = self.rules.concatenate(more.rules)
        self.real = pad_sequence([*self.real, *more.real], batch_first=True)
        new = self._first_rows(inside)
        self.rows, self.token = self.rows.concatenate(new), torch.cat((self.token, new.piece))
        self.backpointers.enter(new.owner)
        self.strategy.begin_more(more.rules.limits)

    def _enter(self, count: int) -> Entered:
        source, options = self.queue.take(count)
        memory = read(self.model, source)
        copies = torch.arange(len(memory.mask), device=memory.mask.device).repeat_interleave(self.strategy.copies)
        rules = Constraints(options, memory.mask.sum(1), size=self.model.sizes[1], end=self.end)
        words = words_of(self.model, source, options.shortlist, rules)
        state = _follow(self.model.predict.start(memory), copies, len(memory.mask))
        return Entered(words.placed(rules).reorder(copies), words.reorder(copies), state, memory.mask[copies])

    def _read_prefixes(self) -> None:
        """Read at once what all texts that are continued begin with, where the decoder can and nobody watches.

        As far as the shortest of them goes: the rest of the others is read step by step, as all is otherwise.
        """
        count = int(self.rules.begun.min()) if len(self.rules.begun) else 0
        read = getattr(self.model.predict, "read_on", None)
        watched = self.backpointers.record or self.options.beta or self.options.shortlist or not shortcuts()
        if count < 2 or read is None or watched or not self.options.continues:
            return
        pieces = self.rules.prefix[:, :count]
        state = read(torch.cat((self.token.unsqueeze(1), pieces[:, :-1]), 1), self.state)
        if state is None:
            return
        self.state, self.token = state, pieces[:, -1]
        written = pieces if self.rows.written is not None else None
        self.rows = replace(self.rows, piece=self.token, written=written)
        for step in range(count):
            self.backpointers.go_on(self.rows.owner, pieces[:, step])

    def _first_rows(self, inside: int) -> Rows:
        rows = first_rows(
            len(self.real) - inside, self.start, remember=self.options.no_repeat > 0, device=self.real.device
        )
        return replace(rows, owner=rows.owner + inside)

    def _is_continuous(self) -> bool:
        """May sentences enter while others are at it? Not where rows keep what has the length of their own past."""
        plain = not (self.options.beta or self.options.no_repeat or self.options.shortlist) and shortcuts()
        return plain and self.strategy.continuous and getattr(self.model.predict, "continuous", False)

    def _finish(self, ended: Rows, row: Int[Tensor, " F"]) -> Finished:
        """Score the outputs that have just ended, and keep them."""
        steps = torch.full_like(row, self.backpointers.step)
        length = 1 + self.backpointers.steps(ended.owner) + torch.zeros_like(row)
        if self.options.continues:
            length = (length - self.rules.begun[ended.owner]).clamp(max=self.options.max_length)
        score = ranks(ended.likelihood, length, self.options, ended.covered, self.real[ended.owner])
        finished = Finished(ended.owner, steps, row, ended.likelihood, score)
        self.backpointers.finished.append(finished)
        return finished


def _places(chosen: Bool[Tensor, " N"]) -> Int[Tensor, " M"]:
    return chosen.nonzero().squeeze(1)


def _follow(state: State, parent: Int[Tensor, " M"], before: int) -> State:
    """The state of the rows that go on. To copy a state costs as much as a small step: not where nothing moves."""
    if len(parent) == before and torch.equal(parent, torch.arange(before, device=parent.device)):
        return state
    return state.reorder_in_place(parent)
