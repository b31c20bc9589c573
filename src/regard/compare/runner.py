"""Trials run as processes of their own, several at a time, each with its share of the cores.

Small models gain little from a second thread, so two arms on two cores with a thread each finish sooner than one
after the other with both. A trial's folder holds `run/` (the training), `log.txt` and, when it is done,
`scores.json` and `outputs.txt`; one that has its scores is not run again, and a training that was cut off goes on.
Where there are gold links, `links.txt` has the links that the model found, which its alignment error was counted of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from regard.chunks import one_line
from regard.compare.plan import Plan
from regard.compare.trials import RUN, Trial
from regard.tasks.children import Commands, side_by_side

SCORES, OUTPUTS, LINKS, LOG = "scores.json", "outputs.txt", "links.txt", "log.txt"
PROBABILITIES = "probabilities.txt"  # of the answers, where the model tells them
SOURCES, TARGETS = "pairs.source", "pairs.target"  # in the report's folder: the pairs that have gold links
Tell = Callable[[str, str], None]  # a trial's label, and what it says of itself


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: `error` holds its last words where it failed."""

    trial: Trial
    folder: Path
    error: str = ""


def run_trials(plan: Plan, trials: Sequence[Trial], out: Path, *, jobs: int, tell: Tell) -> list[Outcome]:
    """Run every trial that has no scores yet, in the order given; one that fails does not stop the others."""
    commands = Commands(max(1, (os.cpu_count() or 1) // jobs))
    return side_by_side(_Runner(plan, out, commands, tell).run, trials, commands, out, jobs)


def keep_pairs(sources: Sequence[str], targets: Sequence[str], out: Path) -> None:
    """Write the pairs that have gold links, a line each, for the models to be asked for theirs."""
    for name, lines in ((SOURCES, sources), (TARGETS, targets)):
        (out / name).write_text("".join(f"{one_line(line)}\n" for line in lines), encoding="utf-8")


class _Runner:
    """What has to be done for a trial, as far as it is still to be done."""

    def __init__(self, plan: Plan, out: Path, commands: Commands, tell: Tell) -> None:
        self.plan, self.out, self.commands, self.tell = plan, out, commands, tell

    def run(self, trial: Trial) -> Outcome:
        """Train and score one trial, as far as that is still to be done."""
        folder = trial.folder(self.out)
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / SCORES).is_file():
            self._link(trial, folder)
            self.tell(trial.label, "done before")
            return Outcome(trial, folder)
        run, model = folder / RUN, trial.model(self.out)
        if not trial.arm.finished:
            words = self.plan.train(trial.arm, run, (run / "state.safetensors").is_file(), trial.seed)
            error = self._child(trial, words, folder / LOG, None)
            if error:
                return self._failed(trial, folder, error)
        fresh = folder / f".{SCORES}"
        kept = ["--outputs", str(folder / OUTPUTS), "--probabilities", str(folder / PROBABILITIES)]
        words = [*self.plan.score(model), "--json", *kept]
        error = self._child(trial, words, folder / LOG, fresh)
        if error:
            return self._failed(trial, folder, error)
        fresh.replace(folder / SCORES)
        self._link(trial, folder)
        self.tell(trial.label, "done")
        return Outcome(trial, folder)

    def _failed(self, trial: Trial, folder: Path, error: str) -> Outcome:
        self.tell(trial.label, "failed")
        return Outcome(trial, folder, error)

    def _link(self, trial: Trial, folder: Path) -> None:
        """Keep the links of a model that has an alignment error: its interval needs them sentence by sentence."""
        pairs = [self.out / SOURCES, self.out / TARGETS]
        if (folder / LINKS).is_file() or not all(each.is_file() for each in pairs):
            return
        if "alignment" not in json.loads((folder / SCORES).read_text(encoding="utf-8")):
            return
        fresh = folder / f".{LINKS}"
        words = ["align", str(trial.model(self.out)), *map(str, pairs)]
        if self._child(trial, words, folder / LOG, fresh):
            self.tell(trial.label, f"failed to keep its links: the alignment error has no interval; see {folder / LOG}")
            fresh.unlink(missing_ok=True)
        else:
            fresh.replace(folder / LINKS)

    def _child(self, trial: Trial, words: list[str], log: Path, results: Path | None) -> str:
        return self.commands.run(words, log, partial(self.tell, trial.label), results)
