"""The learner: a model, its optimiser, schedule and average, and one update of them all.

It is built on accelerate, with one process or many: every process reads the same stream of batches and keeps
its own share of them, gradients are averaged over processes, and decisions are the main process's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import torch
from torch import nn

from regard.errors import TrainingError
from regard.learn.average import Average
from regard.learn.guide import guide_of
from regard.learn.loss import Loss, count_pieces, sequence_loss
from regard.learn.optimise import optimiser_for
from regard.learn.schedule import Schedule
from regard.learn.settings import Standard
from regard.learn.state import State, optimiser_tensors, put_weights, restore_optimiser, weights_of
from regard.model import Model
from regard.types import Batch

Answer = TypeVar("Answer")


@contextmanager
def flushing() -> Iterator[None]:
    """Inside, numbers too small for their exponent are zero.

    A row of the vocabulary that is not seen for a while has such numbers in Adam's mean, and the processor takes
    twenty times as long for each of them.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


class Lesson(nn.Module):
    """A model and what it is to minimise, as one module: what accelerate wraps for many processes."""

    def __init__(self, model: Model, settings: Standard, bf16: bool) -> None:
        super().__init__()
        self.model, self.smoothing, self.bf16 = model, settings.smoothing, bf16
        self.guide = guide_of(model, settings)

    def forward(self, batch: Batch, own: float) -> Loss:
        """The loss of a batch; products in half precision where asked for, the weights never."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            return sequence_loss(self.model, batch, smoothing=self.smoothing, own=own, guide=self.guide)


@dataclass(frozen=True)
class Update:
    """What one update was: the surprise of a piece, how many pieces, the rate, the gradient's length."""

    surprise: float
    pieces: int
    rate: float
    norm: float


class Learner:
    """Moves a model's weights, an update at a time. `number` counts the updates made."""

    def __init__(self, model: Model, settings: Standard, batches: Iterator[Batch], *, bf16: bool = False) -> None:
        from accelerate import Accelerator

        self.model, self.settings, self.batches, self.number = model.train(), settings, batches, 0
        self.schedule: Schedule = settings.schedule(settings.rate)
        self.average: Average | None = None if settings.average is None else settings.average()
        self.accelerator = Accelerator(cpu=True)
        self.optimiser = optimiser_for(model, settings)
        self.lesson, self.mover = self.accelerator.prepare(Lesson(model, settings, bf16), self.optimiser)

    def update(self, share: float | None = None) -> Update | None:
        """One update from as many batches as are accumulated; None where the batches have run out.

        Every piece counts the same, in whichever batch and process it is.
        """
        group = list(islice(self._own_batches(), self.settings.accumulate))
        if len(group) < self.settings.accumulate:
            return None
        self.number += 1
        rate, own = self.schedule.at(self.number, share), self.settings.own_share(self.number)
        for table in self.optimiser.param_groups:
            table["lr"] = rate
        pieces = self._total(sum(map(count_pieces, group)))
        surprise = 0.0
        for place, batch in enumerate(group, 1):
            # Many processes wait for one another only at the last batch. (`accelerator.accumulate` would count for
            # us, in a counter that all learners of a process share.)
            with nullcontext() if place == len(group) else self.accelerator.no_sync(self.lesson):
                loss = self.lesson(batch, own)
                # Many processes take the mean of their gradients, and we want the sum.
                self.accelerator.backward(loss.total * (loss.pieces * self.accelerator.num_processes / pieces))
                surprise += float(loss.surprise) * loss.pieces
        norm = self._clipped()
        self.mover.step()
        self.mover.zero_grad()
        if self.average is not None:
            self.average.follow(self.number, weights_of(self.model))
        return Update(self._total(surprise) / pieces, int(pieces), rate, norm)

    def agree(self, answer: Answer) -> Answer:
        """The main process's answer, in every process: clocks and signals differ from one to the next."""
        if self.accelerator.num_processes == 1:
            return answer
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list([answer])[0]

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside, the model has the averaged weights, if there is an average, and is not in training."""
        own = {}
        if self.average is not None:
            current = weights_of(self.model)
            own = {name: each.detach().clone() for name, each in current.items()}
            put_weights(self.model, self.average.weights(current))
        self.model.eval()
        try:
            yield
        finally:
            self.model.train()
            if own:
                put_weights(self.model, own)

    def state(self) -> State:
        """Weights, optimiser, schedule and average."""
        kept = {} if self.average is None else self.average.tensors()
        tensors = {f"model.{name}": each for name, each in weights_of(self.model).items()}
        tensors |= {f"optimiser.{name}": each for name, each in optimiser_tensors(self.optimiser).items()}
        tensors |= {f"average.{name}": each for name, each in kept.items()}
        return State(tensors, {"number": self.number, "schedule": self.schedule.state()})

    def restore(self, state: State) -> None:
        """Go on from a state."""
        put_weights(self.model, state.under("model"))
        restore_optimiser(self.optimiser, state.under("optimiser"))
        if self.average is not None:
            self.average.restore(state.under("average"))
        self.schedule.restore(state.values["schedule"])
        self.number = state.values["number"]

    def _own_batches(self) -> Iterator[Batch]:
        """One batch of as many as there are processes. Each reads all of them, so that all stand at one place."""
        count, place = self.accelerator.num_processes, self.accelerator.process_index
        while len(turn := list(islice(self.batches, count))) == count:
            yield turn[place]

    def _total(self, number: int | float) -> float:
        """The sum over all processes."""
        return self.accelerator.reduce(torch.tensor(number, dtype=torch.float64), "sum").item()

    def _clipped(self) -> float:
        """Cut the gradient to its greatest length; how long it was."""
        norm = float(self.accelerator.clip_grad_norm_(self.model.parameters(), self.settings.clip or math.inf))
        if not math.isfinite(norm):
            raise TrainingError(
                f"update {self.number}: the gradient is not a finite number ({norm}).",
                hint='Lower rate, set clip or a warm-up in [train.schedule], or write precision = "fp32".',
            )
        return norm
