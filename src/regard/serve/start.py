"""Running the application: one process, or several that share the port."""

from __future__ import annotations

import os
import tempfile
import threading
import webbrowser
from dataclasses import replace

import uvicorn
from fastapi import FastAPI

from regard.serve.app import create_app
from regard.serve.settings import Settings

VARIABLE = "REGARD_SERVE"  # the settings, for processes that are started


def run(settings: Settings, open_page: bool = False) -> None:
    """Serve until somebody ends it; what was accepted is answered first."""
    if open_page:
        threading.Timer(1.0, webbrowser.open, [f"http://{settings.host}:{settings.port}/"]).start()
    told = {
        "host": settings.host,
        "port": settings.port,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": round(settings.patience) + 1,
        "timeout_keep_alive": 30,
        "ws": "none",
    }
    if settings.workers == 1:
        uvicorn.run(create_app(settings), **told)  # type: ignore[arg-type]
        return
    with tempfile.TemporaryDirectory(prefix="regard-serve-") as counters:
        os.environ[VARIABLE] = replace(settings, counters=counters).to_json()
        uvicorn.run("regard.serve.start:of_environment", factory=True, workers=settings.workers, **told)  # type: ignore[arg-type]


def of_environment() -> FastAPI:
    """The application of the settings that this process was started with."""
    return create_app(Settings.from_json(os.environ[VARIABLE]))
