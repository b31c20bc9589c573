"""Arms run as processes of their own, several at a time, each with its share of the cores.

Small models gain little from a second thread, so two arms on two cores with a thread each finish sooner than one
after the other with both. An arm's folder holds `run/` (the training), `log.txt` and, when it is done,
`scores.json` and `outputs.txt`; an arm that has its scores is not run again, and a training that was cut off goes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, current_thread, main_thread

from regard.compare.arms import Arm
from regard.compare.plan import Plan
from regard.errors import Interrupted

SCORES, OUTPUTS, LOG, RUN = "scores.json", "outputs.txt", "log.txt", "run"
Tell = Callable[[str, str], None]  # an arm's label, and what it says of itself


@dataclass(frozen=True)
class Outcome:
    """How an arm ended: `error` holds its last words where it failed."""

    arm: Arm
    folder: Path
    error: str = ""


def run_arms(plan: Plan, arms: Sequence[Arm], out: Path, *, jobs: int, tell: Tell) -> list[Outcome]:
    """Run every arm that has no scores yet; one that fails does not stop the others."""
    crew = _Crew(plan, out, max(1, (os.cpu_count() or 1) // jobs), tell)
    with ThreadPoolExecutor(jobs) as pool, _stoppable():
        waiting = [pool.submit(crew.run, arm) for arm in arms]
        try:
            return [each.result() for each in waiting]
        except KeyboardInterrupt:
            crew.stop()
            pool.shutdown(cancel_futures=True)
            raise Interrupted(f"stopped; every training in {out} is saved, and a rerun goes on with it.") from None
        except BaseException:
            crew.stop()
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _stoppable() -> Iterator[None]:
    """Ctrl-C and `kill` both stop a comparison: its processes are in sessions of their own and would live on."""
    if current_thread() is not main_thread():
        yield
        return
    before = [(each, signal.signal(each, signal.default_int_handler)) for each in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for each, handler in before:
            signal.signal(each, handler)


class _Crew:
    """The processes that are at work."""

    def __init__(self, plan: Plan, out: Path, threads: int, tell: Tell) -> None:
        self.plan, self.out, self.tell = plan, out, tell
        # Who has set a number of threads meant it.
        self.environment = {"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONUNBUFFERED": "1"}
        self.working: set[subprocess.Popen[str]] = set()
        self.lock, self.stopped = Lock(), Event()

    def run(self, arm: Arm) -> Outcome:
        """Train and score one arm, as far as that is still to be done."""
        folder = self.out / "arms" / arm.folder
        folder.mkdir(parents=True, exist_ok=True)
        run = folder / RUN
        if (folder / SCORES).is_file():
            self.tell(arm.label, "done before")
            return Outcome(arm, folder)
        steps = [] if arm.finished else [self.plan.train(arm, run, (run / "state.safetensors").is_file())]
        fresh = folder / f".{SCORES}"
        steps.append([*self.plan.evaluate(arm, run), "--json", "--outputs", str(folder / OUTPUTS)])
        for words in steps:
            error = self._child(arm, words, folder / LOG, fresh if words is steps[-1] else None)
            if error:
                self.tell(arm.label, "failed")
                return Outcome(arm, folder, error)
        fresh.replace(folder / SCORES)
        self.tell(arm.label, "done")
        return Outcome(arm, folder)

    def _child(self, arm: Arm, words: list[str], log: Path, results: Path | None) -> str:
        """Run one command, keep what it says, and hand back its last words if it failed."""
        command = [sys.executable, "-m", "regard", *words]
        last: deque[str] = deque(maxlen=12)
        said = (results or Path(os.devnull)).open("w", encoding="utf-8")
        with log.open("a", encoding="utf-8") as kept, said as output, self._started(command, output) as process:
            for line in process.stderr or ():
                kept.write(line)
                kept.flush()
                last.append(line.rstrip())
                self.tell(arm.label, line.rstrip())
            code = process.wait()
        with self.lock:
            self.working.discard(process)
        return "" if code == 0 else "\n".join(last) or f"it ended with exit code {code}"

    def _started(self, command: list[str], output: object) -> subprocess.Popen[str]:
        # In a session of its own: a Ctrl-C reaches it once, through `stop`, and it saves what it has.
        with self.lock:
            if self.stopped.is_set():
                raise Interrupted("the comparison was stopped.")
            process = subprocess.Popen(
                command,
                stdout=output,  # type: ignore[call-overload]
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=self.environment,
                start_new_session=True,
            )
            self.working.add(process)
        return process

    def stop(self) -> None:
        """Ask every process to save and end."""
        with self.lock:
            self.stopped.set()
            for process in self.working:
                process.send_signal(signal.SIGINT)
