"""What the routes of every protocol share: the settings, the models, the queue."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from starlette.requests import HTTPConnection

from regard.errors import RegardError
from regard.serve.batches import Batches
from regard.serve.counters import Counters
from regard.serve.detect import Detector
from regard.serve.files import Files
from regard.serve.gate import Gate
from regard.serve.refused import Protocol, Refused
from regard.serve.settings import Settings
from regard.serve.shelf import Entry, Shelf
from regard.serve.tasks import Served

Result = TypeVar("Result")
log = logging.getLogger("regard.serve")
PICTURES = 4  # of the largest images that a request may have: so many pixels may be in memory at once


class Desk:
    """Where requests are handed in."""

    def __init__(self, settings: Settings, shelf: Shelf, batches: Batches, counters: Counters) -> None:
        self.settings, self.shelf, self.batches, self.counters = settings, shelf, batches, counters
        self.gate, self.ready, self.ending = Gate(settings.keys, settings.rate, settings.quota), False, False
        self.pixels = 0  # of images that are being answered
        self.detector, self.files = Detector(shelf), Files(settings.counters)
        self._served = {name: Served(shelf, entry, settings.length, counters) for name, entry in shelf.entries.items()}

    @classmethod
    def of(cls, settings: Settings, shelf: Shelf) -> Desk:
        """With a queue of its own."""
        counters = Counters(settings.counters)
        batches = Batches(settings.batch, settings.delay, settings.queue, counters.batch)
        return cls(settings, shelf, batches, counters)

    async def get_ready(self) -> None:
        """Open the first model."""
        first = next((each for each in self._served.values() if not each.entry.problem), None)
        for each in self.shelf.entries.values():
            if each.problem:
                log.warning("%s is not answered for. %s", each.name, each.problem)
        if first is None:  # of open ones: folders alone would have been refused
            return
        try:
            await self.batches.alone(lambda: first.model, check=False)
        except RegardError as error:
            log.error("%s cannot be opened: %s", first.entry.name, error)
        except Exception:
            log.exception("%s cannot be opened", first.entry.name)
        else:
            self.ready = True

    def counted(self) -> str:
        """What was counted, for Prometheus."""
        loaded = sum(entry.model is not None for entry in self.shelf.entries.values())
        return self.counters.text(len(self.batches.waiting) + self.batches.alone_now, loaded)

    def served(self, name: str | None = None, source: str | None = None, target: str | None = None) -> Served:
        """The model of this name; without one, that of these languages; without those, the first."""
        if name is None and (source or target):
            return self._served[self.shelf.between(source, target).name]
        entry = self.shelf.find(name, lambda entry: not entry.problem)
        if entry.problem:
            raise Refused(400, f"{entry.name} is not answered for. {entry.problem}", "model", "task_not_served")
        return self._served[entry.name]

    def check_count(self, inputs: Sequence[Any]) -> None:
        """Refuse more texts than a request may have."""
        if len(inputs) > self.settings.texts:
            raise Refused(400, f"Too many: {len(inputs)} texts, limit {self.settings.texts}", "inputs", "too_many")

    def charge(self, request: HTTPConnection, texts: Sequence[str], protocol: Protocol) -> None:
        """Count the characters that are translated for the key of a request."""
        self.gate.charge(request.state.key, sum(map(len, texts)), protocol)

    def image(self, request: HTTPConnection, pixels: int) -> None:
        """Make room for an image of a request: its pixels stay until it is answered."""
        own, most = getattr(request.state, "pixels", 0) + pixels, self.settings.pixels
        if own > most:
            raise Refused(413, f"The images are too large: {own:,} pixels, limit {most:,} in all.", "inputs")
        if self.pixels + pixels > PICTURES * most:
            raise Refused(503, "The server is busy: too many large images.", headers={"Retry-After": "1"})
        request.state.pixels = own
        self.pixels += pixels

    def release(self, state: Mapping[str, Any]) -> None:
        """A request is answered: what it held is free."""
        self.pixels -= state.get("pixels", 0)

    async def alone(self, request: HTTPConnection, work: Callable[[], Result]) -> Result:
        """Something that cannot be done together with others."""
        return await self.batches.alone(work)

    def abilities(self, entry: Entry) -> list[str]:
        """What may be asked of a model beside an answer."""
        if entry.problem:
            return []
        if entry.goal != "write":
            return [] if entry.reads == "image" or not entry.looks else ["look"]
        if entry.reads == "nothing":
            return ["score", "look", "stream", "sampling"]
        found = ["score", "align", "look", "stream"] if entry.translates else []
        return [*found, "nbest", "prefix", "candidates", "pins", "heads_off", "tree", "sampling"]


def desk_of(request: HTTPConnection) -> Desk:
    """The desk of the application that a request came to."""
    found: Desk = request.app.state.desk
    return found
