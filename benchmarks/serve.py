"""A server under load: many clients, each with one sentence at a time, and every answer held to the model's own.

    python benchmarks/serve.py --model runs/quickstart/en-fr --clients 64 --seconds 60
    python benchmarks/serve.py --model runs/de-en --lines ../shared/data/multi30k/test_2016_flickr.de
    python benchmarks/serve.py --model runs/quickstart/en-fr --fuzz 10000    broken requests: does memory stay flat?

Three ways to answer the same sentences by the same model, one after the other: the server as it is; the same server
with batches of one; and a loop over the sentences one by one, as other servers do behind their interface, here without
any server around it. Clients are lines of one process that shares the machine with the server; what a second of
processor answers does not depend on who else works there.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, quantiles
from time import perf_counter, process_time, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

WARM = 2.0  # seconds that are not counted


@dataclass
class Heard:
    """What clients were answered: seconds of each request, and what was wrong."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    right: int = 0  # answers, those that were not counted among them
    processor: float = float("nan")  # seconds that these took whoever answered

    def rate(self, during: float) -> float:
        """Sentences a second."""
        return len(self.seconds) / during

    def milliseconds(self) -> tuple[float, float]:
        """The median and the 95th percentile."""
        if len(self.seconds) < 2:
            return float("nan"), float("nan")
        shares = quantiles(self.seconds, n=100)
        return 1000 * shares[49], 1000 * shares[94]


def arguments() -> Namespace:
    """What is asked."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=Path("runs/quickstart/en-fr"))
    parser.add_argument("--lines", type=Path, help="sentences, one a line; else those of the phrasebook's test")
    parser.add_argument("--count", type=int, default=300, help="how many different sentences")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fuzz", type=int, default=0, help="broken requests, in the place of load")
    parser.add_argument("words", nargs="*", help="more for the server, after --: -- --max-batch 64")
    return parser.parse_args()


def main() -> None:
    """Measure what is asked."""
    asked = arguments()
    if asked.fuzz:
        fuzz(asked)
        return
    lines = sentences(asked)
    right, alone = offline(asked, lines)
    print(f"{asked.clients} clients, {asked.seconds:g} seconds, {len(lines)} sentences, engine {asked.engine}, "
          f"{asked.threads} thread(s), {asked.workers} worker(s), {asked.model.name}\n")  # fmt: skip
    print("| | sentences/s | p50 ms | p95 ms | sentences a batch | wrong | times | a second of processor | times |")
    print("| --- " * 9 + "|")
    base = None
    for name, words in (("as it is", asked.words), ("--max-batch 1", ("--max-batch", "1"))):
        with server(asked, *words) as (port, process):
            since = processor(process)
            found = asyncio.run(load(port, asked, lines, right))
            found.processor = processor(process) - since
            batch = counted(port)
        rates = (found.rate(asked.seconds), found.right / found.processor)
        base = base or rates
        row(name, rates, found, batch, base)
    row("one by one, no server", (1 / mean(alone.seconds), alone.right / alone.processor), alone, 1.0, base)


def row(name: str, rates: tuple[float, float], found: Heard, batch: float, base: tuple[float, float]) -> None:
    """One way to answer, in the table; what was wrong is told beside it. Rates: by the clock, and by processor."""
    middle, most = found.milliseconds()
    told = [name, f"{rates[0]:.1f}", f"{middle:.0f}", f"{most:.0f}", f"{batch:.1f}", len(found.wrong)]
    times = [ours / rate if rate else float("nan") for ours, rate in zip(base, rates, strict=True)]
    told += [f"{times[0]:.2f}", f"{rates[1]:.1f}", f"{times[1]:.2f}"]
    print(f"| {' | '.join(map(str, told))} |", flush=True)
    for each in found.wrong[:5]:
        print("  wrong:", each, file=sys.stderr)


def sentences(asked: Namespace) -> list[str]:
    """What is translated."""
    if asked.lines:
        found = [line for line in asked.lines.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        from regard.data.builtin import examples

        found = [pair.source for pair in examples("phrasebook", split="test", size=asked.count, seed=asked.seed)]
    return found[: asked.count]


def offline(asked: Namespace, lines: Sequence[str]) -> tuple[dict[str, str], Heard]:
    """What the model says of each sentence, and how long each takes alone."""
    import torch

    import regard

    torch.set_num_threads(asked.threads)
    model = regard.load(asked.model, engine=asked.engine, threads=asked.threads)
    right = {line: found.text for line, found in zip(lines, model.translate(list(lines)), strict=True)}
    heard, begun, used = Heard(), perf_counter(), process_time()
    while perf_counter() - begun < min(asked.seconds, 20.0):
        line = lines[len(heard.seconds) % len(lines)]
        since = perf_counter()
        text = model.translate(line).text
        heard.seconds.append(perf_counter() - since)
        if text != right[line]:
            heard.wrong.append(f"{line!r}: {text!r}, not {right[line]!r}")
    heard.right, heard.processor = len(heard.seconds), process_time() - used
    return right, heard


@contextmanager
def server(asked: Namespace, *words: str) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and its number."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "regard", "serve", str(asked.model), "--port", str(port), "--engine", asked.engine]
    command += ["--threads", str(asked.threads), "--workers", str(asked.workers), *words]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while not _ready(port):
                if process.poll() is not None:
                    raise SystemExit(f"the server ended: {' '.join(command)}")
                sleep(0.1)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            if process.wait() != 0:
                print(f"the server ended with {process.returncode}", file=sys.stderr)


def _ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5):
            return True
    except (OSError, HTTPError):
        return False


def counted(port: int) -> float:
    """Texts that were answered together, on average."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as found:
        told = dict(re.findall(r"^regard_batch_size_(sum|count) (\S+)$", found.read().decode(), re.M))
    return float(told["sum"]) / float(told["count"])


