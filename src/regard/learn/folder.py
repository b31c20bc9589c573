"""The folder of a run: what lies where, and whether it can be used, found out before the first step.

state.safetensors   all that is needed to go on
last/  best/        model folders: as the weights are now, and as they were at the best validation
log.jsonl           what happened, a line an event
looks/              what was looked at in a few sentences, a file a validation
samples/            what a generator made, a picture a validation
tensorboard/        the same for TensorBoard
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

from regard.errors import TrainingError, UsageError
from regard.model import put_back

NAMES = ("state.safetensors", "last", "best", "log.jsonl", "looks", "samples", "tensorboard")
SPARE = 16 * 2**20  # room for the log, the events and the tokenizers


@dataclass(frozen=True)
class RunFolder:
    """Where a run lives, whether it goes on there, and the text files (tokenizers, card) of its model folders."""

    folder: Path
    resume: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The file of the state."""
        return self.folder / "state.safetensors"

    @property
    def last(self) -> Path:
        """The model folder of the weights as they are."""
        return self.folder / "last"

    @property
    def best(self) -> Path:
        """The model folder of the best weights."""
        return self.folder / "best"

    @property
    def looks(self) -> Path:
        """Where looks are kept."""
        return self.folder / "looks"

    @property
    def samples(self) -> Path:
        """Where pictures of samples are kept."""
        return self.folder / "samples"

    def check(self) -> None:
        """Refuse a folder that cannot be this run's; nothing is touched."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{self.folder} is a file; a run needs a folder.", hint="Choose another name.")
        found = {entry.name for entry in self.folder.iterdir()} if self.folder.exists() else set()
        if not self.resume and found:
            raise UsageError(
                f"{self.folder} is there already, and is not empty.",
                hint="Go on with the run in it (--resume; in Python resume=True), or choose another folder.",
            )
        if self.resume:
            self._check_ours(found)

    def prepare(self, needed: int) -> bool:
        """Make the folder ready for `needed` bytes; whether there is a state to go on from."""
        self.check()
        self._check_writable()
        self._check_room(needed)
        return self.state.exists()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, no other process can run in the folder; the system lets go of it when this one dies, however."""
        with _locked(self.folder):
            self._tidy()
            yield

    def _check_ours(self, found: set[str]) -> None:
        """Going on needs the folder of a run; one that was killed before its first state holds nothing else."""
        strangers = sorted(name for name in found if not _is_ours(name))
        if not self.folder.exists() or ("state.safetensors" not in found and strangers):
            raise UsageError(
                f"{self.folder} holds no run to go on with: it has no state.safetensors.",
                hint="Look for the right folder, or begin a run: leave out --resume (in Python resume=False).",
            )

    def _check_writable(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder) as trial:  # without a name: a kill leaves nothing of it
                trial.write(b"regard")
        except OSError as error:
            raise TrainingError(
                f"{self.folder}: expected a folder that can be written to; {error.strerror or error}.",
                hint="Choose another folder, or change its permissions.",
            ) from error

    def _check_room(self, needed: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise TrainingError(
                f"{self.folder}: a run of this model needs {_size(needed)} of disk; {_size(free)} are free.",
                hint="Make room, or choose a folder on another disk.",
            )

    def _tidy(self) -> None:
        """Take away what a killed run left half written, and put back what it was about to replace."""
        put_back(self.last)
        put_back(self.best)
        for name in ("state.safetensors", "last", "best"):
            for draft in self.folder.glob(f".{name}-*"):
                shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":  # where a folder cannot be locked
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TrainingError(
                f"{folder}: another process is training in this folder.",
                hint="Wait for it, or stop it first; a run has one folder to itself.",
            ) from error
        yield
    finally:
        os.close(handle)


def _is_ours(name: str) -> bool:
    return name in NAMES or name.startswith(tuple(f".{each}" for each in NAMES))


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def needed_bytes(weights: int, copies: int) -> int:
    """The disk that a run needs: `weights` bytes of weights, kept `copies` times over beside them in the state.

    The state, `last/` and `best/` lie there twice for a moment, while the new ones are written.
    """
    return 2 * weights * (1 + copies + 2) + SPARE
