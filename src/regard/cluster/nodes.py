"""The machines of a Ray cluster: joined or started for as long as they are needed, and divided among workers."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from regard.errors import RegardError

STORE = 256 * 2**20  # bytes of shared memory for a Ray of our own; what is under way is far smaller
KNOCK = 10  # seconds in which a cluster must answer


@dataclass(frozen=True)
class Share:
    """How many workers there are, the threads of each, and the cores that each claims."""

    workers: int
    threads: int
    claim: int | float


def share(nodes: Sequence[int], workers: int | None = None, threads: int | None = None) -> Share:
    """Divide machines of so many cores: a worker for each core, or as many threads as all workers find room for."""

    def room(threads: int) -> int:
        return sum(cores // threads for cores in nodes)

    workers = workers or max(1, room(threads or 1))
    threads = threads or next((count for count in range(max(nodes), 0, -1) if room(count) >= workers), 1)
    if room(threads) >= workers:
        return Share(workers, threads, threads)
    return Share(workers, threads, min(1.0, sum(nodes) * 1000 // workers / 1000))  # more than there is room for


@contextmanager
def connect(address: str | None = None) -> Iterator[list[int]]:
    """A cluster for as long as it is needed: the one at `address`, or this machine's cores. Gives each node's cores.

    Ray prints the deaths of workers to standard output, which is for results: meanwhile `sys.stdout` leads nowhere.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change to come
    ray = library()
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    with (
        TemporaryDirectory(prefix="regard-", ignore_cleanup_errors=True) as folder,
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
    ):
        try:
            if address is None:
                own = {"num_cpus": _cores(), "object_store_memory": STORE, "include_dashboard": False}
                ray.init("local", _temp_dir=folder, **own, **quiet)
            else:
                _join(ray, address, quiet)
            yield [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        finally:
            ray.shutdown()


def library() -> Any:
    """The package, or how to get it."""
    try:
        import ray
    except ImportError as error:
        raise RegardError("the engine ray needs the package of that name.", hint="pip install 'regard[ray]'") from error
    return ray


def _join(ray: Any, address: str, quiet: dict[str, Any]) -> None:
    """Knock first: where nobody is, Ray goes on asking for many minutes."""
    host, colon, port = address.rpartition(":")
    try:
        if colon and port.isdecimal():
            socket.create_connection((host.rpartition("/")[2].strip("[]"), int(port)), timeout=KNOCK).close()
        ray.init(address, **quiet)
    except (OSError, OverflowError, ValueError) as error:
        raise RegardError(
            f"no Ray cluster answers at '{address}': {str(error).splitlines()[0]}",
            hint="Start one with `ray start --head`, set RAY_AUTH_MODE and RAY_AUTH_TOKEN if it asks for a token, "
            "or leave out --address to use this machine alone.",
        ) from error


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
