"""Which lines are searched for together, and how many searches run side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from regard.engine import Engine

FEWEST = 16  # rows of a batch before its rows are shared out among workers
POOL = 32  # times as many positions as are at work may wait in a search that takes them in as there is room


def in_workers(engine: Engine, work: Callable[[list[int]], None], batches: Sequence[list[int]], workers: int) -> None:
    """All the batches, so many at a time, a thread each: while some are searched, another is cut, read and told."""
    workers = min(workers, len(batches))
    if workers <= 1:
        for rows in batches:
            work(rows)
        return
    with engine.pool(workers) as pool:
        # `map` calls off what has not begun as soon as one fails, or somebody presses Ctrl-C.
        for _ in pool.map(work, batches):
            pass


def pools(lengths: Sequence[int], tokens: int, workers: int) -> Iterator[list[int]]:
    """Rows for searches that take in what waits as there is room: as many searches as workers, of like lengths."""
    rounds = 1 + sum(lengths) // (POOL * tokens * workers)
    return _dealt(sorted(range(len(lengths)), key=lambda row: -lengths[row]), rounds * workers)


def batches_of(lengths: Sequence[int], tokens: int, workers: int = 1) -> Iterator[list[int]]:
    """Rows of like length together, longest first, at most `tokens` padded positions (or one row) at a time.

    They are dealt out to as many batches as workers, so that all have as much to do and end together; but not a few
    that are one batch by themselves.
    """
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if rows and (len(rows) // workers + 1) * (lengths[rows[0]] + 1) > tokens:
            yield from _dealt(rows, workers)
            rows = []
        rows.append(row)
    if rows:
        fits = len(rows) * (lengths[rows[0]] + 1) <= tokens
        yield from _dealt(rows, max(1, min(workers, len(rows) // FEWEST)) if fits else workers)


def _dealt(rows: list[int], hands: int) -> Iterator[list[int]]:
    """The rows, one to each hand in turn."""
    yield from filter(None, (rows[hand::hands] for hand in range(hands)))
