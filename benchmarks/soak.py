"""A server over a long time: mixed requests at an even pace, each answer held to the right one, and its memory.

    python benchmarks/soak.py --model runs/quickstart/en-fr --also runs/quickstart/dates --minutes 60
    python benchmarks/soak.py --rate 2 --minutes 5        fewer requests a second

Clients ask for translations (one, many, of HTML; in the shapes of LibreTranslate, DeepL, Azure and OpenAI), languages,
scores, alignments, figures, streams and pages; some requests are broken, and some clients leave before they are
answered. What is asked twice must be answered alike; translations must be the model's own. The pace is set by the
clock and not by the server, so that other work on the machine shows as seconds and not as fewer requests.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

from serve import answer_of, broken, languages_of, memory, offline, request_of, sentences, server

SETTLED = 0.25  # of the time, after which memory should no longer grow
WAIT = 60.0  # seconds for an answer
KINDS = {  # how often each is asked for
    "translate": 30,
    "translate many": 6,
    "translate HTML": 8,
    "DeepL": 5,
    "Azure": 5,
    "OpenAI": 5,
    "detect": 5,
    "score": 5,
    "align": 5,
    "figure": 5,
    "stream": 5,
    "other model": 5,
    "page": 5,
    "broken": 8,
    "leaves": 3,
}


def arguments() -> Namespace:
    """What is asked."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=Path("runs/quickstart/en-fr"), help="a translator")
    parser.add_argument("--also", type=Path, help="another model that reads text, asked now and then")
    parser.add_argument("--lines", type=Path, help="sentences, one a line; else those of the phrasebook's test")
    parser.add_argument("--count", type=int, default=200, help="how many different sentences")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=6.0, help="requests a second, of all clients together")
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write what each minute and each kind was")
    parser.add_argument("words", nargs="*", help="more for the server, after --: -- --max-batch 64")
    return parser.parse_args()


class Told:
    """What was answered since the last minute, by kind, and what was wrong."""

    def __init__(self, right: dict[str, str]) -> None:
        self.right, self.first = right, dict[tuple[str, bytes], Any]()
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.statuses: dict[int, int] = defaultdict(int)
        self.wrong: list[str] = []
        self.late = 0.0  # seconds by which a client was behind its pace, at most

    def same(self, kind: str, request: bytes, found: Any) -> None:
        """What was asked before must be answered as before."""
        before = self.first.setdefault((kind, request), found)
        if before != found:
            self.fault(kind, f"{found!r}, before it was {before!r}")

    def must(self, kind: str, found: Any, right: Any) -> None:
        """The model's own answer."""
        if found != right:
            self.fault(kind, f"{found!r}, not {right!r}")

    def fault(self, kind: str, told: str) -> None:
        """Something that should not be."""
        self.wrong.append(f"{kind}: {told}"[:400])


class Client:
    """One line to the server, opened anew where it was closed."""

    def __init__(self, port: int, told: Told) -> None:
        self.port, self.told = port, told
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """A request on this line; a line that was closed between two is opened again, once."""
        for again in (True, False):
            fresh = self.writer is None
            if self.reader is None or self.writer is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                self.writer.write(request)
                return await asyncio.wait_for(answer_of(self.reader), WAIT)
            except (ConnectionError, asyncio.IncompleteReadError):
                await self.close()
                if fresh or not again:
                    raise
        raise ConnectionError

    async def close(self) -> None:
        """Hang up."""
        if self.writer is not None:
            self.writer.close()
            with suppress(ConnectionError):
                await self.writer.wait_closed()
        self.reader = self.writer = None

    async def once(self, kind: str, asked: Asked) -> None:
        """One request of a kind, and whether it was answered right."""
        if kind == "leaves":
            await self._leave(asked)
            return
        if kind == "broken":
            await self._broken(asked.broken())
            return
        request, check = asked.of(kind)
        since = perf_counter()
        status, body = await self.ask(request)
        self.told.seconds[kind].append(perf_counter() - since)
        self.told.statuses[status] += 1
        if kind == "detect" and status == 400:  # languages that share a tokenizer: the same is told each time
            self.told.same(kind, request, body)
            return
        if status != 200:
            self.told.fault(kind, f"{status} {body[:200]!r}")
            return
        check(self.told, request, body)

    async def _leave(self, asked: Asked) -> None:
        """Ask for much, and do not wait for it."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(asked.of("translate many")[0])
        await asyncio.sleep(asked.draw.random() * 0.05)
        writer.transport.abort()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self.told.statuses[0] += 1

    async def _broken(self, request: bytes) -> None:
        """Whatever it is, it must not break the server."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            status, body = await asyncio.wait_for(answer_of(reader), WAIT)
            self.told.statuses[status] += 1
            if status >= 500:
                self.told.fault("broken", f"{status} {body[:200]!r} of {request[:300]!r}")
        except (ConnectionError, asyncio.IncompleteReadError):
            self.told.statuses[0] += 1  # the line was closed on what is no HTTP
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


