"""The model itself, run by PyTorch: every part, every option, every layer recorded."""

from __future__ import annotations

from dataclasses import replace

from regard.data.tokenizer import END, START
from regard.model import Model
from regard.record import Aligner
from regard.search import Hypothesis, Options, beam_search, force, greedy_search
from regard.search.shortlist import Shortlist
from regard.types import Batch, Padded


class Searched:
    """A model that our own search steps through, whatever computes its steps; with a shortlist, it scores no others.

    `lanes` is how many searches run side by side, a thread each; with one, a search has all the threads.
    """

    def __init__(self, model: Model, shortlist: Shortlist | None = None, lanes: int = 1) -> None:
        self.model, self.shortlist, self.lanes = model, shortlist, lanes

    @property
    def refills(self) -> bool:
        """The readout is narrowed to what a batch may write, so that with a shortlist nobody enters later."""
        return self.shortlist is None and getattr(self.model.predict, "refills", False)

    def search(
        self, source: Padded, options: Options, *, record: bool, tokens: int | None = None
    ) -> list[list[Hypothesis]]:
        """Beam search; with a beam of one greedy search, which finds the same with less to do."""
        chosen = options if self.shortlist is None else replace(options, shortlist=self.shortlist)
        if options.beam == 1:
            found = greedy_search(self.model, source, chosen, start=START, end=END, record=record, tokens=tokens)
            return [[each] for each in found]
        return beam_search(self.model, source, chosen, start=START, end=END, record=record, tokens=tokens)

    def force(self, batch: Batch, *, record: bool) -> list[Hypothesis]:
        """The model is made to write the targets; all pieces are scored."""
        return force(self.model, batch, record=record)

    def reader(self, aligner: Aligner | None) -> Aligner | None:
        """All layers and heads that look at the source are recorded, so they are where the model has them."""
        return aligner


class Torch(Searched):
    """A model in memory, which can be looked into."""

    def __init__(self, model: Model, shortlist: Shortlist | None = None, lanes: int = 1) -> None:
        super().__init__(model.eval(), shortlist, lanes)
