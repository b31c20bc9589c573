"""Blocks of lines over the workers of a Ray cluster: in order, in bounded memory, and again when a worker is lost.

A worker is a process that has opened the job once and has one block at a time, so that it is known which block cost
it its life. All that happens (a block was read, a worker answered or is gone) comes through one queue to one loop.
Why not Ray Data: docs/cluster.md.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from typing import Any, Protocol, runtime_checkable

from regard.chunks import Chunk, Written
from regard.cluster.nodes import Share, library
from regard.errors import RegardError

TRIES = 3  # workers that one block may cost
AHEAD = 4  # blocks in hand for each worker: read, being translated, or waiting for an earlier one
PATIENCE = 30  # seconds without any worker, after which that is said


@runtime_checkable
class Job(Protocol):
    """What the workers do; `regard.translate.job.TranslateJob` is one."""

    def open(self) -> Callable[[Chunk], Written]:
        """Load what is needed, once a worker."""
        ...


class Worker:
    """What a process of the cluster holds."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def open(self) -> None:
        """Load what the job needs. Not when the worker is made: Ray would tell an error there as a death."""
        self.turn = self.job.open()

    def write(self, block: Chunk) -> Written:
        """The output of a block."""
        return self.turn(block)


@dataclass(frozen=True)
class Answer:
    """A worker has opened the job (no block), has written a block, or is gone."""

    worker: Any
    block: Chunk | None
    told: Future[Any]


@dataclass(frozen=True)
class End:
    """There is nothing more to read: the number of lines, and what went wrong after them."""

    lines: int
    error: Exception | None


def translate_chunks(
    job: Job, blocks: Iterable[Chunk], shared: Share, say: Callable[[str], object] = lambda line: None
) -> Iterator[Written]:
    """What the workers of the connected cluster make of the blocks, in their order; `say` hears of lost workers."""
    workers = Workers(job, shared, say)
    try:
        yield from workers.work(blocks)
    finally:
        workers.dismiss()


class Workers:
    """The workers, and where each block is: waiting for one, with one, or written."""

    def __init__(self, job: Job, shared: Share, say: Callable[[str], object]) -> None:
        ray = library()
        worker = ray.remote(num_cpus=shared.claim, scheduling_strategy="SPREAD", max_restarts=0)(Worker)
        self.make, self.gone = lambda: worker.remote(job), ray.exceptions.RayActorError
        self.size, self.say = shared.workers, say
        self.events: SimpleQueue[Chunk | Answer | End] = SimpleQueue()
        self.hired: list[Any] = []
        self.idle: list[Any] = []
        self.waiting: deque[Chunk] = deque()
        self.written: dict[int, Answer] = {}  # by how many lines came before
        self.lost: Counter[int | None] = Counter()  # workers by what they were at; None is opening the job
        self.room, self.opened, self.closed = Semaphore(AHEAD * shared.workers), False, False

    def work(self, blocks: Iterable[Chunk]) -> Iterator[Written]:
        """Read, hand out, and give in order what comes back."""
        for _ in range(self.size):
            self._hire()
        Thread(target=self._read, args=(blocks,), daemon=True).start()
        given, end = 0, None
        while end is None or given < end.lines:
            event = self._next()
            if isinstance(event, End):
                end = event
            elif isinstance(event, Chunk):
                self.waiting.append(event)
            else:
                self._hear(event)
            while self.idle and self.waiting:
                self._ask(self.idle.pop(), self.waiting.popleft())
            while given in self.written:
                answer = self.written.pop(given)
                yield _result(answer.told)
                given += len(answer.block.lines) if answer.block else 0
                self.room.release()
        if end.error is not None:
            raise end.error

    def dismiss(self) -> None:
        """Read no more, and end the workers, which else would keep their places on a cluster that stays."""
        self.closed = True
        self.room.release()
        for worker in self.hired if library().is_initialized() else ():
            library().kill(worker)

    def _read(self, blocks: Iterable[Chunk]) -> None:
        """Read in a thread, so that a slow writer of the input does not hold up what is written of it."""
        lines, error = 0, None
        try:
            for block in blocks:
                self.room.acquire()
                if self.closed:
                    return
                lines += len(block.lines)
                self.events.put(block)
        except Exception as found:  # noqa: BLE001 - raised by the loop, after what was read before it is written
            error = found
        self.events.put(End(lines, error))

    def _next(self) -> Chunk | Answer | End:
        if not self.opened:
            try:
                return self.events.get(timeout=PATIENCE)
            except Empty:
                self.say("No worker has started yet: is there room on the cluster? Still waiting.")
        return self.events.get()

    def _hire(self) -> None:
        """A new worker; it is given blocks when it has opened the job, wherever and whenever it finds a place."""
        if not library().is_initialized():  # Ray would start another of its own
            raise RegardError("there is no connection to a Ray cluster, or no longer.")
        self.hired.append(self.make())
        self._ask(self.hired[-1], None)

    def _ask(self, worker: Any, block: Chunk | None) -> None:
        asked = worker.open.remote() if block is None else worker.write.remote(block)
        asked.future().add_done_callback(lambda told: self.events.put(Answer(worker, block, told)))

    def _hear(self, answer: Answer) -> None:
        error = answer.told.exception()
        if isinstance(error, self.gone):
            self._replace(answer.block, str(error).strip().splitlines()[-1])
            return
        self.idle.append(answer.worker)
        if answer.block is not None:
            self.written[answer.block.before] = answer
        else:
            _result(answer.told)
            self.opened = True
            del self.lost[None]

    def _replace(self, block: Chunk | None, why: str) -> None:
        """A worker is gone: another takes its place, and its block comes first, unless that has cost too many."""
        at = None if block is None else block.before
        self.lost[at] += 1
        if self.lost[at] >= TRIES * (self.size if block is None else 1):
            what = "while they loaded the model" if block is None else f"at {block}"
            raise RegardError(
                f"{self.lost[at]} workers died {what}. Ray says of the last: {why}",
                hint="They may need more memory than there is: try fewer --workers, a smaller --beam, shorter lines.",
            )
        if block is not None:
            self.say(f"A worker was lost: {block} go to another.")
            self.waiting.appendleft(block)
        self._hire()


def _result(told: Future[Any]) -> Any:
    """What a worker gave; an error as it was raised there, without Ray's wrapping."""
    error = told.exception()
    if error is not None:
        raise getattr(error, "cause", None) or error
    return told.result()
