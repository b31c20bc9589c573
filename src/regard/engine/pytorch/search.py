"""The model itself, run by PyTorch: every part, every option, every layer recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import torch

from regard.align.record import Aligner
from regard.data.padding import pad
from regard.data.tokenizer import END, START
from regard.engine import Ids
from regard.fast import shortcuts
from regard.model import Model
from regard.search import Hypothesis, Options, beam_search, force, greedy_search, sample
from regard.search.sampling import Dice, dice_of
from regard.search.shortlist import Shortlist
from regard.types import Batch, Grid, Padded

# Rows x width x width, from which on half precision pays; measured in docs/speed.md.
WORTH = 2**22


def search_source(
    model: Model,
    source: Padded | Grid,
    options: Options,
    *,
    record: bool,
    tokens: int | None = None,
    dice: Dice = None,
) -> list[list[Hypothesis]]:
    """Beam search; with a beam of one greedy search, which finds the same with less to do; or what is drawn."""
    if options.sampling is not None:
        return sample(model, source, options.sampling, options, start=START, end=END, generator=dice, record=record)
    if options.beam == 1:
        found = greedy_search(model, source, options, start=START, end=END, record=record, tokens=tokens)
        return [[each] for each in found]
    return beam_search(model, source, options, start=START, end=END, record=record, tokens=tokens)


class Searched:
    """A model that our own search steps through, whatever computes its steps; with a shortlist, it scores no others.

    `workers` is how many searches run side by side, a thread each; with one, a search has all the threads.
    """

    condensed = False

    def __init__(self, model: Model, shortlist: Shortlist | None = None, workers: int = 1) -> None:
        self.model, self.shortlist, self._workers = model, shortlist, workers

    @property
    def sizes(self) -> tuple[int, int]:
        """Those of the model."""
        return self.model.sizes

    def whole(self) -> Searched:
        """Itself: it records all that its model looks at."""
        return self

    @property
    def workers(self) -> int:
        """As many as it was given; who watches, watches one thread."""
        return self._workers if shortcuts() else 1

    @contextmanager
    def pool(self, workers: int) -> Iterator[Executor]:
        """Threads that compute each for itself; afterwards PyTorch has as many again as it had."""
        threads = torch.get_num_threads()
        try:
            with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as executor:
                yield executor
        finally:
            torch.set_num_threads(threads)

    def continuous(self) -> bool:
        """The readout is narrowed to what a batch may write, so that with a shortlist nobody enters later."""
        return self.shortlist is None and getattr(self.model.predict, "continuous", False)

    def search(
        self, sources: Sequence[Ids], options: Options, *, record: bool, tokens: int | None = None
    ) -> list[list[Hypothesis]]:
        """The best outputs, or what is drawn: as `search_source` finds them."""
        model = self.suited(len(sources) * options.rows)
        chosen = options if self.shortlist is None else replace(options, shortlist=self.shortlist)
        seed = None if options.sampling is None else options.sampling.seed
        dice = None if seed is None else [dice_of(seed, each) for each in sources]
        return search_source(model, pad(sources), chosen, record=record, tokens=tokens, dice=dice)

    def force(self, sources: Sequence[Ids], targets: Sequence[Ids], *, record: bool) -> list[Hypothesis]:
        """The model is made to write the targets; all pieces are scored."""
        framed = [[START, *target, END] for target in targets]
        model = self.suited(sum(map(len, framed)))
        return force(model, Batch(pad(sources), pad(framed)), record=record)

    def suited(self, rows: int) -> Model:
        """The model in the form that multiplies so many rows at a time soonest."""
        return self.model

    def reader(self, aligner: Aligner | None) -> Aligner | None:
        """All layers and heads that look at the source are recorded, so they are where the model has them."""
        return aligner


class Torch(Searched):
    """A model in memory, which can be looked into.

    One in half precision may have the same in full precision beside it, `full`, for few rows: to fill tiles and to make
    the code of a product then costs more than the product saves.
    """

    def __init__(
        self, model: Model, shortlist: Shortlist | None = None, workers: int = 1, full: Model | None = None
    ) -> None:
        super().__init__(model.eval(), shortlist, workers)
        self.full = full

    def suited(self, rows: int) -> Model:
        """In half precision where that pays; who watches sees the one model."""
        if self.full is None or pays(rows, self.full) or not shortcuts():
            return self.model
        return self.full


def pays(rows: int, model: Model) -> bool:
    """Is half precision sooner for so many rows?"""
    return rows * model.encode.widths.keys**2 >= WORTH
