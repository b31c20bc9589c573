"""Servers in processes of their own, and what asks them, for the tests of their lives."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from serving import LINES, saved

BODY = json.dumps({"q": LINES[0], "source": "de", "target": "en"})
HEAD = {"Content-Type": "application/json"}
PATIENT = 180  # seconds after which a test gives up


def ask(port, body=BODY, line=None, path="/translate"):
    """Status, headers and what was answered."""
    own = line or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENT)
    try:
        own.request("POST", path, body, HEAD)
        found = own.getresponse()
        said = found.read().decode()
        told = json.loads(said) if found.headers["Content-Type"] == "application/json" else said
        return found.status, found.headers, told
    finally:
        if line is None:
            own.close()


def until(true):
    end = monotonic() + PATIENT
    while not (found := true()):
        assert monotonic() < end
        sleep(0.01)
    return found


@contextmanager
def serving(tmp_path):
    """What starts servers in processes of their own, that end with the test; what they tell goes to a file."""
    started = []
    folder = saved(tmp_path / "de-en")

    def serve(*words):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "regard",
            "serve",
            str(folder),
            "--port",
            str(port),
            "--engine",
            "torch",
            *words,
        ]
        log = (tmp_path / "log").open("w")
        started.append((subprocess.Popen(command, stderr=log, start_new_session=True), log))
        until(lambda: is_ready(port) or started[-1][0].poll() is not None)
        assert started[-1][0].poll() is None, (tmp_path / "log").read_text()
        return started[-1][0], port

    yield serve
    for process, log in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        log.close()


def is_ready(port):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENT)
    try:
        line.request("GET", "/health/ready")
        return line.getresponse().status == 200
    except OSError:
        return False
    finally:
        line.close()


def load(port, told, stopped):
    """Ask on one line until the server says that it closes; what was answered goes to `told`."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENT)) as line:
        while not stopped.is_set():
            status, headers, answer = ask(port, line=line)
            told.append((status, answer))
            if headers.get("Connection") == "close":
                return "told"
    return "stopped"


def children(process):
    """The workers of a process: its children that are not helpers of Python's own."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and "spawn_main" in (path / "cmdline").read_text():
                found.append(int(path.name))
    return sorted(found)


def replicas(process):
    """The replicas on a Ray that a process started: its descendants of that name."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            told = (path / "stat").read_text().rpartition(")")[2].split()
            parents[int(path.name)] = int(told[1]), (path / "cmdline").read_text()
    return sorted(
        each for each, (_, name) in parents.items() if "ServeReplica" in name and _under(each, process, parents)
    )


def _under(each, process, parents):
    while each in parents and each != process:
        each = parents[each][0]
    return each == process
