"""Arms trained side by side, each by a process with one thread, so that each has a core of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

from regard.errors import Interrupted, TrainingError
from regard.learn.stop import interruptible
from regard.tasks.reproduce.arms import Arm, Plan

Tell = Callable[[str, str], None]  # an arm's label, and what it says of itself
LAST = 12  # lines of what a failed training said


def train_arms(plan: Plan, minutes: float, tell: Tell) -> None:
    """Train every arm that is not done yet, all at once. Ctrl-C lets each save, and a rerun goes on."""
    waiting = [arm for arm in plan.arms() if not arm.done.is_file()]
    if not waiting:
        return
    processes = _Processes(plan, minutes, tell)
    with ThreadPoolExecutor(len(waiting)) as pool, interruptible():
        jobs = [pool.submit(processes.train, arm) for arm in waiting]
        try:
            errors = [error for job in jobs if (error := job.result())]
        except BaseException as reason:
            processes.stop()
            pool.shutdown()
            if isinstance(reason, KeyboardInterrupt):
                told = f"stopped; every training in {plan.out} is saved, and a rerun goes on with it."
                raise Interrupted(told) from None
            raise
    if errors:
        raise TrainingError("\n".join(errors))


class _Processes:
    """The trainings that are at work."""

    def __init__(self, plan: Plan, minutes: float, tell: Tell) -> None:
        self.plan, self.minutes, self.tell = plan, minutes, tell
        self.working: set[subprocess.Popen[str]] = set()
        self.lock, self.stopped = Lock(), Event()

    def train(self, arm: Arm) -> str:
        """Train one arm; its last words if it failed."""
        arm.folder.mkdir(parents=True, exist_ok=True)
        last: deque[str] = deque(maxlen=LAST)
        words = self.plan.train(arm, self.minutes)
        with (arm.folder / "log.txt").open("a", encoding="utf-8") as log, self._started(words) as process:
            for line in process.stderr or ():
                log.write(line)
                log.flush()
                last.append(line.rstrip())
                self.tell(arm.label, line.rstrip())
        with self.lock:
            self.working.discard(process)
        if process.returncode == 0:
            arm.done.touch()
            return ""
        return f"{arm.label} could not be trained: " + ("\n".join(last) or f"exit code {process.returncode}")

    def _started(self, words: Sequence[str]) -> subprocess.Popen[str]:
        with self.lock:
            if self.stopped.is_set():
                raise Interrupted("the trial was stopped.")
            process = subprocess.Popen(
                [sys.executable, "-m", "regard", *words],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
                start_new_session=True,  # a Ctrl-C reaches it once, through `stop`, and it saves what it has
            )
            self.working.add(process)
        return process

    def stop(self) -> None:
        """Ask every training to save and end."""
        with self.lock:
            self.stopped.set()
            for process in self.working:
                process.send_signal(signal.SIGINT)
