"""The model itself, run by PyTorch: every part, every option, every layer recorded."""

from __future__ import annotations

from pathlib import Path

import torch

from regard.data.tokenizer import END, START
from regard.model import Model, load
from regard.record import Aligner
from regard.search import Hypothesis, Options, beam_search, force
from regard.types import Batch, Padded


class Torch:
    """A model in memory."""

    def __init__(self, model: Model) -> None:
        self.model = model.eval()

    def search(self, source: Padded, options: Options, *, record: bool) -> list[list[Hypothesis]]:
        """Beam search."""
        return beam_search(self.model, source, options, start=START, end=END, record=record)

    def force(self, batch: Batch, *, record: bool) -> list[Hypothesis]:
        """The model is made to write the targets."""
        return force(self.model, batch, record=record)

    def reader(self, aligner: Aligner | None) -> Aligner | None:
        """All layers and heads are recorded, so they are where the model has them."""
        return aligner


def open_folder(folder: Path, threads: int | None = None) -> Torch:
    """The engine of a model folder."""
    if threads is not None:
        torch.set_num_threads(threads)
    return Torch(load(folder))
