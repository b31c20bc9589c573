"""What is served, where, and within which limits. Everything that can be wrong is refused before anything starts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from regard.errors import UsageError

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MEBIBYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a server is set up.

    models: model folders, each by the name of its folder; `name=folder` gives another.
    engine, threads: what runs them, as `regard.load` takes it.
    memory: bytes that the weights of opened models may take; 0 is as much as is free.
    runs: a folder of trainings that the studio shows; none of them where there is none.
    hosts: names beside this machine's own by which the server may be called.
    origins: pages of other origins that may call it.
    keys: who may call, as name and key; nobody needs one where there is none.
    rate: requests a minute of each key (of each address where there are no keys); 0 is any number.
    quota: characters a day of each key that other programs' protocols may translate; 0 is any number.
    batch: texts that are answered together at most; `delay`, seconds that a text waits for others.
    queue: texts that may wait, of all clients together.
    length: pieces that a text may have; `texts`, how many a request may have; `body`, bytes of a request;
        `pixels`, of an image.
    patience: seconds that a request may take.
    """

    models: tuple[Path | str, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    engine: str | None = "auto"
    threads: int | None = None
    memory: int = 0
    runs: str = ""
    workers: int = 1
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    rate: int = 0
    quota: int = 0
    batch: int = 32
    delay: int | float = 0.005
    queue: int = 1024
    length: int = 500
    texts: int = 128
    body: int = 16 * MEBIBYTE
    pixels: int = 40_000_000
    patience: int | float = 60.0
    gentle: bool = False  # whether a signal to end is heard by us first: see `app`
    counters: str = ""  # a folder in which several processes add up what they count

    def __post_init__(self) -> None:
        for name in ("batch", "queue", "length", "texts", "body", "pixels", "workers"):
            if getattr(self, name) < 1:
                raise UsageError(f"serve: expected {name} to be 1 or more; found {getattr(self, name)}.")
        for name in ("delay", "rate", "quota", "memory"):
            if getattr(self, name) < 0:
                raise UsageError(f"serve: expected {name} to be 0 or more; found {getattr(self, name)}.")
        if self.runs and not Path(self.runs).is_dir():
            raise UsageError(f"serve: expected a folder of trainings; {self.runs} is none.")
        if not self.patience > 0:
            raise UsageError(f"serve: expected patience to be more than 0 seconds; found {self.patience}.")

    def to_json(self) -> str:
        """For a process that is started with them."""
        return json.dumps(asdict(self) | {"models": list(map(str, self.models))})

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """What `to_json` told."""
        told: dict[str, Any] = json.loads(text)
        known = {each.name for each in fields(cls)}
        told = {name: _tuples(value) for name, value in told.items() if name in known}
        return cls(**told)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
