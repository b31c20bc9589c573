"""The benchmark of the server: its clients find every answer right, and its broken requests break nothing."""

import asyncio
import random
import sys
from argparse import Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from regard.search import Options
from serving import LINES, running, saved, spoken, translator


@pytest.fixture(scope="module")
def bench():
    path = Path(__file__).parents[2] / "benchmarks" / "serve.py"
    spec = spec_from_file_location("benchmarks_serve", path)
    found = sys.modules["benchmarks_serve"] = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_clients_count_what_is_right_and_what_is_not(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "WARM", 0.0)
    asked = Namespace(clients=5, seconds=0.4, seed=0, model=saved(tmp_path / "de-en"))
    right = {line: best[0].text for line, best in zip(LINES, translator().search(LINES, Options(5)), strict=True)}
    with running({"toy": spoken()}) as server:
        found = asyncio.run(bench.load(server.port, asked, LINES, right))
        assert found.seconds and not found.wrong and found.rate(0.4) > 0
        assert found.milliseconds()[0] <= found.milliseconds()[1]
        assert 1 <= bench.counted(server.port) <= 5
        wrong = asyncio.run(bench.load(server.port, asked, LINES[:1], {LINES[0]: "?"}))
        assert wrong.wrong and not wrong.seconds


def test_broken_requests_break_nothing(bench):
    draw = random.Random(3)
    requests = [request for _ in range(150) if len(request := bench.broken(draw)) < 10_000]
    with running({"en-fr": spoken("en", "fr")}) as server:
        statuses = [asyncio.run(bench._sent(server.port, request)) for request in requests]
    assert max(statuses) < 500 and {200, 400, 405, 422} <= set(statuses)
