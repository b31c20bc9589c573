"""The measured side of a speed benchmark: a process of its own that works when told to and says what each round took.

A side is a file that ends with `serve(prepare)`. It is started with one argument, its job as JSON; `prepare(job)` makes
everything ready and gives what is to be known of it and a call that works one round. `turns.py` starts such processes
and lets them work in turn. Both talk in JSON, a line each. Only the standard library is used here: sides run in the
environments of other toolkits too.
"""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeVar

Job = dict[str, Any]
Round = Callable[[], dict[str, Any]]
Batch = TypeVar("Batch")

TRIALS = 3  # of each batch size: a moment's disturbance must not choose
# Shares dropped in training, on every side: of vectors and of what sublayers give; of attention weights, and inside
# feed-forwards, nothing.
DROPOUT = {"rnn": 0.3, "transformer": 0.1}
ATTENTION_DROPOUT = 0.0
NEAR = 0.01  # how far the target pieces of a batch may be from what was asked
CUTS = 8  # at most, to come so near


def serve(prepare: Callable[[Job], tuple[dict[str, Any], Round]], *packages: str) -> None:
    """Get ready, say so and which packages it is, and work a round for every line that comes."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer of ours
    about, work = prepare(json.loads(sys.argv[1]))
    known = {"Python": platform.python_version(), **{name: version(name) for name in packages}}
    _say(answers, {**about, "versions": known})
    for _ in sys.stdin:
        clock, cpu = perf_counter(), process_time()
        done = work()
        spent = {"clock": perf_counter() - clock, "cpu": process_time() - cpu}
        _say(answers, {**spent, "peak": peak_bytes(), **done})


def _say(answers: Any, told: dict[str, Any]) -> None:
    print(json.dumps(told), file=answers, flush=True)


def peak_bytes() -> int:
    """The most memory that this process has held.

    Not `ru_maxrss` where Linux knows better: a child starts with the peak of the parent it was started by.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        status = []
    lines = [line.split() for line in status if line.startswith("VmHWM:")]
    unit = 1 if platform.system() == "Darwin" else 1024
    return int(lines[0][1]) * 1024 if lines else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def lines_of(path: str | Path, count: int | None) -> list[str]:
    """The first lines of a file, or all of them."""
    return Path(path).read_text(encoding="utf-8").splitlines()[:count]


def evenly(batches: Sequence[Batch], count: int, length: Callable[[Batch], int]) -> list[Batch]:
    """So many batches out of all, from the shortest to the longest: a short round that stands for a whole epoch."""
    ordered = sorted(batches, key=length)
    count = min(count, len(ordered))
    return [ordered[(2 * place + 1) * len(ordered) // (2 * count)] for place in range(count)]


def of_pieces(wanted: int, cut: Callable[[int], list[Batch]], count: Callable[[Batch], int]) -> list[Batch]:
    """Batches with so many target pieces on average; `cut` makes them by a limit that every toolkit counts differently.

    The limit is moved until they hold as many, or `CUTS` times; the nearest are taken.
    """
    limit, nearest, found = wanted, math.inf, list[Batch]()
    for _ in range(CUTS):
        batches = cut(limit)
        mean = sum(map(count, batches)) / len(batches)
        if abs(mean / wanted - 1) < nearest:
            nearest, found = abs(mean / wanted - 1), batches
        if nearest <= NEAR:
            break
        limit = max(1, round(limit * wanted / mean))
    return found


def training(model: Any, batches: int, real: int, positions: int) -> dict[str, Any]:
    """What is to be known of a training: real target pieces (the end is one, the start none) and all positions."""
    return {
        "parameters": sum(each.numel() for each in model.parameters()),
        "target pieces a batch": round(real / batches),
        "real target positions": round(real / positions, 3),
    }


def translating(job: Job, translate: Callable[[list[Any], int], list[Any]], lines: list[Any]) -> tuple[Job, Round]:
    """Ready to translate: a line at a time, or all in batches of the size that is fastest on a part of them.

    Where one size is given nothing is tried, so that memory is that of the work alone (`turns.py`).
    """
    if job["work"] == "latency":
        return {}, partial(_one_by_one, lines, lambda line: translate([line], 1))
    part = lines[:: max(1, len(lines) // job["trial"])]
    batch, tried = _fastest(job["sizes"], lambda size: translate(part, size))

    def work() -> dict[str, Any]:
        outputs = translate(lines, batch)
        if job.get("outputs"):  # for whoever wants to score them
            Path(job["outputs"]).write_text("".join(f"{line}\n" for line in outputs), encoding="utf-8")
        return {"done": len(lines)}

    return {"batch": batch, "tried": tried}, work


def _fastest(sizes: Sequence[int], work: Callable[[int], Any]) -> tuple[int, dict[int, float]]:
    """The batch size whose work takes the least time: all are tried in turn, again and again, and each has its best."""
    if len(sizes) == 1:
        return sizes[0], {}
    work(sizes[0])
    tried = dict.fromkeys(sizes, math.inf)
    for each in [*sizes] * TRIALS:
        began = perf_counter()
        work(each)
        tried[each] = min(tried[each], perf_counter() - began)
    return min(tried, key=tried.__getitem__), tried


def _one_by_one(lines: Sequence[Any], translate: Callable[[Any], Any]) -> dict[str, Any]:
    """A round of single sentences: how many, and the milliseconds of each."""
    times = []
    for line in lines:
        began = perf_counter()
        translate(line)
        times.append(1000 * (perf_counter() - began))
    return {"done": len(lines), "times": times}
