"""The same server as replicas on a Ray cluster (Ray Serve): one address, and a replica that dies is replaced."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI

from regard.cluster import connect, share
from regard.errors import RegardError
from regard.serve.app import create_app
from regard.serve.settings import Settings

LOCAL = "local"  # an address: this machine alone
NAME = "regard"


def run(settings: Settings, address: str) -> None:
    """Serve with `settings.workers` replicas on the cluster at an address, until somebody ends it."""
    serve, ended = library(), threading.Event()
    alone = address == LOCAL
    settings = replace(settings, models=tuple(map(absolute, settings.models)))
    with TemporaryDirectory(prefix="regard-serve-") as folder, connect(None if alone else address) as nodes:
        claim = share(nodes, settings.workers, settings.threads).claim
        if alone:  # replicas of one machine add up what they count, and hand out one another's files
            settings = replace(settings, counters=folder)
        quiet = {"log_level": logging.ERROR, "enable_access_log": False}
        serve.start(http_options={"host": settings.host, "port": settings.port}, logging_config=quiet)
        serve.run(deployment(serve, settings, claim).bind(), name=NAME, route_prefix="/", logging_config=quiet)
        for number in (signal.SIGTERM, signal.SIGINT):  # after Ray has put its own in the place of any before
            signal.signal(number, lambda *_: ended.set())
        try:
            ended.wait()
        finally:
            serve.shutdown()


def deployment(serve: Any, settings: Settings, claim: int | float) -> Any:
    """Replicas that claim so many cores each, as Ray Serve deploys them."""
    patience = round(settings.patience) + 1
    deploy = serve.deployment(
        name=NAME,
        num_replicas=settings.workers,
        ray_actor_options={"num_cpus": claim},
        max_ongoing_requests=settings.queue,  # the replica's own queue says when it is full
        graceful_shutdown_timeout_s=patience,
        health_check_timeout_s=60,
    )

    class Server:
        """What a replica holds is the application alone."""

    return deploy(serve.ingress(builder(settings.to_json()))(Server))


def builder(told: str) -> Callable[[], FastAPI]:
    """What makes the application where a replica runs."""

    def build() -> FastAPI:
        return create_app(Settings.from_json(told))

    return build


def absolute(model: Path | str) -> str:
    """The same model for a process that runs in another folder."""
    name, equals, folder = str(model).rpartition("=")
    return f"{name}{equals}{Path(folder).absolute()}"


def library() -> Any:
    """Ray Serve, or how to get it."""
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    try:
        from ray import serve
    except ImportError as error:
        raise RegardError("replicas need Ray Serve.", hint="pip install 'regard[serve,ray-serve]'") from error
    return serve