# --- load --------------------------------------------------------------------------------------------------


async def load(port: int, asked: Namespace, lines: Sequence[str], right: dict[str, str]) -> Heard:
    """All clients for some seconds; what comes back in the first two is not counted."""
    heard, end = Heard(), perf_counter() + WARM + asked.seconds
    draw = random.Random(asked.seed)
    orders = [draw.sample(list(lines), len(lines)) for _ in range(asked.clients)]
    between, languages = (end - asked.seconds, end), languages_of(asked.model)
    await asyncio.gather(*(client(port, languages, order, right, heard, between) for order in orders))
    return heard


def languages_of(model: Path) -> dict[str, str]:
    """Those that the model says that it reads and writes."""
    from regard.data.languages import read_languages
    from regard.engine.home import model_home

    source, target = read_languages(model_home(model)) or ("en", "fr")
    return {"source": source, "target": target}


async def client(
    port: int,
    languages: dict[str, str],
    lines: Sequence[str],
    right: dict[str, str],
    heard: Heard,
    between: tuple[float, float],
) -> None:
    """One sentence after the other, on one line."""
    begin, end = between
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    place = 0
    while perf_counter() < end:
        line = lines[place % len(lines)]
        place += 1
        since = perf_counter()
        writer.write(request_of("/translate", json.dumps({"q": line} | languages).encode()))
        status, body = await answer_of(reader)
        now = perf_counter()
        if status != 200 or json.loads(body)["translatedText"] != right[line]:
            heard.wrong.append(f"{status} {line!r}: {body[:200]!r}, not {right[line]!r}")
            continue
        heard.right += 1
        if begin <= now <= end:
            heard.seconds.append(now - since)
    writer.close()
    await writer.wait_closed()


def request_of(path: str, body: bytes, method: str = "POST", kind: str = "application/json") -> bytes:
    """A request as it is sent."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode("utf-8", "replace") + body


async def answer_of(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.I)
    if length:
        return int(head[9:12]), await reader.readexactly(int(length[1]))
    parts = []
    while size := int(await reader.readline(), 16):  # in chunks
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return int(head[9:12]), b"".join(parts)


def family(process: int) -> Iterator[tuple[Path, str]]:
    """A process and those that it started: where the system tells of each, and its status."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (path / "status").read_text(encoding="ascii", errors="replace")
            if int(path.name) == process or f"\nPPid:\t{process}\n" in status:
                yield path, status


def memory(process: int) -> float:
    """MiB that a process has in memory, with those that it started."""
    found = (re.search(r"^VmRSS:\s+(\d+)", status, re.M) for _, status in family(process))
    return sum(int(each[1]) / 1024 for each in found if each)


