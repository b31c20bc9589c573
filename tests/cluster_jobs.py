"""Jobs for a cluster that need no model: what they do is written in the lines, and what they did in a folder."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regard.chunks import Chunk, Written
from regard.errors import ModelError, ShapeError

WAIT = 60  # seconds after which a test that waits has failed


def until(true):
    """Wait until something is so."""
    end = time.monotonic() + WAIT
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


@dataclass(frozen=True)
class Shouting:
    """Capital letters. `die` ends the worker, `hang` holds it until somebody does, `wrong` is refused."""

    folder: Path
    openings: str = "fine"

    def open(self) -> Callable[[Chunk], Written]:
        if self.openings == "wrong":
            raise ModelError("no such model.", hint="Give another.")
        if self.openings == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        (self.folder / f"opened.{os.getpid()}").touch()
        return self.write

    def write(self, block: Chunk) -> Written:
        (self.folder / f"began.{block.before}").touch()
        for line in block.lines:
            if line == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if line == "wrong":
                raise ShapeError("a line that does not fit.")
            if line == "wait":
                time.sleep(0.5)
            if line == "hang" and not (held := self.folder / "held").exists():
                held.write_text(str(os.getpid()))
                until(lambda: False)
        return Written([line.upper() for line in block.lines], [f"{block} done"])
