"""Replicas on a Ray of this machine: one is killed, the other answers, and a new one takes its place."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from served import PATIENT, ask, is_ready, replicas, serving, until
from serving import LINES, translator

pytest.importorskip(
    "ray.serve", reason="Ray Serve is not installed: pip install 'regard[ray-serve]'", exc_type=ImportError
)


def asking(port, told, stopped):
    while not stopped.is_set():
        told.append(ask(port)[::2])


def test_a_replica_that_is_killed_is_replaced(tmp_path):
    with serving(tmp_path) as serve:
        process, port = serve("--ray", "local", "--workers", "2")
        two = until(lambda: found if len(found := replicas(process.pid)) == 2 else None)
        right = {"translatedText": translator().translate(LINES[0]).text}
        told, stopped = [], Event()
        with ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(asking, port, told, stopped) for _ in range(4)]
            until(lambda: len(told) > 20)
            os.kill(two[0], signal.SIGKILL)
            count = len(told)
            until(lambda: len(told) > count + 20)  # the other answers
            until(lambda: len(found := set(replicas(process.pid))) == 2 and two[0] not in found)
            stopped.set()
            assert [each.result() for each in clients] == [None] * 4
        answered = [answer for status, answer in told if status == 200]
        assert answered and all(answer == right for answer in answered)
        assert len(told) - len(answered) <= 4  # at most what it was at, and each is told
        assert {status for status, _ in told} <= {200, 500, 503}
        assert is_ready(port) and ask(port)[::2] == (200, right)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENT) == 0
