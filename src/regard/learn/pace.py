"""How many processes shall train? Every way to share out the threads is tried with real updates, and the fastest taken.

A way is so many processes with so many threads each. Each is started as the training would be, so that what it costs
to exchange gradients is in the measurement: one update to warm up, then the same few updates round after round, for
about three seconds. Nothing of it is kept but the number.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import distributed

from regard.engine.precision import use_bf16
from regard.learn.launch import launch
from regard.learn.learner import Learner, flush_denormals
from regard.learn.loss import PLAIN
from regard.learn.processes import Elsewhere, Processes
from regard.learn.run import Stream
from regard.learn.settings import TrainSettings
from regard.model import Model
from regard.task import Objective

REPORT = "REGARD_PACE"  # names, in the environment of processes that are only timed, the file that takes their rate
ROUND = 3  # updates that are made again and again: all ways do the same work, and ever whole rounds of it
SECONDS = 3.0  # after which no other round begins
INTERRUPTED = 130


@dataclass(frozen=True)
class Way:
    """One way to share out the threads of a machine."""

    processes: int
    threads: int  # of each process

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'' if self.threads == 1 else 's'}"
        return f"1 process with {threads}" if self.processes == 1 else f"{self.processes} processes with {threads} each"

    @property
    def environment(self) -> dict[str, str]:
        """What tells the processes how many threads they have."""
        return {"OMP_NUM_THREADS": str(self.threads)}


def way_of(processes: int, threads: int) -> Way:
    """So many processes, each with its share of all threads; one by itself, with as many as PyTorch takes of them.

    Those may be fewer: where two threads run on one core, PyTorch takes one.
    """
    return Way(processes, torch.get_num_threads() if processes == 1 else max(1, threads // processes))


def counts(threads: int) -> list[int]:
    """How many processes may share the threads evenly: one, one a thread, and what lies in the middle between."""
    between = [count for count in range(2, threads) if threads % count == 0]
    return sorted({1, *between[(len(between) - 1) // 2 :][:1], threads})


def obstacle(threads: int) -> str | None:
    """Why there is nothing to choose, if so."""
    if threads == 1:
        return "there is only one thread to share out"
    if torch.cuda.is_available():
        return "a GPU does the work"
    if not (distributed.is_available() and distributed.is_gloo_available()):
        return "this build of PyTorch cannot join processes"
    return None


def measure(arguments: Sequence[str], threads: int, environment: Mapping[str, str]) -> dict[Way, float]:
    """The target positions a second of `regard` with these arguments in every way, the fastest first.

    A way of many processes that fails has a rate of 0: it says itself why, and one process may still do. Where that
    one fails, or somebody interrupts, there is no training to choose for.
    """
    ways = [way_of(count, threads) for count in counts(threads)]
    return ranked({way: _timed(way, arguments, environment) for way in ways})


def ranked(rates: Mapping[Way, float]) -> dict[Way, float]:
    """The fastest first; of two alike, the one of fewer processes."""
    return dict(sorted(rates.items(), key=lambda entry: (-entry[1], entry[0].processes)))


def told(rates: Mapping[Way, float]) -> str:
    """The ways and their rates on one line."""
    first, *others = [f"{way}: {f'{rate:,.0f}' if rate else 'failed'}" for way, rate in rates.items()]
    return "; ".join([f"{first} positions/s", *others])


def _timed(way: Way, arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """Start the processes of a way, and read what they report."""
    with TemporaryDirectory(prefix="regard-") as folder:
        report = Path(folder) / "rate"
        code = launch(way.processes, arguments, {**environment, **way.environment, REPORT: str(report)})
        if code == 0:
            return float(report.read_text(encoding="utf-8"))
    if way.processes == 1 or code == INTERRUPTED:
        raise Elsewhere(f"{way}: the updates that were to be timed have failed.", code)
    return 0.0


def positions_a_second(
    model: Model, batches: Stream, settings: TrainSettings, objectives: Sequence[Objective] = (PLAIN,)
) -> float:
    """Target positions a second of real updates, as all processes make them together."""
    processes = Processes()
    bf16 = processes.alone(lambda: use_bf16(settings.precision))
    group = list(islice(batches.forever(), ROUND * settings.accumulate))
    learner, pieces, spent = Learner(model, settings, cycle(group), objectives=objectives, bf16=bf16), 0, 0.0
    with flush_denormals(), processes.linked():
        learner.update()
        began = time.monotonic()
        while spent < SECONDS:
            updates = (learner.update() for _ in range(ROUND))
            pieces += sum(update.count for update in updates if update is not None)
            spent = float(processes.greatest(time.monotonic() - began))  # the clocks of many processes differ
    return pieces / spent


def processes_of(folder: Path) -> int | None:
    """How many processes a run had when it last began or went on, as its log tells; None where it does not."""
    with suppress(OSError, ValueError):
        lines = map(json.loads, (folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
        counts = [line["processes"] for line in lines if line["event"] in ("start", "resume") and "processes" in line]
        return int(counts[-1]) if counts else None
    return None
