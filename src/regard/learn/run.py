"""The course of a run: what it decides after each update, what it writes, and what it goes on from.

Many processes go through it in step. They decide alike, from the same numbers; only the main one writes and tells.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from safetensors import SafetensorError

from regard.engine.precision import use_bf16
from regard.errors import TrainingError, UsageError
from regard.evaluate.schema import validation_scores
from regard.learn.events import Outcome, Reason, Saved, Step, Tell, Validated, Validation
from regard.learn.folder import RunFolder, needed_bytes
from regard.learn.learner import Learner
from regard.learn.log import Log
from regard.learn.looks import drop_looks, keep_looks, keep_picture
from regard.learn.loss import PLAIN
from regard.learn.optimise import copies_of
from regard.learn.processes import Processes
from regard.learn.settings import FREE, Flat, TrainSettings, check_same, defaults_of, flat_part, with_defaults
from regard.learn.state import (
    State,
    preserve_rng,
    randomness,
    read_state,
    seed_randomness,
    set_randomness,
    weights_of,
    write_state,
)
from regard.model import Model, save
from regard.recipe import Recipe
from regard.recipe.moved import moved_terms
from regard.registry import Maker
from regard.task import Objective
from regard.types import Batch

Validate = Callable[[Model], Validation]


@runtime_checkable
class Stream(Protocol):
    """Batches without end, which know where they stand (`regard.data.batches.Batches` is one)."""

    def forever(self) -> Iterator[Batch]: ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: Mapping[str, Any], /) -> None: ...


@dataclass(frozen=True)
class Aims:
    """What a run minimises, and what measures the model between updates.

    `validate` is given the model with its averaged weights, not in training.
    """

    objectives: Sequence[Objective] = (PLAIN,)
    validate: Validate | None = None


@dataclass(frozen=True)
class Budget:
    """How long a run may take, over all its resumes: minutes by the clock, validation included, or updates."""

    minutes: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and value <= 0:
                raise UsageError(f"{name} is a number greater than 0; found {value}.")

    def share(self, number: int, seconds: float) -> float | None:
        """How much of it is used after so many updates and seconds; None where there is no budget."""
        shares = [number / self.steps] if self.steps else []
        shares += [seconds / (60 * self.minutes)] if self.minutes else []
        return min(1.0, max(shares)) if shares else None

    def over(self, number: int, seconds: float) -> Reason | None:
        """Which of the two has run out."""
        if self.steps is not None and number >= self.steps:
            return "steps"
        return "minutes" if self.minutes is not None and seconds >= 60 * self.minutes else None

    def left(self, number: int, seconds: float, pace: float) -> float | None:
        """The seconds that are left, where an update takes `pace` of them."""
        rests = [(self.steps - number) * pace] if self.steps else []
        rests += [60 * self.minutes - seconds] if self.minutes else []
        return max(0.0, min(rests)) if rests else None


@dataclass
class Progress:
    """How a run stands, beside its weights: the clock, and what validations brought. All of it is saved."""

    seconds: float = 0.0
    validated: int = 0  # the update after which it was last validated
    validated_seconds: float = 0.0
    waited: int = 0  # validations since the best one
    metric: str | None = None
    score: float | None = None  # of the best validation; more is better
    best: float | None = None  # the same, as the metric has it
    best_number: int = 0


class Run:
    """One run from its beginning, or from its last state, to its end.

    `seconds` is the clock of the run, summed over its resumes: the same in every process, and moved by `tick`.
    """

    def __init__(
        self,
        model: Model,
        batches: Stream,
        settings: TrainSettings,
        place: RunFolder,
        *,
        budget: Budget,
        aims: Aims,
        seed: int,
        tell: Tell,
    ) -> None:
        self.model, self.batches, self.settings, self.place = model, batches, settings, place
        self.budget, self.validate, self.seed, self.tell = budget, aims.validate, seed, tell
        self.processes = Processes()
        bf16 = self.processes.alone(lambda: use_bf16(settings.precision))
        self.learner = Learner(model, settings, batches.forever(), objectives=aims.objectives, bf16=bf16)
        self.progress = Progress()
        self.began = self.seconds = self.saved = 0.0
        self.saved_number = 0
        self.made, self.pieces, self.spent = 0, 0, 0.0  # in this process: updates, pieces, seconds in updates

    def tick(self) -> None:
        """Look at the clock; no two processes have the same one, and that of the longest runner holds for all."""
        self.seconds = self.processes.greatest(time.monotonic() - self.began)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Begin, or go on from the last state; inside, the log is open."""
        goes_on = self.processes.alone(lambda: self.place.prepare(self._needed()))
        with ExitStack() as kept:
            self.processes.alone(lambda: kept.enter_context(self.place.held()))
            seed_randomness(self.seed + self.processes.place)
            if goes_on:
                self.processes.each(lambda: self._restore(read_state(self.place.state)))
                for folder in (self.place.looks, self.place.samples):
                    self.processes.alone(partial(drop_looks, folder, self.learner.number))
            self.began = time.monotonic() - self.progress.seconds
            self.tick()
            self.saved, self.saved_number = self.seconds, self.learner.number
            with self._logged("resume" if goes_on else "start"):
                if not goes_on:
                    self.save()  # a run can go on from the moment it has begun, and a full disk is found now
                yield

    @contextmanager
    def _logged(self, event: str) -> Iterator[None]:
        """Inside, the log of the main process is open."""
        if not self.processes.main:
            yield
            return
        number, settings = self.learner.number, self.settings
        with Log(self.place.folder, settings.log, tensorboard=settings.tensorboard, number=number) as self.log:
            shared = {"processes": self.processes.count, "threads": torch.get_num_threads()}
            self.log.write(event, number=number, torch=torch.__version__, **shared, terms=self._terms())
            yield

    def advance(self) -> None:
        """One update, told and logged."""
        began = time.monotonic()
        done = self.learner.update(self.budget.share(self.learner.number, self.seconds))
        if done is None:
            raise TrainingError("the batches ended; a run needs a stream without end.", hint="Give it Batches(...).")
        self.spent += time.monotonic() - began
        self.made, self.pieces = self.made + 1, self.pieces + done.count
        self.tick()
        left = self.budget.left(self.learner.number, self.seconds, self.spent / self.made)
        speed = self.pieces / self.spent
        told = (done.nll, speed, done.rate, done.norm, left, done.losses, done.noted)
        step = Step(self.learner.number, self.seconds, *told)
        if self.processes.main:
            self.log.step(step)
            self.tell(step)

    def should_validate(self) -> bool:
        """Is a validation due? Asked before an update, so that a run stopped just before one makes it on resume."""
        if self.validate is None or self.progress.validated == self.learner.number:
            return False
        updates = self.learner.number - self.progress.validated
        seconds = self.seconds - self.progress.validated_seconds
        return _due(updates, self.settings.validate_steps, seconds, self.settings.validate_minutes)

    def should_save(self) -> bool:
        """Is a save due?"""
        updates = self.learner.number - self.saved_number
        seconds = self.seconds - self.saved
        return _due(updates, self.settings.save_steps, seconds, self.settings.save_minutes)

    def over(self) -> Reason | None:
        """Why the run ends here, if it does."""
        self.tick()
        reason = self.budget.over(self.learner.number, self.seconds)
        if reason is None and self.settings.patience and self.progress.waited >= self.settings.patience:
            reason = "patience"
        return reason

    def judge(self) -> None:
        """Validate with the weights that would be used, and keep them if they are the best so far."""
        number, progress, validate = self.learner.number, self.progress, self.validate
        if validate is None:
            return
        with self.learner.averaged() as model, preserve_rng(), torch.no_grad():
            found = self.processes.alone(lambda: validate(model))
            progress.metric, score = found.score(self.settings.metric)
            better = progress.score is None or score > progress.score
            progress.waited = 0 if better else progress.waited + 1
            if better:
                progress.score, progress.best, progress.best_number = score, found.values[progress.metric], number
                self._keep_best(model, found.values)
        if found.looks:
            self._write(lambda: keep_looks(self.place.looks, number, found.looks))
        if found.picture:
            self._write(partial(keep_picture, self.place.samples, number, found.picture))
        self.learner.schedule.judge(score)
        self.tick()
        progress.validated, progress.validated_seconds = number, self.seconds
        told = Validated(number, self.seconds, found.values, found.samples, better)
        if self.processes.main:
            self.log.validated(told)
            self.tell(told)

    def save(self) -> None:
        """Write the weights of now for use, and the state to go on from."""
        self.tick()
        self.saved = self.progress.seconds = self.seconds
        self.saved_number = self.learner.number
        with self.learner.averaged() as model:
            self._write(lambda: save(model, self.place.last, self.place.files))
        state = self._state()
        self._write(lambda: write_state(self.place.state, state))
        if self.processes.main:
            self.tell(Saved(self.learner.number, self.seconds, self.place.folder))

    def finish(self, reason: Reason) -> Outcome:
        """Validate once more if the weights have moved since, save, and say how it went."""
        if self.validate is None:
            with self.learner.averaged() as model:
                self._keep_best(model, {})
        elif self.progress.validated < self.learner.number:
            self.judge()
        self.save()
        self.learner.rest()
        progress = self.progress
        outcome = Outcome(
            reason, self.learner.number, self.seconds, progress.metric, progress.best, progress.best_number
        )
        if self.processes.main:
            self.log.write("end", **asdict(outcome))
        return outcome

    def _keep_best(self, model: Model, values: Mapping[str, float]) -> None:
        """Write the model as it stands to `best/`, with its scores."""
        found = validation_scores(values, self.learner.number, metric=self.progress.metric)
        scores = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        self._write(lambda: save(model, self.place.best, {"scores.json": scores, **self.place.files}))

    def _write(self, work: Callable[[], None]) -> None:
        """Let the main process write."""

        def written() -> None:
            try:
                work()
            except (OSError, SafetensorError) as error:
                raise TrainingError(
                    f"{self.place.folder}: update {self.learner.number} could not be saved: {error}.",
                    hint="Make room on the disk; what was saved before is whole, and --resume goes on from it.",
                ) from error

        self.processes.alone(written)

    def _state(self) -> State:
        learner, dice = self.learner.state(), self.processes.gather(randomness())
        tensors, values = dict(learner.tensors), dict(learner.values)
        for place, each in enumerate(dice):
            tensors |= {f"{_dice(place)}.{name}": tensor for name, tensor in each.tensors.items()}
            values[_dice(place)] = each.values
        values |= {"stream": self.batches.state(), "standing": asdict(self.progress), "terms": self._terms()}
        return State(tensors, values)

    def _restore(self, state: State) -> None:
        # A setting that is younger than the run had its default then.
        recipe = self.model.recipe
        known = moved_terms(state.values["terms"])
        began = ({} if recipe is None else _defaults(recipe, known)) | with_defaults(known)
        check_same(began, self._terms(), (*(f"train.{name}" for name in FREE), "task.verb", "task.metrics"))
        self.batches.restore(state.values["stream"])
        self.learner.restore(state)
        self.progress = Progress(**state.values["standing"])
        own = _dice(self.processes.place)
        if own in state.values:  # else there were fewer processes, and this one has a seed of its own
            set_randomness(State(state.under(own), state.values[own]))

    def _terms(self) -> Flat:
        """All that must be the same for a run to go on."""
        recipe = self.model.recipe
        model = {} if recipe is None else flat_part(recipe.model)
        task = {} if recipe is None else {f"task.{key}": value for key, value in flat_part(recipe.task).items()}
        source, target = (each.to_json() for each in self.model.specs)
        sizes = {"source": source, "target": target}
        train = {f"train.{key}": value for key, value in self.settings.flat().items()}
        return {"seed": self.seed, "pieces": sizes, **model, **task, **train}

    def _needed(self) -> int:
        average = self.learner.average
        copies = copies_of(self.settings) + (0 if average is None else average.copies)
        return needed_bytes(sum(each.nbytes for each in weights_of(self.model).values()), copies)


def _defaults(recipe: Recipe, known: Flat) -> Flat:
    """What every setting of a model and its task was, in a run that is older than the setting."""
    task = defaults_of(recipe.task)
    if "task.source.part" not in known:  # a run that is older than tasks turns text into text
        task = flat_part(Maker("task", recipe.task.name)) | task
    return defaults_of(recipe.model) | {f"task.{key}": value for key, value in task.items()}


def _dice(place: int) -> str:
    """The name, in a state, of the random numbers of one process."""
    return f"random-{place}" if place else "random"


def _due(updates: int, every: int, seconds: float, minutes: float) -> bool:
    """Has one of the two gone by? Zero asks for none."""
    return (every > 0 and updates >= every) or (minutes > 0 and seconds >= 60 * minutes)
