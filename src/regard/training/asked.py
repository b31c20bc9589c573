"""What is asked of a training, and the three things that can be done with it: train, rehearse, be timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.held_out import USUAL, HeldOut
from regard.engine.precision import use_bf16
from regard.learn.course import Budget
from regard.learn.events import Tell, quiet
from regard.learn.learner import Learner
from regard.learn.pace import positions_a_second
from regard.learn.place import Place
from regard.learn.run import check_end, run
from regard.learn.team import Team
from regard.model import check_text
from regard.recipe import Recipe, resolve
from regard.training.complete import complete
from regard.training.ready import Ready, Say, Tokenizers, make_ready
from regard.translator import Translator


def silent(line: str) -> None:
    """Say nothing: of many processes, the main one does."""


@dataclass(frozen=True)
class Asked:
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

    def train(self, tell: Tell = quiet, say: Say = silent) -> Translator:
        """Train; the best model comes back. Many processes that a launcher started do this alike, and train as one."""
        team = Team()
        say = say if team.main else silent
        recipe, corpus = self._opened(team)
        team.alone(lambda: _check(corpus, say))
        ready = self._ready(recipe, corpus, say)
        home = Place(Path(self.out), self.resume, {**ready.files, **self.held_out.files})
        budget = Budget(self.minutes, self.steps)
        outcome = run(
            ready.model,
            ready.batches,
            ready.lessons,
            home,
            budget=budget,
            validate=ready.exam,
            seed=self.seed,
            tell=tell,
        )
        learnt = f"{ready.batches.total} ({ready.batches.epochs:.1f} epochs)"
        say(f"stopped by {outcome.reason} after {outcome.number:,} updates; {learnt}")
        team.alone(lambda: complete(home, recipe, corpus, outcome, say))
        return Translator.load(self.out)

    def rehearse(self) -> Tokenizers:
        """Raise what `train` would raise before its first update; the tokenizers it would have.

        What it reads from the cache is there afterwards. In the run folder, nothing is.
        """
        recipe, corpus = self._opened(Team())
        _check(corpus, silent)
        ready = self._ready(recipe, corpus, silent)
        check_end(ready.model, ready.lessons, Budget(self.minutes, self.steps), ready.exam)
        Learner(ready.model, ready.lessons, iter(()), bf16=use_bf16(ready.lessons.precision))
        Place(Path(self.out), self.resume).prepare(0)
        return ready.tokenizers

    def pace(self) -> float:
        """How many target positions a second `train` would learn from; `rehearse` has found it sound.

        A few seconds of real updates are timed, in one process or in many that a launcher started. Nothing is written.
        """
        ready = self._ready(*self._opened(Team()), silent)
        return positions_a_second(ready.model, ready.batches, ready.lessons)

    def _opened(self, team: Team) -> tuple[Recipe, Corpus]:
        recipe = team.each(lambda: resolve(self.recipe, self.settings))
        team.each(lambda: check_text(recipe, self.recipe))
        team.alone(Place(Path(self.out), self.resume).check)  # before a large corpus is read in vain
        corpus = team.first(
            lambda: Corpus.open(
                self.data,
                source=self.source,
                target=self.target,
                size=self.size,
                seed=self.seed,
                held_out=self.held_out,
            )
        )
        return recipe, corpus

    def _ready(self, recipe: Recipe, corpus: Corpus, say: Say) -> Ready:
        return make_ready(recipe, corpus, Path(self.out) if self.resume else self.tokenizers, self.seed, say)


def _check(corpus: Corpus, say: Say) -> None:
    """Errors of the corpus stop, doubts are told."""
    report = check(corpus)
    report.stop_on_errors()
    say(str(report))
