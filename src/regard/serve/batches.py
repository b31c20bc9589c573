"""Requests that come together are answered together.

A text waits until the model is free, and a few milliseconds for others; then all that wait and were asked alike go as
one batch. What comes out is what each alone would have had. Who leaves before his turn is not answered; where too many
wait, one more is refused at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from regard.serve.refused import Refused

Result = TypeVar("Result")
Work = Callable[[Sequence[Any], Hashable], Sequence[Any]]


@dataclass(eq=False)
class Waiting:
    """A text that waits: what is asked of it, and who wants to know."""

    cell: Any
    alike: Hashable
    work: Work
    answer: asyncio.Future[Any] = field(repr=False)

    @property
    def wanted(self) -> bool:
        """Does anybody still wait for it?"""
        return not self.answer.done()


class Batches:
    """The queue of one process, and the one thread in which its models work.

    `watch` hears of each batch how many texts it has.
    """

    def __init__(self, most: int, delay: float, room: int, watch: Callable[[int], None] = lambda count: None) -> None:
        self.most, self.delay, self.room, self.watch = most, delay, room, watch
        self.waiting: deque[Waiting] = deque()
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="regard-models")
        self.alone_now = 0  # that go by themselves, and are not done
        self._come = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to answer; a running event loop is needed."""
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def stop(self) -> None:
        """Answer all that wait, then end."""
        while self.waiting:
            await asyncio.sleep(0.01)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.thread.shutdown(wait=True)

    async def ask(self, cells: Sequence[Any], alike: Hashable, work: Work) -> list[Any]:
        """An answer for each cell. Those of one request need not go together."""
        self.check(len(cells))
        loop = asyncio.get_running_loop()
        asked = [Waiting(cell, alike, work, loop.create_future()) for cell in cells]
        self.waiting.extend(asked)
        self._come.set()
        try:
            return list(await asyncio.gather(*(each.answer for each in asked)))
        finally:
            answered = all(each.answer.done() and not each.answer.cancelled() for each in asked)
            for each in asked:  # who is gone, or was told of an error, wants no more
                each.answer.cancel()
            if not answered:
                self.waiting = deque(each for each in self.waiting if each.wanted)

    def check(self, more: int = 1) -> None:
        """Refuse what there is no room for."""
        count = len(self.waiting) + self.alone_now
        if count + more > self.room:
            told = f"{count} texts wait already, and {self.room} may."
            raise Refused(503, f"The server is busy: {told}", headers={"Retry-After": "1"})

    async def alone(self, work: Callable[[], Result], *, check: bool = True) -> Result:
        """Something that cannot be done together with others, in its turn; `check` is off for what has begun."""
        if check:
            self.check()
        self.alone_now += 1
        try:
            return await self._run(work)
        finally:
            self.alone_now -= 1

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.thread, copy_context().run, work)

    async def _serve(self) -> None:
        while True:
            await self._come.wait()
            if len(self.waiting) < self.most and self.delay:
                await asyncio.sleep(self.delay)
            batch = self._next()
            if not batch:
                self._come.clear()
                continue
            try:
                self.watch(len(batch))
                found = await self._run(partial(_worked, batch))
            except Exception as error:  # noqa: BLE001, it belongs to those who asked
                _tell(batch, [error] * len(batch))
            else:
                _tell(batch, found)

    def _next(self) -> list[Waiting]:
        """The oldest that somebody still wants, and others that were asked alike."""
        wanted = [each for each in self.waiting if each.wanted]
        batch = [each for each in wanted if (each.alike, each.work) == (wanted[0].alike, wanted[0].work)][: self.most]
        chosen = set(map(id, batch))
        self.waiting = deque(each for each in wanted if id(each) not in chosen)
        return batch


def _worked(batch: Sequence[Waiting]) -> Sequence[Any]:
    """An answer for each, or why there is none."""
    found = batch[0].work([each.cell for each in batch], batch[0].alike)
    if len(found) != len(batch):
        raise RuntimeError(f"{len(batch)} texts were asked, and {len(found)} answered")
    return found


def _tell(batch: Sequence[Waiting], found: Sequence[Any]) -> None:
    for each, answer in zip(batch, found, strict=True):
        if each.answer.done():
            continue
        if isinstance(answer, Exception):
            each.answer.set_exception(answer)
        else:
            each.answer.set_result(answer)