class Asked:
    """Requests of each kind, and what is right of their answers."""

    def __init__(self, model: Path, also: Path | None, right: dict[str, str], draw: random.Random) -> None:
        from regard.engine.home import named_folder

        self.name, self.also = named_folder(model).name, also and named_folder(also).name
        self.languages, self.right, self.draw = languages_of(model), right, draw
        self.lines = list(right)

    def of(self, kind: str) -> tuple[bytes, Any]:
        """A request, and the check of its answer."""
        line = self.draw.choice(self.lines)
        found: tuple[bytes, Any] = getattr(self, "_" + kind.lower().replace(" ", "_"))(line)
        return found

    def broken(self) -> bytes:
        """One that is wrong in some way, mostly."""
        return broken(self.draw)

    def _posted(self, path: str, told: Any, find: Any, right: Any = None) -> tuple[bytes, Any]:
        """JSON; `find` is what counts of the answer: the right one, or what it was before."""
        kind = path.partition("?")[0]

        def check(heard: Told, request: bytes, body: bytes) -> None:
            found = find(json.loads(body))
            heard.same(kind, request, found) if right is None else heard.must(kind, found, right)

        return request_of(path, json.dumps(told).encode()), check

    def _translate(self, line: str) -> tuple[bytes, Any]:
        return self._posted("/translate", {"q": line} | self.languages, lambda found: found["translatedText"],
                            self.right[line])  # fmt: skip

    def _translate_many(self, line: str) -> tuple[bytes, Any]:
        lines = [line, *self.draw.choices(self.lines, k=15)]
        return self._posted("/translate", {"q": lines} | self.languages, lambda found: found["translatedText"],
                            [self.right[each] for each in lines])  # fmt: skip

    def _translate_html(self, line: str) -> tuple[bytes, Any]:
        first, _, rest = line.partition(" ")
        text = f'<div id="a"><p>{first} <b class="x">{rest}</b></p><ul><li>{line}</li></ul></div>'
        tags = re.compile(r"<[^>]+>")

        def find(found: Any) -> Any:
            answer = found["translatedText"]
            return [sorted(tags.findall(answer)) == sorted(tags.findall(text)), answer]

        return self._posted("/translate", {"q": text, "format": "html"} | self.languages, find)

    def _deepl(self, line: str) -> tuple[bytes, Any]:
        told = {"text": [line], "target_lang": self.languages["target"].upper()}
        return self._posted("/v2/translate", told, lambda found: found["translations"][0]["text"], self.right[line])

    def _azure(self, line: str) -> tuple[bytes, Any]:
        path = f"/translate?api-version=3.0&from={self.languages['source']}&to={self.languages['target']}"
        return self._posted(path + "&includeAlignment=true", [{"text": line}],
                            lambda found: found[0]["translations"][0]["text"], self.right[line])  # fmt: skip

    def _openai(self, line: str) -> tuple[bytes, Any]:
        told = {"model": self.name, "messages": [{"role": "user", "content": line}]}
        return self._posted("/v1/chat/completions", told, lambda found: found["choices"][0]["message"]["content"],
                            self.right[line])  # fmt: skip

    def _detect(self, line: str) -> tuple[bytes, Any]:
        return self._posted("/detect", {"q": line}, lambda found: found)

    def _score(self, line: str) -> tuple[bytes, Any]:
        told = {"model": self.name, "source": line, "target": self.right[line]}
        return self._posted("/api/v1/score", told, lambda found: [round(each, 2) for each in found["likelihoods"]])

    def _align(self, line: str) -> tuple[bytes, Any]:
        told = {"model": self.name, "source": line, "target": self.right[line]}
        return self._posted("/api/v1/align", told, lambda found: found["alignments"][0]["pharaoh"])

    def _figure(self, line: str) -> tuple[bytes, Any]:
        told = {"model": self.name, "inputs": line, "attention": True, "figure": True, "candidates": 3, "nbest": 2}
        return self._posted("/api/v1/answer", told, lambda found: found["answers"][0][0]["text"], self.right[line])

    def _other_model(self, line: str) -> tuple[bytes, Any]:
        told = {"model": self.also or self.name, "inputs": line}
        return self._posted("/api/v1/answer", told, lambda found: found["answers"][0][0]["text"])

    def _stream(self, line: str) -> tuple[bytes, Any]:
        def check(heard: Told, request: bytes, body: bytes) -> None:
            last = body.decode().strip().rpartition("event: ")[2]
            heard.same("stream", request, last)
            if not last.startswith("answer"):
                heard.fault("stream", f"ended with {last[:100]!r}")

        return request_of("/api/v1/stream", json.dumps({"model": self.name, "input": line}).encode()), check

    def _page(self, line: str) -> tuple[bytes, Any]:
        path = self.draw.choice(("/", "/docs", "/openapi.json", "/languages", "/studio/start.js", "/api/v1/models"))

        def check(heard: Told, request: bytes, body: bytes) -> None:
            if path != "/api/v1/models":  # which says what is open
                heard.same("page", request, len(body))

        return request_of(path, b"", "GET"), check


