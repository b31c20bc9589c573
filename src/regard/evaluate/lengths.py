"""Scores by the length of the source: where a fixed vector fails and attention does not (Bahdanau et al. 2015)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from regard.data.words import characters, words_of
from regard.errors import UsageError
from regard.evaluate.bootstrap import SEED
from regard.evaluate.counts import Count, Reference, Score, equal_counts
from regard.evaluate.metrics import counting

MOST = 6  # buckets: as many as a table and a figure show at a glance
SMALL = 100  # sentences: with fewer, BLEU's interval is as wide as the differences people look for


@dataclass(frozen=True)
class Bucket:
    """The sentences whose source has `low` to `high` words (both included), and their score."""

    low: int
    high: int
    count: int
    score: Score

    @property
    def small(self) -> bool:
        """Whether there are too few sentences for the score to say much."""
        return self.count < SMALL

    @property
    def label(self) -> str:
        """The lengths as people write them: `8-11`, or `8`."""
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def by_length(
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[Reference],
    *,
    edges: Sequence[int] | None = None,
    metric: str | Count = "bleu",
    probabilities: Sequence[float] | None = None,
    seed: int = SEED,
) -> list[Bucket]:
    """The score of short, middling and long sources, shortest first. Every sentence is in one bucket.

    `edges=(10, 20)` makes the buckets up to 10 words, 11 to 20, and beyond; empty ones are left out. Without
    edges there are up to 6 buckets of about as many sentences, none of fewer than 100 if there are 100. `metric` is
    any that counts answers, by its name (`bleu`, `accuracy` ...) or as a function; `ece` needs the `probabilities`.
    """
    equal_counts(sources=len(sources), outputs=len(outputs), references=len(references))
    counted = counting(metric, probabilities)(outputs, references)
    lengths = [count_words(source) for source in sources]
    ends = _checked(edges) if edges is not None else even_edges(lengths)
    place = np.array([bisect_left(ends, length) for length in lengths])
    lows = [min(lengths), *(end + 1 for end in ends)]
    highs = [*ends, max(lengths)]
    rows = [(each, np.flatnonzero(place == each)) for each in range(len(highs))]
    return [
        Bucket(lows[each], highs[each], len(index), counted.take(index).score(seed))
        for each, index in rows
        if len(index)
    ]


def count_words(line: str) -> int:
    """How many words a line has; where a script has no spaces between words, every character counts as one."""
    return len(words_of(line, characters(line)))


def even_edges(lengths: Sequence[int]) -> list[int]:
    """Edges that part the lengths into up to `MOST` buckets of about as many sentences, at least `SMALL` in each.

    Sentences of one length stay together, so a bucket ends where its share is most nearly reached.
    """
    total = len(lengths)
    wanted = max(1, min(MOST, total // SMALL))
    edges: list[int] = []
    done = before = 0
    for (length, count), (_, following) in pairwise(sorted(Counter(lengths).items())):
        done += count
        reached = done + following / 2 >= (len(edges) + 1) * total / wanted
        if reached and done - before >= SMALL and total - done >= SMALL:
            edges.append(length)
            before = done
    return edges


def _checked(edges: Sequence[int]) -> list[int]:
    if any(later <= earlier for earlier, later in pairwise((-1, *edges))):
        raise UsageError(
            f"edges: expected growing numbers of words; found {', '.join(map(str, edges))}.",
            hint="Write the longest length of each bucket but the last, as in edges=(10, 20, 30).",
        )
    return list(edges)
