"""The log of a run: `log.jsonl`, a JSON object a line, only ever added to, and TensorBoard's events beside it.

A run that was killed and resumed has made some updates twice, and logged them twice: an event "resume" says
after which update it went on, and what was logged above it for later updates is void.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from regard.learn.events import Step, Validated

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class Log:
    """Writes what happens, a line at a time, each flushed to the system at once."""

    def __init__(self, folder: Path, every: int, *, tensorboard: bool, number: int = 0) -> None:
        path = folder / "log.jsonl"
        _mend(path)
        self.file: IO[str] = path.open("a", encoding="utf-8")
        self.every, self.steps = every, list[Step]()
        self.writer: SummaryWriter | None = None
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(str(folder / "tensorboard"), purge_step=number + 1 if number else None)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
        if self.writer is not None:
            self.writer.close()

    def write(self, event: str, **values: Any) -> None:
        """One line. What is not a finite number has no place in JSON, and is written as null."""
        self.file.write(json.dumps({"event": event, **_finite(values)}, ensure_ascii=False) + "\n")
        self.file.flush()

    def step(self, step: Step) -> None:
        """Gather updates, and write the mean of their negative log-likelihoods every so often."""
        self.steps.append(step)
        if step.number % self.every:
            return
        values = {"nll": sum(each.nll for each in self.steps) / len(self.steps), "rate": step.rate}
        values |= {"norm": step.norm, "speed": step.speed}
        if len(step.losses) > 1:  # of one objective it is the first value
            values |= {name: sum(each.losses[name] for each in self.steps) / len(self.steps) for name in step.losses}
        values |= step.noted
        self.steps.clear()
        self.write("step", number=step.number, seconds=round(step.seconds, 3), **values)
        self._scalars("train", values, step.number)

    def validated(self, found: Validated) -> None:
        """The values of a validation, and its samples."""
        values = {"values": dict(found.values), "best": found.best, "samples": list(found.samples)}
        self.write("validate", number=found.number, seconds=round(found.seconds, 3), **values)
        self._scalars("validate", dict(found.values), found.number)
        if self.writer is not None and found.samples:
            self.writer.add_text("samples", "\n\n".join(found.samples), found.number)

    def _scalars(self, group: str, values: dict[str, float], number: int) -> None:
        if self.writer is not None:
            for name, value in values.items():
                self.writer.add_scalar(f"{group}/{name}", value, number)
            self.writer.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _mend(path: Path) -> None:
    """Cut off a last line that a kill left without its end."""
    with suppress(FileNotFoundError), path.open("rb+") as file:
        text = file.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            file.truncate(whole)
            os.fsync(file.fileno())
