"""What a server counts, as Prometheus reads it. No address and no key is in it, and routes are those that we know.

Several processes each keep their own counts in a file of one folder; whichever is asked tells the sum.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from time import monotonic

from regard.serve.slots import Slots

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TEXTS = (1, 2, 4, 8, 16, 32, 64)
EVERY = 0.5  # seconds between two writings
ABOUT = {
    "regard_requests_total": ("counter", "Requests that were answered, by route and status."),
    "regard_request_seconds": ("histogram", "How long requests took."),
    "regard_batch_size": ("histogram", "Texts that were answered together."),
    "regard_texts_total": ("counter", "Texts that were answered, by model."),
    "regard_workers_lost_total": ("counter", "Processes that ended and were replaced."),
    "regard_requests_lost_total": ("counter", "Requests that they were answering."),
    "regard_queue_depth": ("gauge", "Texts that wait."),
    "regard_requests_in_progress": ("gauge", "Requests that are being answered."),
    "regard_models_loaded": ("gauge", "Models that are open."),
}


class Counters:
    """The counts of this process; with a `folder`, beside those of others."""

    def __init__(self, folder: str = "") -> None:
        self.counts: Counter[str] = Counter()
        self.busy, self.folder, self._written = 0, Path(folder) if folder else None, 0.0
        self.slots = Slots(self.folder)

    def lost(self, requests: int) -> None:
        """A process ended that was answering so many."""
        self.counts["regard_workers_lost_total"] += 1
        self.counts["regard_requests_lost_total"] += requests
        self._write({}, at_once=True)

    def enter(self, request: str) -> None:
        """A request has come."""
        self.busy += 1
        self.slots.take(request)

    def leave(self, request: str, route: str, status: int, seconds: float) -> None:
        """It was answered."""
        self.busy -= 1
        self.slots.free(request)
        self.counts[_named("regard_requests_total", route=route, status=str(status))] += 1
        self._observe("regard_request_seconds", SECONDS, seconds)
        self._write()

    def batch(self, texts: int) -> None:
        """So many texts are answered together."""
        self._observe("regard_batch_size", TEXTS, texts)

    def texts(self, model: str, count: int) -> None:
        """A model answered so many."""
        self.counts[_named("regard_texts_total", model=model)] += count

    def text(self, queue: int, loaded: int) -> str:
        """All of it, with how many texts wait and how many models are open now."""
        gauges = {"regard_queue_depth": queue, "regard_models_loaded": loaded}
        now = {**gauges, "regard_requests_in_progress": self.busy}
        self._write(now, at_once=True)
        counts = Counter(self.counts) + Counter(now) if self.folder is None else self._together()
        lines = list[str]()
        for name, (kind, about) in ABOUT.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            own = [key for key in counts if key.partition("{")[0].removesuffix("_bucket").removesuffix("_sum")
                   .removesuffix("_count") == name]  # fmt: skip
            lines += [f"{key} {counts[key]:g}" for key in sorted(own, key=_order)]
            if not own and (kind == "gauge" or name.endswith("_lost_total")):
                lines.append(f"{name} 0")
        return "\n".join(lines) + "\n"

    def _observe(self, name: str, bounds: tuple[int | float, ...], value: int | float) -> None:
        for bound in (*bounds, float("inf")):
            edge = "+Inf" if bound == float("inf") else f"{bound:g}"
            self.counts[_named(f"{name}_bucket", le=edge)] += int(value <= bound)
        self.counts[f"{name}_sum"] += value  # type: ignore[assignment]
        self.counts[f"{name}_count"] += 1

    def _write(self, now: dict[str, int] | None = None, at_once: bool = False) -> None:
        if self.folder is None or (not at_once and monotonic() - self._written < EVERY):
            return
        self._written = monotonic()
        path = self.folder / f"{os.getpid()}.json"
        whole = {"counts": self.counts, "now": {"regard_requests_in_progress": self.busy} if now is None else now}
        path.with_suffix(".tmp").write_text(json.dumps(whole), encoding="utf-8")
        path.with_suffix(".tmp").replace(path)

    def _together(self) -> Counter[str]:
        """The counts of all processes there were, and what is now so of those that live."""
        found: Counter[str] = Counter()
        for path in (self.folder or Path()).glob("*.json"):
            told = json.loads(path.read_text(encoding="utf-8"))
            found.update(told["counts"])
            if _alive(int(path.stem)):
                found.update(told["now"])
        return found


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _named(name: str, **labels: str) -> str:
    told = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return f"{name}{{{told}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _order(key: str) -> tuple[str, float, str]:
    """Buckets by their bounds."""
    name, _, labels = key.partition("{")
    edge = labels.partition('le="')[2].partition('"')[0]
    return name, float(edge.replace("+Inf", "inf")) if edge else 0.0, key
