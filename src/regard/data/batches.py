"""Batches: examples of a corpus, encoded, of like length side by side, in an order that a seed decides.

An epoch is a shuffle of all rows, taken in pools. A pool is encoded when its turn comes, made into examples, sorted by
length, cut into batches that hold at most `tokens` positions, and the batches are shuffled. So only one pool is in
memory, however large the corpus, and the next batch depends on the seed, the epoch, the pool and the place in
it: that is all a state has to say.

Positions are counted with their padding, source and target together: a batch of B pairs has
B x (longest source + longest target), end and start pieces included. A pair too long for that alone is a
batch by itself. Text that is read ends with `</s>`; text to be written stands between `<s>` and `</s>`, so a decoder is
taught on `target.data[:, :-1]` and predicts `target.data[:, 1:]`. Padding is id 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from random import Random
from typing import Any, Protocol, runtime_checkable

import numpy as np

from regard.data.pair import Pair
from regard.data.splits import digest
from regard.errors import BrokenData, MissingData, UsageError
from regard.task import BaseGoal, Example, Examples, Rows
from regard.types import Batch

POOL = 20_000  # rows that are encoded and sorted together


@runtime_checkable
class Split(Protocol):
    """One split of a corpus: how many rows, and the columns of some of them (a `datasets.Dataset` is one)."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: list[int], /) -> Mapping[str, Sequence[str]]: ...


@dataclass(frozen=True)
class InMemory:
    """Pairs in memory, as a split."""

    pairs: Sequence[Pair]

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, rows: list[int], /) -> Mapping[str, Sequence[str]]:
        chosen = [self.pairs[row] for row in rows]
        texts = {"source": [pair.source for pair in chosen], "target": [pair.target for pair in chosen]}
        return {**texts, "links": [pair.gold() for pair in chosen]}


@dataclass
class Tally:
    """What has been handed out: in an epoch, or in all."""

    batches: int = 0
    pairs: int = 0
    left_out: int = 0  # examples that are too long
    positions: int = 0  # padding included
    real: int = 0

    @property
    def padding(self) -> float:
        """The share of positions that are padding."""
        return 1 - self.real / self.positions if self.positions else 0.0

    def __add__(self, later: Tally) -> Tally:
        """Both together; what is left out in one epoch is left out in every other."""
        sums = {name: value + getattr(later, name) for name, value in asdict(self).items()}
        return Tally(**{**sums, "left_out": max(self.left_out, later.left_out)})

    def __str__(self) -> str:
        left_out = f", {self.left_out:,} pairs left out as too long" if self.left_out else ""
        return f"{self.batches:,} batches, {self.pairs:,} pairs, {self.padding:.1%} padding{left_out}"


