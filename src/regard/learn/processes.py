"""The processes that train together, one by itself or many that a launcher started.

All of them read the same batches and go through the same updates, so a decision is safe where every process makes it
from the same numbers. What they cannot know alike (the clock, a signal, a validation, an error) goes through
`Processes`: every process asks at the same place and hears the same answer, and none is left waiting for one that has
gone another way.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TypeVar, cast

import torch
from torch import Tensor

from regard.errors import RegardError, TrainingError

Made = TypeVar("Made")
# How long a process waits for the others before it gives up. A process that dies is missed at once; this is for
# one that hangs, and longer than what the main process does alone (it validates, aligns a corpus, builds a cache).
PATIENCE = timedelta(hours=2)


class Elsewhere(TrainingError):
    """Another process has failed, and says itself how; this one ends with it."""

    def __init__(self, message: str, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(message)


class Processes:
    """How many processes there are, which of them this one is, and how they agree.

    `torchrun` and `accelerate launch` say so in the environment, and accelerate reads it. Without them a process is
    by itself, and every method gives back what it was given. Each process has a GPU if there are any.
    """

    def __init__(self) -> None:
        from accelerate import PartialState

        state = PartialState(cpu=not torch.cuda.is_available(), timeout=PATIENCE)
        self.count, self.place, self.device = state.num_processes, state.process_index, state.device
        if self.count > 1:
            _part_at_the_end()

    @property
    def main(self) -> bool:
        """Is this the process that decides, writes and speaks?"""
        return self.place == 0

    def agree(self, answer: Made) -> Made:
        """The main process's answer, in every process."""
        if self.count == 1:
            return answer
        from accelerate.utils import broadcast_object_list

        with self.linked():
            return broadcast_object_list([answer])[0]

    def gather(self, answer: Made) -> list[Made]:
        """Every process's answer, in their order."""
        if self.count == 1:
            return [answer]
        from accelerate.utils import gather_object

        with self.linked():
            return gather_object([answer])

    def total(self, number: int | float) -> int | float:
        """The sum over all processes."""
        return number if self.count == 1 else float(self._reduced(self._number(number), "SUM"))

    def greatest(self, number: int | float) -> int | float:
        """The greatest of all processes' numbers."""
        return number if self.count == 1 else float(self._reduced(self._number(number), "MAX"))

    def add_up(self, tensor: Tensor) -> None:
        """Put into a tensor the sum of it over all processes."""
        if self.count > 1:
            self._reduced(tensor, "SUM")

    def each(self, work: Callable[[], Made]) -> Made:
        """Every process does it, without asking the others; where one fails, all do, and the first of them says why."""
        if self.count == 1:
            return work()
        try:
            made = work()
        except Exception as error:
            self._end_with(self.gather(_told(error)))
            raise
        self._end_with(self.gather(None))
        return made

    def alone(self, work: Callable[[], Made]) -> Made:
        """The main process does it while the others wait; what it made is handed to all of them."""
        return cast(Made, self.agree(self.each(lambda: work() if self.main else None)))

    def first(self, work: Callable[[], Made]) -> Made:
        """The main process does it first, the others after it: what it leaves in a cache is made only once."""
        made = self.each(lambda: work() if self.main else None)
        return self.each(lambda: cast(Made, made) if self.main else work())

    @contextmanager
    def linked(self) -> Iterator[None]:
        """Inside, the loss of another process ends this one with a message."""
        try:
            yield
        except RuntimeError as error:
            if self.count == 1 or not _is_loss(error):
                raise
            raise TrainingError(
                f"process {self.place} of {self.count}: another process of this training has died or is out of reach.",
                hint="If it could still say why, that stands above. --resume goes on from what was saved last.",
            ) from error

    def _end_with(self, failures: Sequence[tuple[str, int] | None]) -> None:
        """End this process if the first that failed is another."""
        place, told = next(((place, told) for place, told in enumerate(failures) if told), (self.place, None))
        if told is not None and place != self.place:
            raise Elsewhere(f"process {place} has failed: {told[0]}", told[1])

    def _number(self, number: int | float) -> Tensor:
        return torch.tensor(number, dtype=torch.float64, device=self.device)

    def _reduced(self, tensor: Tensor, by: str) -> Tensor:
        from torch import distributed

        with self.linked():
            distributed.all_reduce(tensor, getattr(distributed.ReduceOp, by))
        return tensor


@cache
def _part_at_the_end() -> None:
    """End the connections while Python still runs: their threads, left to the end of the process, abort it at times."""
    from accelerate import PartialState

    atexit.register(lambda: PartialState().destroy_process_group())


def _told(failure: Exception) -> tuple[str, int]:
    """What the others are told of a failure, and the exit code that goes with it."""
    if isinstance(failure, RegardError):
        return str(failure), failure.exit_code
    return f"{type(failure).__name__}: {failure}", RegardError.exit_code


def _is_loss(error: RuntimeError) -> bool:
    """Does an error come from the connection between processes? Gloo raises nothing more exact than its name."""
    from torch import distributed

    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()
