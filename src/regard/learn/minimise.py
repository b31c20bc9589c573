"""One objective of a training: its loss as a module, the weights that move for it, and their optimiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from regard.errors import UsageError
from regard.learn.distribute import distribute, gathered, wants_shard
from regard.learn.optimise import optimiser_for
from regard.learn.processes import Processes
from regard.learn.settings import TrainSettings
from regard.learn.state import State, optimiser_tensors, restore_optimiser
from regard.model import Model
from regard.task import Loss, Objective
from regard.types import Batch


class LossModule(nn.Module):
    """A model and what it is to minimise, as one module: what is spread over many processes."""

    def __init__(self, model: Model, objective: Objective, bf16: bool) -> None:
        super().__init__()
        self.model, self.objective, self.bf16 = model, objective, bf16

    def forward(self, batch: Batch, number: int) -> Loss:
        """The loss of a batch; products in half precision where asked for, the weights never."""
        device = next(self.model.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.bf16):
            return self.objective.loss(self.model, batch, number)


class Minimiser:
    """Minimises one objective, a step at a time. The `sole` one of a training has all weights to itself."""

    def __init__(
        self, model: Model, objective: Objective, settings: TrainSettings, *, sole: bool = True, bf16: bool = False
    ) -> None:
        self.objective, self.sole = objective, sole
        if not sole and wants_shard(settings.shard):
            raise UsageError(
                "a model with more than one objective cannot be divided among processes.",
                hint="Write shard = false in [train].",
            )
        learnt = [each for each in model.parameters() if each.requires_grad]
        chosen = {id(each) for each in objective.parameters(model)}
        self.others = [each for each in learnt if id(each) not in chosen]
        self.plain = LossModule(model, objective, bf16)
        with self.alone():
            self.module = distribute(self.plain, Processes(), shard=wants_shard(settings.shard))
            # After the weights are where they stay.
            self.optimiser = optimiser_for(model, settings)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, the weights of other objectives are at rest."""
        for each in self.others:
            each.requires_grad_(False)
        try:
            yield
        finally:
            for each in self.others:
                each.requires_grad_(True)

    def set_rate(self, rate: float) -> None:
        """The learning rate of the next step."""
        for table in self.optimiser.param_groups:
            table["lr"] = rate * self.objective.rate * table.get("scale", 1.0)

    def clipped(self, longest: float) -> float:
        """Cut the gradient to its greatest length; how long it was."""
        found = nn.utils.clip_grad_norm_(self._moved(), longest or math.inf)
        return float(gathered({"norm": found}, keep=True)["norm"])

    def step(self) -> None:
        """Move the weights, and forget the gradient."""
        self.optimiser.step()
        self.optimiser.zero_grad()

    def total_of(self, batch: Batch, number: int) -> Callable[[], Tensor]:
        """What is minimised, as a function that can be run again."""
        return lambda: self.plain(batch, number).total

    def tensors(self) -> dict[str, Tensor]:
        """What the optimiser keeps, by the names of a run's state."""
        return {f"{self._name}.{name}": each for name, each in optimiser_tensors(self.optimiser).items()}

    def restore(self, state: State) -> None:
        """Go on from what `tensors` gave."""
        restore_optimiser(self.optimiser, state.under(self._name))

    @property
    def _name(self) -> str:
        return "optimiser" if self.sole else f"optimiser-{self.objective.name}"

    def _moved(self) -> Iterator[nn.Parameter]:
        return (each for each in self.plain.model.parameters() if each.requires_grad)
