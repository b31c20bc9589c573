"""The arms of a trial, its conditions, and the commands that train them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from regard.errors import UnknownName, UsageError
from regard.recipe import NAMED
from regard.recipe.reproduce import Reproduce, read_reproduce, systems

PLAN = "plan.json"
PAPER = "-paper"


@dataclass(frozen=True)
class Arm:
    """What is trained: a recipe and what is changed in it. `folder` has its run, its log and whether it is done."""

    label: str
    recipe: str
    settings: tuple[str, ...]
    folder: Path

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.folder / "run"

    @property
    def done(self) -> Path:
        """A file that is there once the training has ended by itself."""
        return self.folder / "done"


@dataclass(frozen=True)
class Plan:
    """The conditions of a trial: the system and its table, with the minutes and the seed that were asked."""

    system: str
    table: Reproduce
    minutes: float
    seed: int
    out: Path

    def arms(self) -> list[Arm]:
        """The system's own arm, and the one that it is compared with."""
        ours = self._arm(self.system, self.system, self.table.changes)
        if not self.table.against:
            return [ours]
        label, found, rest = self.table.against.partition(": ")
        words = (rest if found else label).split()
        return [ours, self._arm(label if found else " ".join(words), words[0], words[1:])]

    def _arm(self, label: str, recipe: str, settings: Iterable[str]) -> Arm:
        folder = re.sub(r"[^\w.=+-]+", "-", label).strip("-.") or "arm"
        return Arm(label, recipe, (*self.table.settings, *settings), self.out / "arms" / folder)

    def keep(self) -> None:
        """Note the conditions in the trial's folder; those that are there already must be the same."""
        path = self.out / PLAN
        now = {"system": self.system, "minutes": self.minutes, "seed": self.seed, "table": asdict(self.table)}
        now = json.loads(json.dumps(now))
        if path.is_file() and (before := json.loads(path.read_text(encoding="utf-8"))) != now:
            other = ", ".join(key for key in now if before.get(key) != now[key])
            raise UsageError(
                f"{self.out} holds a trial under other conditions: {other}.",
                hint="Write them as they were to go on with it, give another --out, or remove the folder.",
            )
        self.out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")

    def train(self, arm: Arm, minutes: float) -> list[str]:
        """The words of the command that trains an arm; one that was cut off goes on."""
        table = self.table
        words = ["train", arm.recipe, "--data", table.data, "--out", str(arm.run)]
        languages = (("--from", table.source), ("--to", table.target), ("--size", table.size))
        words += [word for name, value in languages if value is not None for word in (name, str(value))]
        words += ["--minutes", f"{minutes:.4g}", "--seed", str(self.seed)]
        words += [word for setting in arm.settings for word in ("-s", setting)]
        return [*words, "--resume"] if (arm.run / "state.safetensors").is_file() else words


def table_of(system: str) -> Reproduce:
    """The [reproduce] table of a system, or a file's; what has none is told which has."""
    if system not in NAMED and not Path(system).is_file():
        raise UnknownName("system", system, systems())
    table = read_reproduce(system)
    if table is not None:
        return table
    small = system.removesuffix(PAPER)
    if system.endswith(PAPER) and small in systems():
        raise UsageError(
            f"{system} has the numbers of the paper, too many for minutes on two cores.",
            hint=f"Take the small one: regard reproduce {small}",
        )
    raise UsageError(
        f"{system} has no [reproduce] table: it is a variant of a system, or a recipe of your own.",
        hint="`regard reproduce --list` shows all that have one.",
    )
