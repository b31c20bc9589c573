"""The learner: a model, its optimiser, schedule and average, and one update of them all.

One process or many make the same updates: every process reads the same batches, learns from its share of the pairs
in each, and the gradients are summed, so that every piece counts the same wherever it was read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NoReturn

import torch
from torch import Tensor, nn

from regard.data.batches import share_of
from regard.engine.precision import can_bf16
from regard.errors import TrainingError
from regard.fast.pages import keep_pages
from regard.learn.average import Average
from regard.learn.contract import held_to_contract, rehearse
from regard.learn.diagnose import origin
from regard.learn.distribute import distribute, gathered, is_sharded, placed_like, to_device, wants_shard, without_sync
from regard.learn.guide import guide_of
from regard.learn.loss import Loss, count_pieces, sequence_loss
from regard.learn.optimise import optimiser_for
from regard.learn.processes import Processes
from regard.learn.schedule import Schedule
from regard.learn.settings import TrainSettings
from regard.learn.state import State, optimiser_tensors, preserve_rng, put_weights, restore_optimiser, weights_of
from regard.model import Model
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


class LossModule(nn.Module):
    """A model and what it is to minimise, as one module: what is spread over many processes."""

    def __init__(self, model: Model, settings: TrainSettings, bf16: bool) -> None:
        super().__init__()
        self.model, self.smoothing, self.bf16 = model, settings.smoothing, bf16
        self.guide = guide_of(model, settings)

    def forward(self, batch: Batch, own: float) -> Loss:
        """The loss of a batch; products in half precision where asked for, the weights never."""
        with torch.autocast(batch.target.data.device.type, torch.bfloat16, enabled=self.bf16):
            return sequence_loss(self.model, batch, smoothing=self.smoothing, own=own, guide=self.guide)


@dataclass(frozen=True)
class Update:
    """What one update was: the negative log-likelihood of a piece, how many pieces, the rate, the gradient's length."""

    nll: float
    pieces: int
    rate: float
    norm: float


