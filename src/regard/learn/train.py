"""A run: one training, in one folder, that can be stopped at any moment and resumed as if it never was.

settings = TrainSettings(rate=1e-3, schedule=maker("schedule", "cosine"), average=maker("average", "ema"))
run(model, batches, settings, RunFolder(Path("runs/de-en")), budget=Budget(minutes=30), aims=Aims(validate=validate))
"""

from __future__ import annotations

from signal import Signals

from regard.errors import Interrupted, ModelError, UsageError
from regard.learn.events import Outcome, Tell, quiet
from regard.learn.folder import RunFolder
from regard.learn.learner import flush_denormals
from regard.learn.processes import Processes
from regard.learn.run import Aims, Budget, Run, Stream, Validate
from regard.learn.schedule import Schedule
from regard.learn.settings import TrainSettings
from regard.learn.stop import Stop, stopping
from regard.model import Model


def run(
    model: Model,
    batches: Stream,
    settings: TrainSettings,
    place: RunFolder,
    *,
    budget: Budget,
    aims: Aims | None = None,
    seed: int = 0,
    tell: Tell = quiet,
) -> Outcome:
    """Train until the budget or the patience ends; the best weights are then in `best/`, the last in `last/`.

    The model itself keeps the last weights as they were trained. With a budget of steps, the same model, batches,
    settings, seed, machine, processes and threads give the same weights, bit for bit, however often the run was
    killed and resumed; with minutes, the same clock does.

    Many processes that a launcher started all call this with the same arguments. Only the main one writes, validates
    and tells; all return the outcome, or raise.

    Args:
        batches: what to learn from.
        place: the folder, whether to go on in it, and the further files of its model folders.
        budget: minutes, updates, or neither where `settings.patience` ends the run.
        aims: what is minimised, and what measures the model; else the likelihood of the right pieces, and nothing.
        seed: of dropout and all other draws; the first weights are the caller's.
        tell: hears every step, validation and save.
    """
    processes = Processes()
    aims = aims or Aims()
    processes.each(lambda: check_end(model, settings, budget, aims.validate))
    with processes.linked():
        run = Run(model, batches, settings, place, budget=budget, aims=aims, seed=seed, tell=tell)
        with stopping() as stop, flush_denormals(), run.opened():
            return _to_the_end(run, stop)


def _to_the_end(run: Run, stop: Stop) -> Outcome:
    """Update after update, until the course is over or somebody asks to stop."""
    while True:
        if run.should_validate():
            run.judge()
            run.save()
        if (reason := run.over()) is not None:
            return run.finish(reason)
        run.advance()
        asked = int(run.processes.greatest(stop.asked))  # one process asked is all asked
        if asked or run.should_save():
            run.save()
        if asked:
            raise Interrupted(
                f"{Signals(asked).name}: stopped after update {run.learner.number}; the state is in "
                f"{run.place.folder}.",
                hint="Go on with --resume (in Python resume=True).",
            )


def check_end(model: Model, settings: TrainSettings, budget: Budget, validate: Validate | None) -> None:
    """Refuse before anything is written what could not end well."""
    if model.recipe is None:
        raise ModelError(
            "only a model built from a recipe can be trained in a folder: it could not be saved.",
            hint="Build it with regard.recipe.resolve(...).build(...).",
        )
    schedule: Schedule = settings.schedule(settings.rate)
    named = f"the schedule '{settings.schedule.name}'"
    endless = budget.minutes is None and budget.steps is None
    if schedule.needs_budget and endless:
        raise UsageError(
            f"{named} needs to know when the run ends.", hint="Give --minutes or --steps, or take another schedule."
        )
    if endless and not settings.patience:
        raise UsageError(
            "the run would never end.", hint="Give --minutes or --steps, or write patience = 5 in [train]."
        )
    if not (schedule.needs_validation or settings.patience):
        return
    what = named if schedule.needs_validation else f"patience = {settings.patience}"
    if validate is None:
        raise UsageError(f"{what} needs validation, and there is none.", hint="Give the corpus a split called val.")
    if not (settings.validate_steps or settings.validate_minutes):
        raise UsageError(
            f"{what} needs validation, and validate_steps and validate_minutes are both 0.",
            hint="Write validate_steps = 500 in [train].",
        )
