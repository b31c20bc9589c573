"""`python -m mutants.server MODULE ...`: imports these modules once, then runs pytest in a copy of itself each time.

Each line it reads is a JSON object with the `options` of pytest and the `seconds` it may take; each line it writes is
the exit code, or null where that was not enough. Half of what a small test costs is imports, which are spared so.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module

PLAIN = ("--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist")  # nobody reads what the tests say


def main() -> None:
    """Answer until there is nothing more to read."""
    import pytest

    for name in sys.argv[1:]:
        import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            os._exit(int(pytest.main([*PLAIN, *asked["options"]])))
        print(json.dumps(_wait(child, asked["seconds"])), flush=True)


def _wait(child: int, seconds: float) -> int | None:
    """The exit code of a process; afterwards all that it started is gone."""
    end, code = time.monotonic() + seconds, None
    while code is None and time.monotonic() < end:
        time.sleep(0.02)
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if code is None:
        os.waitpid(child, 0)
    return code


if __name__ == "__main__":
    main()
