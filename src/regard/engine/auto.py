"""A model folder run by CTranslate2 where that does the same sooner, and by PyTorch where it cannot.

The folder is converted once (`converted`). PyTorch is imported when something is asked for that only the model itself
can do: an option that CTranslate2 lacks, a line longer than what was converted, every layer's weights, the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from regard.align.record import Aligner
from regard.engine import ENGINES, OWN, Engine, Ids
from regard.engine.converted import Say, converted, drop
from regard.engine.ctranslate2 import CTranslate2
from regard.engine.ctranslate2 import open_folder as open_converted
from regard.errors import ModelError
from regard.fast import shortcuts
from regard.search import Hypothesis, Options

if TYPE_CHECKING:
    from jaxtyping import Float

SETTING = "REGARD_ENGINE"  # "torch" leaves model folders to PyTorch


class Auto:
    """Two engines of one model: CTranslate2's, and its own, which is opened when it is needed.

    What a search records is the mean of the heads that align, whichever engine made it; `whole` has all of them.
    """

    condensed = True

    def __init__(self, fast: CTranslate2, open_own: Callable[[], Engine]) -> None:
        self.fast, self._open, self._opening = fast, open_own, Lock()
        self._own: Engine | None = None
        self._aligner: Aligner | None = None

    def whole(self) -> Engine:
        """The model itself, which can do all there is."""
        with self._opening:
            if self._own is None:
                self._own = self._open()
            return self._own

    @property
    def sizes(self) -> tuple[int, int]:
        """CTranslate2's."""
        return self.fast.sizes

    @property
    def workers(self) -> int:
        """CTranslate2's."""
        return self.fast.workers

    def continuous(self) -> bool:
        """Only the model itself lets sentences in later."""
        return self.whole().continuous()

    def pool(self, workers: int) -> AbstractContextManager[Executor]:
        """CTranslate2's."""
        return self.fast.pool(workers)

    def search(
        self, sources: Sequence[Ids], options: Options, *, record: bool, tokens: int | None = None
    ) -> list[list[Hypothesis]]:
        """CTranslate2's, where it is able."""
        if tokens is None and not self._watched() and self.fast.able(sources, options):
            return self.fast.search(sources, options, record=record)
        found = self.whole().search(sources, options, record=record, tokens=tokens)
        return [[self._aligning(each) for each in best] for best in found]

    def force(self, sources: Sequence[Ids], targets: Sequence[Ids], *, record: bool) -> list[Hypothesis]:
        """CTranslate2's, where nothing is too long for it."""
        if not self._watched() and self.fast.has_room(sources, targets):
            return self.fast.force(sources, targets, record=record)
        return [self._aligning(each) for each in self.whole().force(sources, targets, record=record)]

    def reader(self, aligner: Aligner | None) -> Aligner | None:
        """The one row that is recorded."""
        self._aligner = aligner
        return self.fast.reader(aligner)

    def _watched(self) -> bool:
        """Does somebody watch the model? Then it must be the one that looks."""
        return self._own is not None and not shortcuts()

    def _aligning(self, found: Hypothesis) -> Hypothesis:
        """With the mean of the heads that align alone, as CTranslate2 records it."""
        return replace(found, weights=(self._row(found),)) if found.weights else found

    def _row(self, found: Hypothesis) -> Float[np.ndarray, "1 T S"]:
        aligner = self._aligner or Aligner.default(len(found.weights))
        layer = np.asarray(found.weights[aligner.layer])
        return (layer[list(aligner.heads)] if aligner.heads else layer).mean(0, keepdims=True)


def open_folder(folder: Path, threads: int | None, say: Say) -> Engine:
    """The engines of a model folder: two where it can be converted, else its own."""

    def own() -> Engine:
        return import_module(ENGINES[OWN]).open_folder(folder, threads)

    if os.environ.get(SETTING) == OWN:
        return own()
    for _ in range(2):  # a conversion that cannot be opened is made again, once
        place = converted(folder, say)
        if place is None:
            return own()
        try:
            return Auto(open_converted(place, threads), own)
        except ModelError:
            drop(place)
    return own()
