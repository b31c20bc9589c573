"""Trainings in a folder: which there are, what their logs say, and what was looked at while they learnt.

All is read from the files that `regard train` writes; a run that goes on meanwhile is not disturbed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from regard.learn.looks import numbers_of
from regard.serve.api import WRONG
from regard.serve.desk import desk_of
from regard.serve.refused import Refused

LOG, LOOKS, GATES = "log.jsonl", "looks", "gates"
CHUNK = 4 << 20  # bytes of a log that are told at once
TAIL = 1 << 16  # bytes at the end of a log that tell how a run stands
QUIET = 120  # seconds without a word after which a run that has not ended is taken to have stopped
DEEPEST = 2  # folders below that of the runs: `regard quickstart` has runs of its own in one
router = APIRouter(prefix="/api/v1/runs", responses=WRONG, tags=["trainings"])


class RunOut(BaseModel):
    """One training: how it stands, its last update, the best value of its metric, how many looks were kept."""

    name: str
    state: Literal["running", "stopped", "ended"]
    number: int
    seconds: float
    metric: str | None = None
    best: float | None = None
    nll: float | None = None
    looks: int


class RunsOut(BaseModel):
    """All trainings, the latest first."""

    runs: list[RunOut]


class LogOut(BaseModel):
    """Lines of a log, and where the next one begins. What stands before a `resume` for later updates is void."""

    events: list[dict[str, Any]]
    next: int


class LooksOut(BaseModel):
    """The updates after which looks were kept."""

    numbers: list[int]


@router.get("")
def runs(request: Request) -> RunsOut:
    """The trainings in the folder that the server was given; none where it was given none."""
    found = sorted(_folders(request).items(), key=lambda each: (each[1] / LOG).stat().st_mtime, reverse=True)
    return RunsOut(runs=[_stands(name, folder) for name, folder in found])


@router.get("/log")
def log(request: Request, name: str, after: Annotated[int, Query(ge=0, lt=1 << 53)] = 0) -> LogOut:
    """What the log of a training says from a byte on; of a log that grows, ask again from `next`."""
    with (_folder(request, name) / LOG).open("rb") as file:
        file.seek(after)
        text = file.read(CHUNK)
    whole = text.rfind(b"\n") + 1
    return LogOut(events=list(_events(text[:whole])), next=after + whole)


@router.get("/looks")
def looks(request: Request, name: str) -> LooksOut:
    """After which updates of a training looks were kept."""
    return LooksOut(numbers=numbers_of(_folder(request, name) / LOOKS))


@router.get("/look")
def look(request: Request, name: str, number: Annotated[int, Query(ge=0, lt=1 << 53)]) -> dict[str, Any]:
    """What was looked at after an update: {"number", "figures": documents that a page draws}."""
    try:
        told: dict[str, Any] = json.loads((_folder(request, name) / LOOKS / f"{number:06d}.json").read_bytes())
    except (OSError, ValueError) as error:
        raise Refused(404, f"{name} has no looks of update {number}.", "number") from error
    told["figures"] = [each for each in told.get("figures", ()) if each.get("kind") != GATES]  # no page draws them
    return told


def _folders(request: Request) -> dict[str, Path]:
    """The run folders, each by its name; of those in a folder of their own, by both names."""
    home = desk_of(request).settings.runs
    if not home:
        return {}
    root = Path(home)
    logs = [each for depth in range(1, DEEPEST + 1) for each in root.glob("/".join(["*"] * depth + [LOG]))]
    return {each.parent.relative_to(root).as_posix(): each.parent for each in logs if each.is_file()}


def _folder(request: Request, name: str) -> Path:
    """One run folder; only a name that was told is known, so no path leads out of the folder of the runs."""
    found = _folders(request).get(name)
    if found is None:
        raise Refused(404, f"No training is called '{name[:80]}'.", "name")
    return found


def _stands(name: str, folder: Path) -> RunOut:
    """From the end of its log."""
    path = folder / LOG
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        text = file.read()
    told = RunOut(name=name, state="running", number=0, seconds=0.0, looks=len(numbers_of(folder / LOOKS)))
    ended, best = False, dict[str, float]()
    for event in _events(text):
        ended = event.get("event") == "end"
        told.number = int(event.get("number") or told.number)
        told.seconds = float(event.get("seconds") or told.seconds)
        told.nll = event.get("nll", told.nll)
        if event.get("event") == "validate" and event.get("best"):
            best = event["values"]
        if ended:
            told.metric, told.best = event.get("metric"), event.get("best")
    if not ended and best:
        told.metric, told.best = next(iter(best.items()))
    quiet = time.time() - path.stat().st_mtime > QUIET
    told.state = "ended" if ended else "stopped" if quiet else "running"
    return told


def _events(text: bytes) -> Iterator[dict[str, Any]]:
    """The whole lines of a log; the first may be cut where only the end of a log is read."""
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found
