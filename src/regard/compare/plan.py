"""What all arms of a comparison share: the data, the budget, how outputs are found; and the commands that follow."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from regard.compare.arms import Arm
from regard.data.held_out import Amount
from regard.errors import UsageError

PLAN_FILE = "plan.json"
GROWING = ("seeds",)  # what may change: more seeds leave what was measured as it is


@dataclass(frozen=True)
class Plan:
    """The conditions that are equal for all arms."""

    data: str
    source: str | None = None
    target: str | None = None
    minutes: float | None = None
    steps: int | None = None
    seed: int = 0
    size: int | None = None
    settings: tuple[str, ...] = ()
    split: str = "test"
    beam: int = 5
    alpha: float | None = None
    any_language: bool = False
    validation: Amount | None = None
    test: Amount | None = None
    seeds: int = 1

    def train(self, arm: Arm, run: Path, resume: bool = False, seed: int | None = None) -> list[str]:
        """The words of the command that trains an arm; settings of its own come last, so that they win."""
        options: dict[str, Amount | None] = {
            "minutes": self.minutes,
            "steps": self.steps,
            "seed": self.seed if seed is None else seed,
            "size": self.size,
        }
        words = ["train", arm.recipe, *self._corpus(), "--out", str(run)]
        words += _options(options)
        words += [word for setting in (*self.settings, *arm.settings) for word in ("-s", setting)]
        return [*words, "--resume"] if resume else words

    def evaluate(self, arm: Arm, run: Path) -> list[str]:
        """The words of the command that scores an arm, or its first model."""
        return self.score(arm.recipe if arm.finished else run)

    def score(self, model: str | Path) -> list[str]:
        """The words of the command that scores a model."""
        words = [
            "evaluate",
            str(model),
            *self._corpus(),
            "--split",
            self.split,
            "--beam",
            str(self.beam),
            "--by-length",
        ]
        words += [] if self.alpha is None else ["--alpha", f"{self.alpha:g}"]
        return [*words, "--any-language"] if self.any_language else words

    def keep(self, out: Path) -> None:
        """Note the plan in the report's folder; one that is there already must be the same but for how many seeds."""
        path = out / PLAN_FILE
        now = json.loads(json.dumps(asdict(self)))
        if path.is_file():
            before = {**asdict(Plan(self.data)), **json.loads(path.read_text(encoding="utf-8"))}
            other = [key for key in now if before.get(key) != now[key] and key not in GROWING]
            told = [f"  {key}: was {before.get(key)!r}, is {now[key]!r}" for key in other]
            if told:
                raise UsageError(
                    f"{out} holds a comparison under other conditions:\n" + "\n".join(told),
                    hint="Write them as they were to go on with it, or give another --out.",
                )
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")

    def _corpus(self) -> list[str]:
        languages = [("--from", self.source), ("--to", self.target)]
        words = ["--data", self.data, *(word for option, name in languages if name for word in (option, name))]
        return [*words, *_options({"validation": self.validation, "test": self.test})]


def _options(values: Mapping[str, Amount | None]) -> list[str]:
    """Numbers as options of a command, those that are none left out."""
    given = [(f"--{name}", value) for name, value in values.items() if value is not None]
    return [word for name, value in given for word in (name, str(value) if isinstance(value, int) else f"{value:g}")]


def written(words: Sequence[str]) -> str:
    """A command as a person would type it."""
    return shlex.join(["regard", *words])
