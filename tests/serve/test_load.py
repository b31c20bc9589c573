"""The benchmark of the server: its clients find every answer right, and its broken requests break nothing."""

import asyncio
import os
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
        assert found.right >= len(found.seconds) and found.right and not found.wrong
        assert found.rate(0.4) == len(found.seconds) / 0.4
        found.seconds = [0.1, 0.2, 0.3, *found.seconds]  # of a busy machine there may be none in time
        assert found.milliseconds()[0] <= found.milliseconds()[1]
        assert 1 <= bench.counted(server.port) <= 5
        wrong = asyncio.run(bench.load(server.port, asked, LINES[:1], {LINES[0]: "?"}))
        assert wrong.wrong and not wrong.seconds and not wrong.right
        assert bench.processor(os.getpid()) > 0 and bench.memory(os.getpid()) > 1


def test_broken_requests_break_nothing(bench):
    draw = random.Random(3)
    requests = [request for _ in range(150) if len(request := bench.broken(draw)) < 10_000]
    with running({"en-fr": spoken("en", "fr")}) as server:
        statuses = [asyncio.run(bench._sent(server.port, request)) for request in requests]
    assert max(statuses) < 500 and {200, 400, 405, 422} <= set(statuses)


@pytest.fixture(scope="module")
def soaking(bench):
    """The other benchmark, which takes from this one."""
    path = Path(__file__).parents[2] / "benchmarks" / "soak.py"
    spec = spec_from_file_location("benchmarks_soak", path)
    found = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "serve", bench)
        spec.loader.exec_module(found)
    return found


def test_a_soak_asks_for_everything_and_finds_what_is_wrong(soaking, tmp_path):
    line, draw = LINES[0], random.Random(5)
    right = {each: best[0].text for each, best in zip(LINES, translator().search(LINES, Options(5)), strict=True)}
    folder = saved(tmp_path / "de-en")
    with running({"de-en": spoken()}) as server:
        told, asked = soaking.Told(right), soaking.Asked(folder, None, right, draw)
        asyncio.run(each_kind(soaking, server.port, told, asked))
        assert told.wrong == [] and set(told.seconds) == set(soaking.KINDS) - {"leaves", "broken"}
        assert sum(told.statuses.values()) == 2 * len(soaking.KINDS)
        told.right = asked.right = {line: "?"}
        asked.lines = [line]
        asyncio.run(each_kind(soaking, server.port, told, asked, ["translate"]))
        assert len(told.wrong) == 1 and "not '?'" in told.wrong[0]
        told.first = dict.fromkeys(told.first, "otherwise")
        told.same(*next(iter(told.first)), "so")
        assert len(told.wrong) == 2 and "before it was 'otherwise'" in told.wrong[1]


async def each_kind(soaking, port, told, asked, kinds=()):
    """Some kinds, or every kind twice, on one line."""
    line = soaking.Client(port, told)
    for kind in kinds or (*soaking.KINDS, *soaking.KINDS):
        await line.once(kind, asked)
    await line.close()


def test_a_slope_is_that_of_a_line(soaking):
    assert soaking.slope([3.0, 5.0, 7.0, 9.0]) == pytest.approx(2)
    assert soaking.slope([4.0, 4.0, 4.0]) == 0 == soaking.slope([7.0])
