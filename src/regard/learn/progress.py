"""Progress for people: a bar on a terminal, plain lines anywhere else, always on standard error."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from regard.chunks import one_line
from regard.learn.events import Event, Step, Validated
from regard.learn.run import Budget

LINE_SECONDS = 10.0  # from one plain line to the next


class Bar:
    """Hears the events of a run and shows them: `with Bar(budget) as bar: run(..., tell=bar)`."""

    def __init__(self, budget: Budget, console: Console | None = None, unit: str = "tokens") -> None:
        self.budget, self.unit = budget, unit
        self.console = console or Console(stderr=True)
        self.lively = self.console.is_terminal
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[left]}"))
        self.progress = Progress(*columns, console=self.console, transient=True, disable=not self.lively)
        self.task = self.progress.add_task("training", total=1.0 if _has_end(budget) else None, left="")
        self.told = 0.0

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Step):
            self._step(event)
        elif isinstance(event, Validated):
            self._validated(event)

    def _step(self, step: Step) -> None:
        words = f"step {step.number:,}  loss {step.nll:.3f}  {step.speed:,.0f} {self.unit}/s"
        left = "" if step.left is None else f"{_clock(step.left)} left"
        if self.lively:
            share = self.budget.share(step.number, step.seconds)
            self.progress.update(self.task, completed=share, description=words, left=left)
        elif time.monotonic() - self.told >= LINE_SECONDS:
            self.told = time.monotonic()
            self._say(f"{words}  {left}".rstrip())

    def _validated(self, found: Validated) -> None:
        values = "  ".join(f"{name} {value:.4g}" for name, value in found.values.items())
        self._say(f"step {found.number:,}, {_clock(found.seconds)}: {values}{'  (best)' if found.best else ''}")
        for sample in found.samples:
            self._say("\n".join(map(one_line, sample.split("\n"))))  # a corpus may hold what steers a terminal

    def _say(self, line: str) -> None:
        """One line as it is: what a model wrote may look like markup, and is none."""
        self.console.print(Text(line), soft_wrap=True, highlight=False)


def _has_end(budget: Budget) -> bool:
    return budget.minutes is not None or budget.steps is not None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