@dataclass
class Batches:
    """The batches of one split: `for batch in batches` gives the rest of an epoch, the next `for` the next.

    The sides of the goal encode the columns `source` and `target`; those that do not fit are left out, and `tally`
    counts them. What sides and goal draw at random is drawn anew in every epoch. Without `shuffle` the pools follow the
    rows, shorter examples come first in each, nothing is drawn but by row, and every epoch is the same. `tally` counts
    what this epoch has handed out, `total` what all have. `mixed` batches are not of like length: each is a draw from
    its pool. `examples` that are `ordered` are made of rows as the corpus has them, and only the batches of a pool are
    shuffled.
    """

    split: Split
    goal: BaseGoal
    _: KW_ONLY
    tokens: int = 4096
    pool: int = POOL
    seed: int = 0
    shuffle: bool = True
    mixed: bool = False
    examples: Examples = field(default_factory=Rows)
    tally: Tally = field(init=False, default_factory=Tally)
    epoch: int = field(init=False, default=0)
    _before: Tally = field(init=False, default_factory=Tally)  # of the epochs before this one

    def __post_init__(self) -> None:
        for name in ("tokens", "pool"):
            value = getattr(self, name)
            if value < 1:
                raise UsageError(f"batches: {name} is a number of 1 or more; found {value}.")
        if not len(self.split):
            raise BrokenData("batches are made of examples; the split has none.")
        self.source, self.target = self.goal.source, self.goal.target
        if "links" in self.goal.columns and "links" not in self.split[[0]]:
            raise MissingData(
                "expected pairs with word links; this corpus has none.",
                hint='Give it a column of links (0-0 1-2 ...); to train without: guide = "reference" or "none".',
            )
        self._pool, self._place = 0, 0  # the pool whose turn it is, and the next batch in it
        self._opened: tuple[tuple[int, int], list[list[Example]]] | None = None
        self._order: tuple[int, np.ndarray] | None = None

    def __iter__(self) -> Iterator[Batch]:
        while self._pool * self.pool < len(self.split):
            batches = self._open()
            if self._place < len(batches):
                self._place += 1
                yield self._collated(batches[self._place - 1])
            else:
                self._pool, self._place = self._pool + 1, 0
        if not self.tally.batches:
            raise BrokenData(
                f"all {self.tally.left_out} examples are longer than {self._longest()} pieces; none is left.",
                hint="Raise `longest`, or leave it out.",
            )
        self.epoch, self._pool, self._place = self.epoch + 1, 0, 0

    @property
    def total(self) -> Tally:
        """What all epochs have handed out until now."""
        return self._before + self.tally

    @property
    def epochs(self) -> float:
        """How many epochs that is."""
        if self._is_ordered:  # of one row many examples may be made, and one of many
            return self.epoch + min(1.0, self._pool * self.pool / len(self.split))
        total = self.total
        return total.pairs / max(len(self.split) - total.left_out, 1)

    def forever(self) -> Iterator[Batch]:
        """Epoch after epoch, without end."""
        while True:
            yield from self

    def state(self) -> dict[str, Any]:
        """Where the stream stands, fit for JSON: `restore` goes on with the batch after the last given."""
        place = {"epoch": self.epoch, "pool": self._pool, "place": self._place}
        return {**place, "tally": asdict(self.tally), "before": asdict(self._before), "of": self._settings()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go to where a stream over the same pairs with the same settings stood."""
        ours, theirs = self._settings(), state["of"]
        changed = [name for name in ours if ours[name] != theirs.get(name)]
        if changed:
            told = "; ".join(f"{name} is {ours[name]}, was {theirs.get(name)}" for name in changed)
            raise UsageError(
                f"the batches cannot go on where they stopped: {told}.",
                hint="Resume with the data and settings of the first run, or start a new one.",
            )
        self.epoch, self._pool, self._place = state["epoch"], state["pool"], state["place"]
        self.tally, self._before = Tally(**state["tally"]), Tally(**state.get("before", {}))
        self._opened = None

    def _settings(self) -> dict[str, Any]:
        """What the order of batches depends on, apart from the text itself."""
        named = {name: getattr(self, name) for name in ("tokens", "pool", "seed", "shuffle")}
        drawn = {"longest": self._longest(), "sample": getattr(self.source, "sample", 0.0)}
        sizes = {
            "rows": len(self.split),
            "source": self.source.spec().to_json(),
            "target": self.target.spec().to_json(),
        }
        blocks = {"blocks": getattr(self.examples, "length", 0)} if self._is_ordered else {}
        mixed = {"mixed": True} if self.mixed else {}
        return {**named, **drawn, **sizes, **blocks, **mixed}

    @property
    def _is_ordered(self) -> bool:
        """Whether examples are made of rows that follow one another in the corpus."""
        return bool(getattr(self.examples, "ordered", False))

    def _longest(self) -> int | None:
        return getattr(self.source, "longest", 0) or getattr(self.target, "longest", 0) or None

    def _open(self) -> list[list[Example]]:
        """The batches of the pool whose turn it is."""
        if self._opened is None or self._opened[0] != (self.epoch, self._pool):
            if self._pool == self._place == 0:
                self._before, self.tally = self.total, Tally()
            random = Random(f"{self.seed} {self.epoch if self.shuffle else 0} {self._pool}")
            examples, left_out = self._encoded(random)
            if self._place == 0:  # else the state that was restored has counted them
                self.tally.left_out += left_out
            batches = list(_cut(self._as_drawn(examples) if self.mixed else self._by_length(examples), self.tokens))
            if self.shuffle:
                random.shuffle(batches)
            self._opened = ((self.epoch, self._pool), [[each for each, _ in batch] for batch in batches])
        return self._opened[1]

    def _encoded(self, random: Random) -> tuple[list[Example], int]:
        """The examples of the pool, and how many were too long."""
        rows = self._rows()[self._pool * self.pool : (self._pool + 1) * self.pool].tolist()
        columns, dice = self.split[rows], random if self.shuffle else None
        nothing = [None] * len(rows)
        sources = self.source.encode(columns.get("source", nothing), dice)
        targets = self.target.encode(columns.get("target", nothing), dice, sources)
        extras = [dict(zip(self.goal.columns, each, strict=True)) for each in self._extras(columns, len(rows))]
        made = [
            Example(source, target, row, self.target.predictions(target), extra)
            for source, target, row, extra in zip(sources, targets, rows, extras, strict=True)
            if self.source.fits(source) and self.target.fits(target)
        ]
        prepared = self.examples(made, random)
        if self.goal.prepares:
            prepared = [self.goal.prepare(each, self._dice(each.row)) for each in prepared]
        # There is nothing to learn from what asks for no prediction, and a process might be left with no other.
        return [each for each in prepared if each.weight], len(rows) - len(made)

    def _extras(self, columns: Mapping[str, Sequence[Any]], count: int) -> Iterator[tuple[Any, ...]]:
        wanted = [columns[name] for name in self.goal.columns]
        return zip(*wanted, strict=True) if wanted else iter([()] * count)

    def _dice(self, row: int) -> Random:
        """What a goal draws for a row: anew in every epoch, whatever pool or process the row is in."""
        return Random(f"{self.seed} {self.epoch if self.shuffle else 0} row {row}")

    def _rows(self) -> np.ndarray:
        """All rows in the order of this epoch."""
        count = len(self.split)
        if not self.shuffle or self._is_ordered:
            return np.arange(count, dtype=np.int32)
        if self._order is None or self._order[0] != self.epoch:
            dice = np.random.default_rng(digest(f"{self.seed} {self.epoch}"))
            self._order = (self.epoch, dice.permutation(np.arange(count, dtype=np.int32)))
        return self._order[1]

    def _as_drawn(self, examples: list[Example]) -> list[tuple[Example, tuple[int, int]]]:
        """In the order of the epoch; of images that differ in height and width, those of one frame side by side."""
        frame = self._frame
        return sorted(self._measured(examples), key=lambda pair: frame(pair[0].source))

    def _by_length(self, examples: list[Example]) -> list[tuple[Example, tuple[int, int]]]:
        """Shorter targets first; among equal ones sources rise and fall in turns: neighbours are alike.

        Of images that differ in height and width the smaller frames come first: they are most of a batch.
        """
        frame = self._frame

        def key(pair: tuple[Example, tuple[int, int]]) -> tuple[tuple[int, ...], int, int]:
            source, target = pair[1]
            return frame(pair[0].source), target, source if target % 2 else -source

        return sorted(self._measured(examples), key=key)

    @property
    def _frame(self) -> Callable[[Any], tuple[int, ...]]:
        """The height and width of an image, where they differ."""
        return getattr(self.source, "frame", lambda item: ())

    def _measured(self, examples: list[Example]) -> list[tuple[Example, tuple[int, int]]]:
        """Each with its positions, of source and target."""
        return [(each, (self.source.positions(each.source), self.target.positions(each.target))) for each in examples]

    def _collated(self, examples: list[Example]) -> Batch:
        batch = self.goal.collate(examples)
        masks = [side.mask for side in (batch.source, batch.target) if side is not None]
        self.tally.batches += 1
        self.tally.pairs += len(examples)
        self.tally.positions += sum(mask.numel() for mask in masks)
        self.tally.real += sum(int(mask.sum()) for mask in masks)
        return batch


def _cut(
    examples: list[tuple[Example, tuple[int, int]]], tokens: int
) -> Iterator[list[tuple[Example, tuple[int, int]]]]:
    """Neighbours together, as many as the positions allow."""
    batch: list[tuple[Example, tuple[int, int]]] = []
    widest = (0, 0)
    for each in examples:
        wider = max(widest[0], each[1][0]), max(widest[1], each[1][1])
        if batch and (len(batch) + 1) * max(1, sum(wider)) > tokens:
            yield batch
            batch, wider = [], each[1]
        batch.append(each)
        widest = wider
    if batch:
        yield batch
