"""A plugin of pytest: which functions of Regard each test runs, how long it takes, and whether it passes.

`pytest -p mutants.reach` with REACH_OUT set writes a JSON object from test files to what was seen of them. What runs
while a file is read or a fixture is made is counted to every test of the file: its fixtures may be shared. A test that
starts other processes is marked, since what those run is not seen.
"""

from __future__ import annotations

import json
import multiprocessing.process
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PACKAGE = f"{os.sep}src{os.sep}regard{os.sep}"
STARTS = {subprocess.Popen.__init__.__code__, multiprocessing.process.BaseProcess.start.__code__}

_seen: set[CodeType] = set()
_found: dict[str, dict[str, Any]] = {}


def _trace(frame: FrameType, event: str, argument: object) -> None:
    """Called with every function that is entered; no line inside it is traced."""
    _seen.add(frame.f_code)


def _tracing(on: bool) -> None:
    sys.settrace(_trace if on else None)
    threading.settrace(_trace if on else None)  # type: ignore[arg-type]


def _taken() -> tuple[set[str], bool]:
    """The functions of Regard since the last call, as file:line, and whether a process was started."""
    places = {
        f"{code.co_filename.rpartition(PACKAGE)[2]}:{code.co_firstlineno}"
        for code in _seen
        if PACKAGE in code.co_filename and code.co_name != "<module>"
    }
    starts = not STARTS.isdisjoint(_seen)
    _seen.clear()
    return places, starts


def _of_file(path: str) -> dict[str, Any]:
    return _found.setdefault(path, {"shared": set(), "starts": False, "tests": {}})


def _share(path: str) -> None:
    places, starts = _taken()
    _of_file(path)["shared"] |= places
    _of_file(path)["starts"] |= starts


def pytest_configure() -> None:
    """A few of Hypothesis' examples run what many do, and watched they are slow."""
    settings = import_module("hypothesis").settings
    settings.register_profile("reach", max_examples=5)
    settings.load_profile("reach")


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """What a test file runs as it is read."""
    if not isinstance(collector, pytest.Module):
        yield
        return
    _seen.clear()
    _tracing(True)
    yield
    _tracing(False)
    _share(collector.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """What its fixtures run."""
    _seen.clear()
    _tracing(True)
    began = time.monotonic()
    yield
    _tracing(False)
    path = item.nodeid.partition("::")[0]
    _share(path)
    told = {"functions": set(), "starts": False, "passed": False, "seconds": time.monotonic() - began}
    _of_file(path)["tests"][item.nodeid] = told


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What the test itself runs."""
    told = _of_file(item.nodeid.partition("::")[0])["tests"][item.nodeid]
    _seen.clear()
    _tracing(True)
    began = time.monotonic()
    outcome = yield
    _tracing(False)
    told["functions"], told["starts"] = _taken()
    told["seconds"] += time.monotonic() - began
    told["passed"] = outcome.excinfo is None  # type: ignore[attr-defined]


def pytest_sessionfinish() -> None:
    """Write what was found; sets become sorted lists."""
    Path(os.environ["REACH_OUT"]).write_text(json.dumps(_found, default=sorted), encoding="utf-8")