async def pace(port: int, asked: Namespace, told: Told, number: int, end: float) -> None:
    """One client: a request each time its clock says so, whether or not the last was answered late."""
    draw = random.Random(asked.seed * 1000 + number)
    requests, line = Asked(asked.model, asked.also, told.right, draw), Client(port, told)
    each = asked.clients / asked.rate
    due = perf_counter() + each * number / asked.clients
    while due < end:
        await asyncio.sleep(max(0.0, due - perf_counter()))
        told.late = max(told.late, perf_counter() - due)
        kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
        try:
            await line.once(kind, requests)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            told.fault(kind, f"no answer: {error!r}")
            await line.close()
        due += each * draw.uniform(0.5, 1.5)
    await line.close()


async def minutes(port: int, process: int, asked: Namespace, told: Told) -> list[dict[str, Any]]:
    """All clients, and a row for each minute."""
    begun = perf_counter()
    end = begun + 60 * asked.minutes
    clients = [asyncio.create_task(pace(port, asked, told, number, end)) for number in range(asked.clients)]
    rows = list[dict[str, Any]]()
    print("| minute | requests | p50 ms | p95 ms | wrong | MiB | files | behind s |\n" + "| --- " * 8 + "|", flush=True)
    every: dict[str, list[float]] = defaultdict(list)
    count = wrong = 0
    while perf_counter() < end - 1:
        await asyncio.sleep(min(end, begun + 60 * (len(rows) + 1)) - perf_counter())
        heard = [each for some in told.seconds.values() for each in some]
        middle, most = percentiles(heard)
        row = {"minute": len(rows) + 1, "requests": sum(told.statuses.values()) - count, "p50": round(1000 * middle)}
        row |= {"p95": round(1000 * most), "wrong": len(told.wrong) - wrong, "MiB": round(memory(process), 1)}
        rows.append(row | {"files": len(list(Path(f"/proc/{process}/fd").iterdir())), "behind": round(told.late, 2)})
        print("|", " | ".join(map(str, rows[-1].values())), "|", flush=True)
        for kind, some in told.seconds.items():
            every[kind] += some
        for each in told.wrong[wrong : wrong + 5]:
            print("wrong:", each, flush=True)
        told.seconds.clear()
        count, wrong, told.late = sum(told.statuses.values()), len(told.wrong), 0.0
    await asyncio.gather(*clients)
    told.seconds = every
    return rows


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    if len(seconds) < 2:
        return float("nan"), float("nan")
    shares = quantiles(seconds, n=100)
    return shares[49], shares[94]


def slope(values: Sequence[float]) -> float:
    """By how much values grow from one to the next, by least squares."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    spread = sum((place - middle) ** 2 for place in range(len(values)))
    return sum((place - middle) * (value - mean) for place, value in enumerate(values)) / spread if spread else 0.0


def main() -> None:
    """Ask for so long, and tell how it went."""
    asked = arguments()
    asked.seconds = 0.0  # of the loop without a server: it is not wanted
    right, _ = offline(asked, sentences(asked))
    told = Told(right)
    words = [str(asked.also), *asked.words] if asked.also else asked.words
    print(f"{asked.minutes:g} minutes, {asked.rate:g} requests a second by {asked.clients} clients, engine "
          f"{asked.engine}, {asked.threads} thread(s), {asked.workers} worker(s), {asked.model}\n")  # fmt: skip
    with server(asked, *words) as (port, process):
        rows = asyncio.run(minutes(port, process, asked, told))
    settled = [row["MiB"] for row in rows[int(SETTLED * len(rows)) :]]
    print("\n| kind | answers | p50 ms | p95 ms |\n| --- | --- | --- | --- |")
    kinds = {}
    for kind in KINDS:
        some = told.seconds.get(kind, [])
        if some:
            middle, most = percentiles(some)
            kinds[kind] = {"answers": len(some), "p50": round(1000 * middle, 1), "p95": round(1000 * most, 1)}
            print(f"| {kind} | {len(some):,} | {1000 * middle:.0f} | {1000 * most:.0f} |")
    statuses = ", ".join(f"{status or 'left or cut'}: {count:,}" for status, count in sorted(told.statuses.items()))
    print(f"\nstatuses: {statuses}; wrong: {len(told.wrong)}")
    grown = 60 * slope(settled)
    print(f"memory: {rows[0]['MiB']:.0f} MiB after the first minute, {settled[0]:.0f} after {SETTLED:.0%} of the time, "
          f"{settled[-1]:.0f} at the end, at most {max(settled):.0f}; {grown:+.1f} MiB an hour since then")  # fmt: skip
    if asked.json:
        found = {"minutes": rows, "kinds": kinds, "statuses": told.statuses, "wrong": told.wrong, "grown": grown}
        asked.json.write_text(json.dumps(found, indent=1))
    if told.wrong:
        raise SystemExit("some answers were wrong")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
