"""What is asked of a training, and the three things that can be done with it: train, rehearse, be timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.held_out import USUAL, HeldOut
from regard.engine.precision import use_bf16
from regard.learn.events import Tell, quiet
from regard.learn.folder import RunFolder
from regard.learn.learner import Learner
from regard.learn.pace import positions_a_second
from regard.learn.processes import Processes
from regard.learn.run import Budget
from regard.learn.train import check_end, run
from regard.recipe import Recipe, resolve
from regard.registry import find
from regard.tasks.complete import complete
from regard.tasks.objects import open_model
from regard.tasks.setup import Say, Setup, Tokenizers, kept_parts, parts_with, set_up


def silent(line: str) -> None:
    """Say nothing: of many processes, the main one does."""


@dataclass(frozen=True)
class TrainJob:
    """A recipe, a corpus and a run folder, and when to stop; `regard.train` says what each is."""

    recipe: str | Path
    data: str | Path
    out: str | Path
    source: str | None = None
    target: str | None = None
    minutes: float | None = None
    steps: int | None = None
    seed: int = 0
    resume: bool = False
    settings: Sequence[str] = ()
    size: int | None = None
    tokenizers: Tokenizers | None = None
    held_out: HeldOut = USUAL

    def train(self, tell: Tell = quiet, say: Say = silent) -> Any:
        """Train; the best model comes back. Many processes that a launcher started do this alike, and train as one."""
        processes = Processes()
        say = say if processes.main else silent
        recipe, corpus = self._opened(processes)
        processes.alone(lambda: _check(corpus, say))
        ready = self._ready(recipe, corpus, say)
        home = RunFolder(Path(self.out), self.resume, {**ready.files, **self.held_out.files})
        budget = Budget(self.minutes, self.steps)
        outcome = run(
            ready.model,
            ready.batches,
            ready.settings,
            home,
            budget=budget,
            aims=processes.each(lambda: ready.aims),
            seed=self.seed,
            tell=tell,
        )
        learnt = f"{ready.batches.total} ({ready.batches.epochs:.1f} epochs)"
        say(f"stopped by {outcome.reason} after {outcome.number:,} updates; {learnt}")
        processes.alone(lambda: complete(home, recipe, corpus, outcome, ready.parts.goal.finish, say))
        return open_model(self.out)

    def rehearse(self) -> Tokenizers | None:
        """Raise what `train` would raise before its first update; the tokenizers it would have, if any.

        What it reads from the cache is there afterwards. In the run folder, nothing is.
        """
        recipe, corpus = self._opened(Processes())
        _check(corpus, silent)
        ready = self._ready(recipe, corpus, silent)
        check_end(ready.model, ready.settings, Budget(self.minutes, self.steps), ready.validator)
        bf16 = use_bf16(ready.settings.precision)
        Learner(ready.model, ready.settings, iter(()), objectives=ready.aims.objectives, bf16=bf16)
        RunFolder(Path(self.out), self.resume).prepare(0)
        return ready.tokenizers

    def pace(self) -> float:
        """How many target positions a second `train` would learn from; `rehearse` has found it sound.

        A few seconds of real updates are timed, in one process or in many that a launcher started. Nothing is written.
        """
        ready = self._ready(*self._opened(Processes()), silent)
        return positions_a_second(ready.model, ready.batches, ready.settings, ready.aims.objectives)

    def _opened(self, processes: Processes) -> tuple[Recipe, Corpus]:
        recipe = processes.each(lambda: resolve(self.recipe, self.settings))
        processes.alone(RunFolder(Path(self.out), self.resume).check)  # before a large corpus is read in vain
        corpus = processes.first(
            lambda: Corpus.open(
                self.data,
                source=self.source,
                target=self.target,
                size=self.size,
                seed=self.seed,
                held_out=self.held_out,
                **_columns(recipe),
            )
        )
        return recipe, corpus

    def _ready(self, recipe: Recipe, corpus: Corpus, say: Say) -> Setup:
        run, task = RunFolder(Path(self.out), self.resume), recipe.task()
        kept = Processes().alone(lambda: kept_parts(run, task)) if self.resume else None
        if kept is None and self.tokenizers is not None:
            kept = parts_with(task, self.tokenizers)
        return set_up(recipe, corpus, kept, self.seed, say)


def columns_of_sides(recipe: Recipe) -> tuple[str, str]:
    """What a corpus has for either side of a task: a side that reads what another does says so as its `column`."""
    names = (recipe.task.settings[side].name for side in ("source", "target"))
    reads, wants = (str(getattr(find("side", name), "column", name)) for name in names)
    return reads, wants


def _columns(recipe: Recipe) -> dict[str, Any]:
    """What a corpus has in its columns, where it is not two languages."""
    reads, wants = columns_of_sides(recipe)
    return {} if (reads, wants) == ("text", "text") else {"reads": reads, "wants": wants}


def _check(corpus: Corpus, say: Say) -> None:
    """Errors of the corpus stop, warnings are told."""
    report = check(corpus)
    report.stop_on_errors()
    say(str(report))
