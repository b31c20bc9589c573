"""The model itself, run by PyTorch: every part, every option, every layer recorded."""

from __future__ import annotations

from pathlib import Path

import torch

from regard.data.tokenizer import END, START
from regard.model import Model, load
from regard.record import Aligner
from regard.search import Hypothesis, Options, beam_search, force
from regard.types import Batch, Padded


class Searched:
    """A model that our own search steps through, whatever computes its steps."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def search(self, source: Padded, options: Options, *, record: bool) -> list[list[Hypothesis]]:
        """Beam search."""
        return beam_search(self.model, source, options, start=START, end=END, record=record)

    def force(self, batch: Batch, *, record: bool) -> list[Hypothesis]:
        """The model is made to write the targets."""
        return force(self.model, batch, record=record)

    def reader(self, aligner: Aligner | None) -> Aligner | None:
        """All layers and heads that look at the source are recorded, so they are where the model has them."""
        return aligner


class Torch(Searched):
    """A model in memory, which can be looked into."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.eval())


def open_folder(folder: Path, threads: int | None = None) -> Torch:
    """The engine of a model folder."""
    if threads is not None:
        torch.set_num_threads(threads)
    return Torch(load(folder))
