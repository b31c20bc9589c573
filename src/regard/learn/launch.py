"""Starting the processes of a team from one command, with PyTorch's own launcher (the one behind `torchrun`)."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from regard.errors import UsageError

GRACE = 600  # seconds in which processes that were asked to stop finish their update and save


def needs_launch(count: int) -> bool:
    """Are so many processes still to be started? Not if this is one of them."""
    if "WORLD_SIZE" not in os.environ:
        return count > 1
    found = int(os.environ["WORLD_SIZE"])
    if found != count:
        raise UsageError(
            f"--processes {count}: a launcher has started {found} already.",
            hint="Leave out --processes under torchrun and accelerate launch.",
        )
    return False


def launch(count: int, arguments: Sequence[str]) -> int:
    """Run `regard` with these arguments in several processes that train as one; the exit code.

    Ctrl-C and a polite kill are handed on to them; when one fails, the others are ended.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.disable(logging.ERROR)  # the processes speak for themselves
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, _cores() // count)))
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
    try:
        elastic_launch(config, sys.executable)("-m", "regard", *arguments)
    except SignalException:
        return 130
    except ChildFailedError as error:
        return max(1, error.get_first_failure()[1].exitcode)  # one that was killed has a code below 0
    return 0


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
