"""Running the application: one process, or several that share the port."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import webbrowser
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from regard.serve.app import create_app
from regard.serve.counters import Counters
from regard.serve.guard import log
from regard.serve.settings import Settings
from regard.serve.slots import left_of

VARIABLE = "REGARD_SERVE"  # the settings, for processes that are started
HEAD = 30  # seconds that a line is kept open without a request
STUCK = 20  # seconds without a sign of life after which a process is replaced


def run(settings: Settings, open_page: bool = False) -> None:
    """Serve until somebody ends it; what was accepted is answered first."""
    if open_page:
        threading.Timer(1.0, webbrowser.open, [f"http://{settings.host}:{settings.port}/"]).start()
    signal.signal(signal.SIGTERM, _done)  # uvicorn raises the signal again when all is answered
    settings = replace(settings, gentle=True)
    if settings.workers == 1:
        uvicorn.run(create_app(settings), **options(settings))
        return
    with tempfile.TemporaryDirectory(prefix="regard-serve-") as counters:
        settings = replace(settings, counters=counters)
        os.environ[VARIABLE] = settings.to_json()
        told = options(settings) | {"timeout_worker_healthcheck": STUCK}
        config = uvicorn.Config("regard.serve.start:of_environment", factory=True, workers=settings.workers, **told)
        sock = config.bind_socket()
        Crew(config, [sock], Path(counters)).run()
        sock.close()


def options(settings: Settings) -> dict[str, Any]:
    """What uvicorn is told."""
    return {
        "host": settings.host,
        "port": settings.port,
        "http": "regard.serve.line:Line",  # by name: a process must not import all of it before it can be looked after
        "loop": "asyncio",  # whatever else is installed: models take the time, and lines behave alike everywhere
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": round(settings.patience) + 1,
        "timeout_keep_alive": HEAD,
        "ws": "none",
    }


def of_environment() -> FastAPI:
    """The application of the settings that this process was started with."""
    return create_app(Settings.from_json(os.environ[VARIABLE]))


class Crew(Multiprocess):
    """The processes of a server. One that ends is replaced, and what it was answering is told."""

    def __init__(self, config: uvicorn.Config, sockets: list[Any], folder: Path) -> None:
        older = "target" in signature(Multiprocess.__init__).parameters
        super().__init__(config, sockets=sockets, **({"target": uvicorn.Server(config).run} if older else {}))
        self.folder, self.counters = folder, Counters(str(folder))

    def keep_subprocess_alive(self) -> None:
        """Look after them, twice a second."""
        before = list(self.processes)
        super().keep_subprocess_alive()
        for each in before:
            if each not in self.processes:
                self._tell(each.process.pid or 0, each.process.exitcode)

    def _tell(self, process: int, code: int | None) -> None:
        left = left_of(self.folder, process)
        told = f" while it answered {len(left)} requests, which are lost: {', '.join(left[:20])}" if left else ""
        log.error("worker %d ended (%s)%s; another takes its place", process, code, told)
        self.counters.lost(len(left))


def _done(number: int, frame: object) -> None:
    sys.exit(0)
