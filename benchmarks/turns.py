"""Processes that are measured side by side: started one by one, working in turn, a round each, compared by medians.

    with a Side for each of them:  found = in_turn([ours, theirs], rounds=5)

What disturbs the machine disturbs all sides of a comparison alike, and no side's memory is in another's. Batch sizes
are tried in a process that ends before, so that no trial counts as memory of the work. Used by `train.py`, `decode.py`,
`latency.py` and `peers`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryFile
from typing import Any

from worker import Job

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Side:
    """One process to measure: the module that ends with `serve`, its job, and the Python that runs it."""

    name: str
    module: str
    job: Job
    python: str = sys.executable
    paths: tuple[Path, ...] = ()  # searched for modules, after this folder

    @property
    def environment(self) -> dict[str, str]:
        """As many threads as the job says, whichever library counts them; our own side finds what we have found."""
        threads = str(self.job["threads"])
        found = os.environ.get("PYTHONPATH", "").split(os.pathsep) if self.python == sys.executable else []
        paths = os.pathsep.join(str(path) for path in (HERE, *self.paths, *filter(None, found)))
        return os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


@dataclass(frozen=True)
class Measured:
    """What one side said of itself and of each of its rounds."""

    side: Side
    about: dict[str, Any]
    rounds: list[dict[str, Any]] = field(default_factory=list)

    def rate(self, by: str = "clock") -> float:
        """The median of what was done a second, by the clock or of the processor ("cpu")."""
        return median(each["done"] / each[by] for each in self.rounds)

    @property
    def peak(self) -> float:
        """The most memory held, in MiB."""
        return max(each["peak"] for each in self.rounds) / 2**20

    def milliseconds(self, share: float = 0.5) -> float:
        """The time that a share of all single sentences took at most."""
        times = [time for each in self.rounds for time in each["times"]]
        return quantiles(times, n=100, method="inclusive")[round(100 * share) - 1]

    def told(self) -> dict[str, Any]:
        """Fit for JSON."""
        kept = [{name: value for name, value in each.items() if name != "times"} for each in self.rounds]
        return {**asdict(self.side), "paths": [], "python": Path(self.side.python).name, "about": self.about} | {
            "rounds": kept
        }


def in_turn(sides: Sequence[Side], rounds: int, warm: int = 1) -> list[Measured]:
    """Rounds to warm up that do not count, then `rounds` of each side in turn."""
    with ExitStack() as kept:
        processes, found = [], []
        for side in map(_settled, sides):  # one after the other: batch sizes that are tried side by side tell nothing
            processes.append(kept.enter_context(_Process(side)))
            found.append(Measured(side, processes[-1].heard()))
        for number in range(warm + rounds):
            for measured, process in zip(found, processes, strict=True):
                answer = process.asked()
                if number >= warm:
                    measured.rounds.append(answer)
    return found


def _settled(side: Side) -> Side:
    """The side with the batch size that it found fastest, where it was to try several."""
    if side.job.get("work") != "decode" or len(side.job["sizes"]) == 1:
        return side
    with _Process(side) as process:
        chosen = process.heard()
    return replace(side, job={**side.job, "sizes": [chosen["batch"]], "tried": chosen["tried"]})


class _Process:
    """The process of a side, for as long as the block."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.words = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115

    def __enter__(self) -> _Process:
        command = [self.side.python, "-m", self.side.module, json.dumps(self.side.job)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.words,  # not a pipe: one that nobody empties fills up, and stops who writes to it
            env=self.side.environment,
            text=True,
        )
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed:
            self.process.kill()
        self.process.communicate()  # the end of its input is the end of its work
        self.words.close()

    def heard(self) -> dict[str, Any]:
        """The next thing that it says; where it has ended instead, its last words."""
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.words.seek(0)
        raise SystemExit(f"{self.side.name} ended with {self.process.wait()}.\n{self.words.read()[-3000:]}")

    def asked(self) -> dict[str, Any]:
        """A round, and what it took."""
        with suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        return self.heard()


def compared(title: str, head: Sequence[str], found: Sequence[Measured], *, peers: bool = False) -> None:
    """A Markdown table: rates, memory, how each side stands to the first; among peers, how the first stands to it."""
    first = found[0]
    ratio = f"{first.side.name} is times as fast" if peers else "times the first"
    print(f"**{title}**\n")
    row(["", *head, "a second", "a CPU second", "peak MiB", ratio, "by CPU time"])
    row(["---"] * (len(head) + 6))
    for each in found:
        values = [_told(each.about.get(name, "")) for name in head]
        ratios = [each.rate(by) / first.rate(by) for by in ("clock", "cpu")]
        rates = [f"{each.rate():,.0f}", f"{each.rate('cpu'):,.0f}", f"{each.peak:,.0f}"]
        row([each.side.name, *values, *rates, *(f"{1 / ratio if peers else ratio:.2f}" for ratio in ratios)])
    print(flush=True)


def _told(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def row(cells: Sequence[str]) -> None:
    """One row of a Markdown table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def arguments(about: str) -> argparse.ArgumentParser:
    """What benchmarks of translators can be asked; read with `read`."""
    parser = plain_arguments(about)
    parser.add_argument("--data", help="a corpus of German and English (multi30k; phrasebook with --quick)")
    parser.add_argument("--shapes", type=names, default=("rnn", "transformer"), help="models (rnn,transformer)")
    return parser


def plain_arguments(about: str) -> argparse.ArgumentParser:
    """What all speed benchmarks can be asked."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=numbers, help="numbers of threads to try (1,2; 1 with --quick)")
    parser.add_argument("--rounds", type=int, help="rounds whose median is taken (5; 2 with --quick)")
    parser.add_argument("--quick", action="store_true", help="small work: to see that it runs, not what it shows")
    parser.add_argument("--json", type=Path, help="write all figures here")
    return parser


def read(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What was asked; what was not said goes by whether it is to be quick."""
    asked = parser.parse_args()
    unsaid = ("phrasebook", (1,), 2) if asked.quick else ("multi30k", (1, 2), 5)
    for name, value in zip(("data", "threads", "rounds"), unsaid, strict=True):
        setattr(asked, name, getattr(asked, name, None) or value)
    return asked


def numbers(text: str) -> tuple[int, ...]:
    """1,2"""
    return tuple(int(number) for number in text.split(","))


def names(text: str) -> tuple[str, ...]:
    """rnn,transformer"""
    return tuple(text.split(","))


def machine() -> dict[str, Any]:
    """What the figures hold for."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load when it ended": os.getloadavg()[0],
        "date": date.today().isoformat(),
        "command": " ".join(["python", *sys.argv]),
    }


def report(found: dict[str, Any], path: Path | None) -> None:
    """Say what machine it was; write all figures where asked."""
    told = {"machine": machine(), **found}
    print("; ".join(f"{name}: {value}" for name, value in told["machine"].items()), flush=True)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