def processor(process: int) -> float:
    """Seconds of processor that they took."""
    total = 0.0
    for path, _ in family(process):
        with suppress(OSError):
            total += sum(map(int, (path / "stat").read_text().rpartition(")")[2].split()[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


# --- fuzz --------------------------------------------------------------------------------------------------

SEEDS: tuple[tuple[str, Any], ...] = (
    ("/translate", {"q": "the red car", "source": "en", "target": "fr", "alternatives": 2, "alignment": True}),
    ("/translate", {"q": ["<p>a <b>red</b> car", "x"], "source": "auto", "target": "fr", "format": "html"}),
    ("/translate?api-version=3.0&to=fr&includeAlignment=true", [{"text": "a red car"}]),
    ("/detect", {"q": "the red car"}),
    ("/v2/translate", {"text": ["a red car"], "target_lang": "FR"}),
    ("/v1/chat/completions", {"model": "en-fr", "messages": [{"role": "user", "content": "a car"}], "stream": True}),
    ("/v1/completions", {"model": "en-fr", "prompt": ["a red car"], "n": 2, "max_tokens": 5}),
    ("/api/v1/answer", {"inputs": ["a red car"], "beam": 2, "attention": True, "max_length": 9}),
    ("/api/v1/answer", {"inputs": "a car", "pins": [{"step": 0, "shares": {"1": 1}}], "tree": True, "max_length": 5}),
    ("/api/v1/score", {"source": "a car", "target": "une voiture"}),
    ("/api/v1/align", {"source": ["a car"], "target": ["une voiture"]}),
    ("/api/v1/look", {"input": "a car", "output": "une voiture"}),
    ("/api/v1/stream", {"input": "a red car", "max_length": 9}),
)
ODD = (
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "",
    "\x00",
    "\ud800",
    "é" * 2000,
    [],
    {},
    [[]] * 50,
    {"a": {"b": 1}},
    "<b>" * 99,
)


def broken(draw: random.Random) -> bytes:
    """A request that is wrong in some way, or in none."""
    path, told = draw.choice(SEEDS)
    told = json.loads(json.dumps(told))
    for _ in range(draw.randrange(3)):
        _spoil(told, draw)
    body = json.dumps(told).encode()
    way = draw.randrange(10)
    kind = "application/json"
    if way == 0:
        body = body[: draw.randrange(len(body) + 1)]
    elif way == 1:
        body = bytes(draw.randrange(256) for _ in range(draw.randrange(300)))
    elif way == 2:
        place = draw.randrange(len(body) + 1)
        body = body[:place] + bytes([draw.randrange(256)]) + body[place + 1 :]
    elif way == 3:
        body = b"[" * draw.randrange(50_000) + body
    elif way == 4:
        kind = draw.choice(("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x"))
    elif way == 5:
        path += draw.choice(("/", "?", "?q=%ff", "/../..", "%00", "?api-version=9"))
    elif way == 6:
        body = b'{"q": [' + b"1," * draw.randrange(100_000) + b"1]}"
    return request_of(path, body, draw.choice(("POST",) * 9 + ("PUT", "GET", "DELETE")), kind)


def _spoil(told: Any, draw: random.Random) -> None:
    """Put something odd in a place of a value."""
    while True:
        places = list(told) if isinstance(told, dict) else list(range(len(told)))
        if not places:
            return
        place = draw.choice(places)
        if isinstance(told[place], dict | list) and draw.random() < 0.6:
            told = told[place]
            continue
        told[place] = copy.deepcopy(draw.choice(ODD))
        return


def fuzz(asked: Namespace) -> None:
    """Broken requests, one after the other; the statuses, and the server's memory meanwhile."""
    draw, statuses = random.Random(asked.seed), dict[int, int]()
    with server(asked, *asked.words) as (port, process):
        print(f"| requests | MiB |\n| --- | --- |\n| 0 | {memory(process):.0f} |", flush=True)
        for number in range(1, asked.fuzz + 1):
            request = broken(draw)
            status = asyncio.run(_sent(port, request))
            if status >= 500:
                print(f"{status}: {request[:1000]!r}", file=sys.stderr)
            statuses[status] = statuses.get(status, 0) + 1
            if number % max(1, asked.fuzz // 10) == 0:
                print(f"| {number:,} | {memory(process):.0f} |", flush=True)
    print("\nstatuses:", ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items())))
    if any(status >= 500 for status in statuses):
        raise SystemExit("some requests broke the server")


async def _sent(port: int, request: bytes) -> int:
    """The status of a request; 0 where the line was closed without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return (await asyncio.wait_for(answer_of(reader), 120))[0]
    except (asyncio.IncompleteReadError, ConnectionError):
        return 0
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
