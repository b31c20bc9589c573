"""The learner: a model, its objectives with their optimisers, schedule and average, and one update of them all.

One process or many make the same updates: every process reads the same batches, learns from its share of the examples
in each, and the gradients are summed, so that every prediction counts the same wherever it was read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NoReturn

import torch
from torch import Tensor

from regard.engine.precision import can_bf16
from regard.errors import TrainingError
from regard.fast.pages import keep_pages
from regard.learn.average import Average, Weights
from regard.learn.contract import held_to_contract, rehearse
from regard.learn.diagnose import origin
from regard.learn.distribute import gathered, is_sharded, placed_like, without_sync
from regard.learn.loss import PLAIN
from regard.learn.minimise import Minimiser
from regard.learn.processes import Processes
from regard.learn.schedule import Schedule
from regard.learn.settings import TrainSettings
from regard.learn.state import State, preserve_rng, put_weights, weights_of
from regard.model import Model
from regard.task import Objective
from regard.types import Batch


@contextmanager
def flush_denormals() -> Iterator[None]:
    """Inside, freed memory is kept, and numbers too small for their exponent are zero.

    A row of the vocabulary that is not seen for a while has such numbers in Adam's mean, and the processor takes
    twenty times as long for each of them.
    """
    keep_pages()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@dataclass(frozen=True)
class Update:
    """What one update was: the negative log-likelihood of a prediction, how many, the rate, the gradient's length.

    Of several objectives these are the first one's; `losses` has what each of them reports, the mean where it is
    minimised more than once.
    """

    nll: float
    count: int
    rate: float
    norm: float
    losses: Mapping[str, float]
    noted: Mapping[str, float] = field(default_factory=dict)  # what the model has to say of itself


class Learner:
    """Moves a model's weights, an update at a time. `number` counts the updates made."""

    def __init__(
        self,
        model: Model,
        settings: TrainSettings,
        batches: Iterator[Batch],
        *,
        objectives: Sequence[Objective] = (PLAIN,),
        bf16: bool = False,
    ) -> None:
        self.model, self.settings, self.batches, self.number = model.train(), settings, batches, 0
        self.schedule: Schedule = settings.schedule(settings.rate)
        self.average: Average | None = None if settings.average is None else settings.average()
        self.processes = Processes()
        self.processes.each(lambda: rehearse(model))
        sole = len(objectives) == 1
        self.minimisers = [Minimiser(model, each, settings, sole=sole, bf16=bf16) for each in objectives]
        learnt = {name for name, _ in model.named_parameters()}
        self.noted = [each for name, each in weights_of(model).items() if name not in learnt]
        self.paced = [each for each in model.modules() if hasattr(each, "progress")]

    def update(self, share: float | None = None) -> Update | None:
        """One update from as many batches as are accumulated; None where the batches have run out.

        Every prediction counts the same, in whichever batch and process it is. `share` is how much of the budget is
        used: modules that move with the training (`progress`) hear of it.
        """
        turns = [each for each in self.minimisers for _ in range(each.objective.repeat)]
        wanted = self.settings.accumulate
        groups = [list(islice(self.batches, wanted)) for _ in turns]
        if any(len(group) < wanted for group in groups):
            return None
        self.number += 1
        rate = self.schedule.at(self.number, share)
        for module in self.paced:
            module.progress(self.number, share)  # type: ignore[operator]
        with held_to_contract(self.model) if self.number == 1 else nullcontext():
            done = [self._minimise(*turn, rate) for turn in zip(turns, groups, strict=True)]
        if self.average is not None:
            self.average.follow(self.number, self._averaged_of(weights_of(self.model)))
        found: dict[str, list[float]] = {}
        for turn, (nll, _, _) in zip(turns, done, strict=True):
            found.setdefault(turn.objective.name, []).append(nll)
        losses = {name: sum(each) / len(each) for name, each in found.items()}
        told: Any = getattr(self.model, "noted", dict)
        return Update(next(iter(losses.values())), done[0][1], rate, done[0][2], losses, told())

    def _averaged_of(self, weights: Weights) -> Weights:
        """Those that an average follows: all, unless the model says which."""
        wanted: Any = getattr(self.model, "is_averaged", None)
        return weights if wanted is None else {name: each for name, each in weights.items() if wanted(name)}

    def _minimise(self, objective: Minimiser, group: list[Batch], rate: float) -> tuple[float, int, float]:
        """One step of one objective: its mean -log p, of how many predictions, and the gradient's length."""
        count, nll, dice = sum(batch.count for batch in group), 0.0, torch.get_rng_state()
        with objective.alone():
            objective.set_rate(rate)
            for place, batch in enumerate(group, 1):
                # Many processes wait for one another only at the last batch.
                with nullcontext() if place == len(group) else without_sync(objective.module):
                    nll += self._learn(objective, batch, count)
            norm, nll = objective.clipped(self.settings.clip), self.processes.total(nll)
            if not math.isfinite(norm + nll):
                self._fail(objective, group, dice, norm)
            objective.step()
        return nll / count, count, norm

    def _learn(self, objective: Minimiser, batch: Batch, count: int) -> float:
        """Add the gradient of this process's share of a batch, for an update of so many predictions; its -log p.

        A batch of a few long pairs may leave a process without any. It reads the first one then, and counts it as
        nothing: gradients are added up on the way back, and all processes must go that way.
        """
        processes = self.processes.count
        ours = batch.share(self.processes.place, processes)
        loss = objective.module((ours or _first(batch)).to(self.processes.device), self.number)
        counted = 0 if ours is None else loss.count
        # Many processes take the mean of their gradients, and we want the sum.
        (loss.total * (counted * processes / count)).backward()
        self._even_out((0 if ours is None else len(ours)) / len(batch))
        return float(loss.nll) * counted

    def _even_out(self, rows: float) -> None:
        """What parts note of a batch (a hard choice its mean reward) becomes the mean over the rows of all shares."""
        for each in self.noted if self.processes.count > 1 else ():
            if each.is_floating_point():
                each.mul_(rows)
                self.processes.add_up(each)

    @contextmanager
    def averaged(self) -> Iterator[Model]:
        """Inside, the model has the averaged weights, if there is an average, and is not in training.

        What is given is the model to use: itself, or in the main process a copy of one that is divided or on a GPU.
        """
        own = {}
        if self.average is not None:
            current = weights_of(self.model)
            own = {name: each.detach().clone() for name, each in current.items()}
            put_weights(self.model, {**current, **self.average.weights(self._averaged_of(current))})
        self.model.eval()
        try:
            yield self._usable()
        finally:
            self.model.train()
            if own:
                put_weights(self.model, own)

    def rest(self) -> None:
        """The end of the training: the model is handed back for use."""
        self.model.eval()
        if not is_sharded(self.model):
            self.model.cpu()

    def _usable(self) -> Model:
        if not is_sharded(self.model) and self.processes.device.type == "cpu":
            return self.model
        weights = gathered(weights_of(self.model), keep=self.processes.main)
        if self.model.recipe is None or not self.processes.main:
            return self.model
        with preserve_rng():
            twin: Model = self.model.recipe.build(*self.model.specs)
        put_weights(twin, weights)
        return twin.eval()

    def state(self) -> State:
        """Weights, optimiser, schedule and average; all processes ask, and the main one has them."""
        kept = {} if self.average is None else self.average.tensors()
        tensors = {f"model.{name}": each for name, each in weights_of(self.model).items()}
        for objective in self.minimisers:
            tensors |= objective.tensors()
        tensors |= {f"average.{name}": each for name, each in kept.items()}
        values = {"number": self.number, "schedule": self.schedule.state(), "bf16": self._bf16}
        return State(gathered(tensors, keep=self.processes.main), values)

    def restore(self, state: State) -> None:
        """Go on from a state."""
        put_weights(self.model, state.under("model"))
        for objective in self.minimisers:
            objective.restore(state)
        if self.average is not None:
            self.average.restore(self._as_kept(state.under("average")))
        self.schedule.restore(state.values["schedule"])
        self._bf16 = self._goes_on_in_bf16(state)
        self.number = state.values["number"]

    @property
    def _bf16(self) -> bool:
        return self.minimisers[0].plain.bf16

    @_bf16.setter
    def _bf16(self, bf16: bool) -> None:
        for each in self.minimisers:
            each.plain.bf16 = bf16

    def _goes_on_in_bf16(self, state: State) -> bool:
        """As the run began: what `auto` finds the faster may be another the next day. But not where that fails."""
        now = self._bf16
        began = bool(state.values.get("bf16", now))
        return began if began == now or not began or can_bf16() else now

    def _as_kept(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The tensors of an average, each placed as the weight that its name ends with."""
        weights, found = weights_of(self.model), {}
        for key, each in tensors.items():
            names = [name for name in weights if f".{key}".endswith(f".{name}")]
            found[key] = placed_like(each, weights[max(names, key=len)]) if names else each
        return found

    def _fail(self, objective: Minimiser, group: list[Batch], dice: Tensor, norm: float) -> NoReturn:
        """Say which part of the model made numbers that are not finite; the same draws show it."""
        found = None
        torch.set_rng_state(dice)
        for batch in () if is_sharded(self.model) else group:
            ours = batch.share(self.processes.place, self.processes.count) or _first(batch)
            found = found or origin(self.model, objective.total_of(ours.to(self.processes.device), self.number))
        told = next((each for each in self.processes.gather(found) if each), "")
        what = "the loss" if math.isfinite(norm) else f"the gradient ({norm})"
        raise TrainingError(
            f"update {self.number}: {what} is not a finite number. {told}".rstrip(),
            hint='Lower rate, set clip or a warm-up in [train.schedule], write precision = "fp32", '
            "or take another part in its place.",
        )


def _first(batch: Batch) -> Batch:
    """The first example of a batch, as a batch."""
    return batch.share(0, len(batch)) or batch
