"""How fast a model works: sentences and pieces a second, and the watch that measures them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from regard.errors import UsageError


@dataclass(frozen=True)
class Throughput:
    """What was done, and in which time. A rate is 0 where no time passed; of labels there are no pieces."""

    sentences: int
    pieces: int
    seconds: float

    @property
    def sentences_per_second(self) -> float:
        """Sentences a second."""
        return self.sentences / self.seconds if self.seconds > 0 else 0.0

    @property
    def pieces_per_second(self) -> float:
        """Pieces a second; they are the model's own, so compare them only where the tokenizer is the same."""
        return self.pieces / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        if not self.pieces:  # what is not written piece by piece
            return f"{self.sentences_per_second:,.1f} answers/s ({self.sentences:,} answers in {self.seconds:,.1f} s)"
        return (
            f"{self.sentences_per_second:,.1f} sentences/s, {self.pieces_per_second:,.0f} pieces/s "
            f"({self.sentences:,} sentences in {self.seconds:,.1f} s)"
        )


class Stopwatch:
    """Runs inside `with`, as often as wanted; `add` what was done, then ask for the `throughput`.

        watch = Stopwatch()
        for batch in batches:
            with watch:
                results = model.translate(batch)
            watch.add(len(batch), sum(len(result.pieces) for result in results))
        watch.throughput()
    """  # fmt: skip

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._started: float | None = None
        self._sentences = self._pieces = 0
        self._seconds = 0.0

    def __enter__(self) -> Stopwatch:
        if self._started is not None:
            raise UsageError("the stopwatch runs already.", hint="Use another one for what is measured inside.")
        self._started = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._started is not None:
            self._seconds += self._clock() - self._started
            self._started = None

    def add(self, sentences: int, pieces: int) -> None:
        """Count what was done."""
        self._sentences += sentences
        self._pieces += pieces

    def throughput(self) -> Throughput:
        """All that was counted, and the time inside `with`."""
        return Throughput(self._sentences, self._pieces, self._seconds)
