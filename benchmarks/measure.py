"""Time and memory of several calls, measured side by side in one run. Used by `python benchmarks/attention.py`."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from threading import Event, Thread
from time import perf_counter, process_time
from typing import Any

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler would note every start and stop

from torch.profiler import ProfilerActivity, profile

LONG = 3.0  # seconds: the profiler keeps every event of a call, gigabytes of them where it takes longer
PAUSE = 0.002  # seconds from one look at the heap to the next


@dataclass(frozen=True)
class Cost:
    """Medians of seconds by the clock and of the processor, and the most bytes held at once above the start."""

    clock: float
    cpu: float
    peak: int


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that tensors held at once while the call ran, above what was held before.

    Summed from every allocation and release that PyTorch's CPU allocator reports to its profiler; what
    libraries allocate for themselves is not seen.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            kept = call()
    held = most = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    del kept
    return most


def sampled_peak(call: Callable[[], Any]) -> int:
    """The same for a long call: what the C library says it has given out, asked for again and again meanwhile."""
    held = _heap()
    if held is None:
        return peak(call)
    ended = Event()
    before = most = held()

    def look() -> None:
        nonlocal most
        while not ended.wait(PAUSE):
            most = max(most, held())

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    try:
        kept = call()
    finally:
        ended.set()
        watcher.join()
    del kept
    return most - before


class _Told(ctypes.Structure):
    """What glibc's mallinfo2 tells, in its order."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks"),
            *("fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _heap() -> Callable[[], int] | None:
    """How to ask for the bytes given out; None where the C library is another."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return None
    ask.restype = _Told

    def held() -> int:
        told = ask()
        return told.uordblks + told.hblkhd

    return held


def costs(calls: dict[str, Callable[[], Any]], repeats: int, inner: int = 1) -> dict[str, Cost]:
    """Each call `inner` times, in turn, `repeats` rounds: what disturbs the machine disturbs all of them."""
    peaks = {}
    for name, call in calls.items():
        began = perf_counter()
        call()  # what is computed once and kept is no cost of a call
        peaks[name] = (peak if perf_counter() - began < LONG else sampled_peak)(call)
    clocks: dict[str, list[float]] = {name: [] for name in calls}
    cpus: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            clock, cpu = perf_counter(), process_time()
            for _ in range(inner):
                call()
            clocks[name].append((perf_counter() - clock) / inner)
            cpus[name].append((process_time() - cpu) / inner)
    return {name: Cost(median(clocks[name]), median(cpus[name]), peaks[name]) for name in calls}


def slope(lengths: list[int], numbers: list[float]) -> float:
    """The least-squares slope of the numbers over the lengths."""
    middle, mean = sum(lengths) / len(lengths), sum(numbers) / len(numbers)
    above = sum((at - middle) * (number - mean) for at, number in zip(lengths, numbers, strict=True))
    return above / sum((at - middle) ** 2 for at in lengths)


def table(head: list[str], rows: list[list[str]]) -> None:
    """A Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |")
    print(flush=True)
