"""`regard` commands as processes of their own: what they say is kept, and a Ctrl-C lets each save what it has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import TypeVar

from regard.errors import Interrupted
from regard.learn.stop import interruptible

LAST = 12  # lines of what a failed command said
Item = TypeVar("Item")
Made = TypeVar("Made")


class Commands:
    """The commands that are at work, each with so many threads."""

    def __init__(self, threads: int = 1) -> None:
        # Who has set a number of threads meant it.
        self.environment = {"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONUNBUFFERED": "1"}
        self.working: set[subprocess.Popen[str]] = set()
        self.lock, self.stopped = Lock(), Event()

    def run(self, words: Sequence[str], log: Path, tell: Callable[[str], None], results: Path | None = None) -> str:
        """Run `regard WORDS`; its last words if it failed, else nothing.

        What it says on standard error goes to the end of `log` and to `tell`, its output to the file `results`.
        """
        last: deque[str] = deque(maxlen=LAST)
        said = (results or Path(os.devnull)).open("w", encoding="utf-8")
        with log.open("a", encoding="utf-8") as kept, said as output, self._started(words, output) as process:
            for line in process.stderr or ():
                kept.write(line)
                kept.flush()
                last.append(line.rstrip())
                tell(line.rstrip())
            code = process.wait()
        with self.lock:
            self.working.discard(process)
        return "" if code == 0 else "\n".join(last) or f"it ended with exit code {code}"

    def _started(self, words: Sequence[str], output: object) -> subprocess.Popen[str]:
        with self.lock:
            if self.stopped.is_set():
                raise Interrupted("it was stopped.")
            process = subprocess.Popen(
                [sys.executable, "-m", "regard", *words],
                stdout=output,  # type: ignore[call-overload]
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=self.environment,
                start_new_session=True,  # a Ctrl-C reaches it once, through `stop`, and it saves what it has
            )
            self.working.add(process)
        return process

    def stop(self) -> None:
        """Ask every command to save and end."""
        with self.lock:
            self.stopped.set()
            for process in self.working:
                process.send_signal(signal.SIGINT)


def side_by_side(
    work: Callable[[Item], Made], items: Sequence[Item], commands: Commands, out: Path, jobs: int
) -> list[Made]:
    """`work` for every item, several at a time; where it is stopped, the trainings in `out` are saved."""
    with ThreadPoolExecutor(jobs) as pool, interruptible():
        waiting = [pool.submit(work, item) for item in items]
        try:
            return [each.result() for each in waiting]
        except BaseException as reason:
            commands.stop()
            pool.shutdown(cancel_futures=True)
            if isinstance(reason, KeyboardInterrupt):
                told = f"stopped; every training in {out} is saved, and a rerun goes on with it."
                raise Interrupted(told) from None
            raise