class Learner:
    """Moves a model's weights, an update at a time. `number` counts the updates made."""

    def __init__(self, model: Model, settings: TrainSettings, batches: Iterator[Batch], *, bf16: bool = False) -> None:
        self.model, self.settings, self.batches, self.number = model.train(), settings, batches, 0
        self.schedule: Schedule = settings.schedule(settings.rate)
        self.average: Average | None = None if settings.average is None else settings.average()
        self.processes = Processes()
        self.processes.each(lambda: rehearse(model))
        self.plain = LossModule(model, settings, bf16)
        self.loss_module = distribute(self.plain, self.processes, shard=wants_shard(settings.shard))
        self.optimiser = optimiser_for(model, settings)  # after the weights are where they stay
        learnt = {name for name, _ in model.named_parameters()}
        self.noted = [each for name, each in weights_of(model).items() if name not in learnt]

    def update(self, share: float | None = None) -> Update | None:
        """One update from as many batches as are accumulated; None where the batches have run out.

        Every piece counts the same, in whichever batch and process it is.
        """
        group = list(islice(self.batches, self.settings.accumulate))
        if len(group) < self.settings.accumulate:
            return None
        self.number += 1
        rate = self.schedule.at(self.number, share)
        for table in self.optimiser.param_groups:
            table["lr"] = rate
        pieces, nll, dice = sum(map(count_pieces, group)), 0.0, torch.get_rng_state()
        with held_to_contract(self.model) if self.number == 1 else nullcontext():
            for place, batch in enumerate(group, 1):
                # Many processes wait for one another only at the last batch.
                with nullcontext() if place == len(group) else without_sync(self.loss_module):
                    nll += self._learn(batch, pieces)
        norm, nll = self._clipped(), self.processes.total(nll)
        if not math.isfinite(norm + nll):
            self._fail(group, dice, norm)
        self.optimiser.step()
        self.optimiser.zero_grad()
        if self.average is not None:
            self.average.follow(self.number, weights_of(self.model))
        return Update(nll / pieces, pieces, rate, norm)

    def _learn(self, batch: Batch, pieces: int) -> float:
        """Add the gradient of this process's share of a batch, for an update of so many pieces; its -log p.

        A batch of a few long pairs may leave a process without any. It reads the first one then, and counts it as
        nothing: gradients are added up on the way back, and all processes must go that way.
        """
        count = self.processes.count
        ours = share_of(batch, self.processes.place, count)
        loss = self.loss_module(
            to_device(ours or _first(batch), self.processes.device), self.settings.own_share(self.number)
        )
        counted = 0 if ours is None else loss.pieces
        # Many processes take the mean of their gradients, and we want the sum.
        (loss.total * (counted * count / pieces)).backward()
        self._even_out((0 if ours is None else len(ours.target.mask)) / len(batch.target.mask))
        return float(loss.nll) * counted

    def _even_out(self, rows: float) -> None:
        """What parts note of a batch (a hard choice its mean reward) becomes the mean over the rows of all shares."""
        for each in self.noted if self.processes.count > 1 else ():
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
            put_weights(self.model, self.average.weights(current))
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
            twin: Model = self.model.recipe.build(*self.model.sizes)
        put_weights(twin, weights)
        return twin.eval()

    def state(self) -> State:
        """Weights, optimiser, schedule and average; all processes ask, and the main one has them."""
        kept = {} if self.average is None else self.average.tensors()
        tensors = {f"model.{name}": each for name, each in weights_of(self.model).items()}
        tensors |= {f"optimiser.{name}": each for name, each in optimiser_tensors(self.optimiser).items()}
        tensors |= {f"average.{name}": each for name, each in kept.items()}
        values = {"number": self.number, "schedule": self.schedule.state(), "bf16": self.plain.bf16}
        return State(gathered(tensors, keep=self.processes.main), values)

    def restore(self, state: State) -> None:
        """Go on from a state."""
        put_weights(self.model, state.under("model"))
        restore_optimiser(self.optimiser, state.under("optimiser"))
        if self.average is not None:
            self.average.restore(self._as_kept(state.under("average")))
        self.schedule.restore(state.values["schedule"])
        self.plain.bf16 = self._goes_on_in_bf16(state)
        self.number = state.values["number"]

    def _goes_on_in_bf16(self, state: State) -> bool:
        """As the run began: what `auto` finds the faster may be another the next day. But not where that fails."""
        now = self.plain.bf16
        began = bool(state.values.get("bf16", now))
        return began if began == now or not began or can_bf16() else now

    def _as_kept(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The tensors of an average, each placed as the weight that its name ends with."""
        weights, found = weights_of(self.model), {}
        for key, each in tensors.items():
            names = [name for name in weights if f".{key}".endswith(f".{name}")]
            found[key] = placed_like(each, weights[max(names, key=len)]) if names else each
        return found

    def _clipped(self) -> float:
        """Cut the gradient to its greatest length; how long it was."""
        found = nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip or math.inf)
        return float(gathered({"norm": found}, keep=True)["norm"])

    def _fail(self, group: list[Batch], dice: Tensor, norm: float) -> NoReturn:
        """Say which part of the model made numbers that are not finite; the same draws show it."""
        found, own = None, self.settings.own_share(self.number)
        loss_module = getattr(self.loss_module, "module", self.loss_module)
        torch.set_rng_state(dice)
        for batch in () if is_sharded(self.model) else group:
            ours = to_device(
                share_of(batch, self.processes.place, self.processes.count) or _first(batch), self.processes.device
            )
            found = found or origin(self.model, partial(_total, loss_module, ours, own))
        told = next((each for each in self.processes.gather(found) if each), "")
        what = "the loss" if math.isfinite(norm) else f"the gradient ({norm})"
        raise TrainingError(
            f"update {self.number}: {what} is not a finite number. {told}".rstrip(),
            hint='Lower rate, set clip or a warm-up in [train.schedule], write precision = "fp32", '
            "or take another part in its place.",
        )


def _total(loss_module: nn.Module, batch: Batch, own: float) -> Tensor:
    """What an update minimises."""
    return loss_module(batch, own).total


def _first(batch: Batch) -> Batch:
    """The first pair of a batch, as a batch."""
    alone = share_of(batch, 0, len(batch.target.mask))
    return batch if alone is None else alone
