"""Starting many processes from one command, with PyTorch's own launcher (the one behind `torchrun`)."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from regard.errors import UsageError

GRACE = 600  # seconds in which processes that were asked to stop finish their update and save


def is_launched() -> bool:
    """Is this one of the processes that a launcher started?"""
    return "WORLD_SIZE" in os.environ


def needs_launch(count: int) -> bool:
    """Are so many processes still to be started? Not if this is one of them."""
    if not is_launched():
        return count > 1
    found = int(os.environ["WORLD_SIZE"])
    if found != count:
        raise UsageError(
            f"--processes {count}: a launcher has started {found} already.",
            hint="Leave out --processes under torchrun and accelerate launch.",
        )
    return False


def launch(count: int, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run `regard` with these arguments in several processes that train as one; the exit code.

    Ctrl-C and a polite kill are handed on to them; when one fails, the others are ended. They find `environment` in
    theirs, and their share of the threads unless a number is set there or in ours.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=count,
        run_id="regard",
        rdzv_backend="c10d",
        rdzv_endpoint="127.0.0.1:0",
        max_restarts=0,
        shutdown_timeout=GRACE,
    )
    share = {"OMP_NUM_THREADS": str(max(1, _cores() // count))}
    with _as_before({**share, **os.environ, **(environment or {})}):
        try:
            elastic_launch(config, sys.executable)("-m", "regard", *arguments)
        except SignalException:
            return 130
        except ChildFailedError as error:
            # One that was killed, by the launcher after another had failed, has a code below 0.
            return max(1, *(failure.exitcode for failure in error.failures.values()))
    return 0


@contextmanager
def _as_before(environment: Mapping[str, str]) -> Iterator[None]:
    """Inside, the environment is this one; after it, all that the launcher changes in this process is as it was."""
    ours, quiet = dict(os.environ), logging.root.manager.disable
    handlers = {each: signal.getsignal(each) for each in signal.valid_signals()}
    os.environ.update(environment)
    logging.disable(logging.ERROR)  # the processes speak for themselves
    try:
        yield
    finally:
        logging.disable(quiet)
        os.environ.clear()
        os.environ.update(ours)
        for each, handler in handlers.items():
            if signal.getsignal(each) is not handler:
                signal.signal(each, handler)


def threads_at_hand() -> int:
    """How many threads there are to share out: as many as the user has set, else one a core."""
    found = os.environ.get("OMP_NUM_THREADS", "")
    return int(found) if found.isdecimal() and int(found) else _cores()


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
