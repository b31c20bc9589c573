"""Batches: pairs of a corpus, encoded, of like length side by side, in an order that a seed decides.

An epoch is a shuffle of all rows, taken in pools. A pool is encoded when its turn comes, sorted by length,
cut into batches that hold at most `tokens` positions, and the batches are shuffled. So only one pool is in
memory, however large the corpus, and the next batch depends on the seed, the epoch, the pool and the place in
it: that is all a state has to say.

Positions are counted with their padding, source and target together: a batch of B pairs has
B x (longest source + longest target), end and start pieces included. A pair too long for that alone is a
batch by itself. The source ends with `</s>`; the target stands between `<s>` and `</s>`, so a decoder is
taught on `target.data[:, :-1]` and predicts `target.data[:, 1:]`. Padding is id 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from random import Random
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from regard.data.example import Example
from regard.data.links import Linked, goals, piece_links
from regard.data.splits import digest
from regard.data.tokenizer import END, PAD, START, Pieces, Tokenizer
from regard.errors import BrokenData, MissingData, UsageError
from regard.types import Batch, Grid, Padded

Pair = tuple[list[int], list[int], int, Linked | None]  # source ids, target ids, row, links between pieces


@runtime_checkable
class Split(Protocol):
    """One split of a corpus: how many rows, and the columns of some of them (a `datasets.Dataset` is one)."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: list[int], /) -> Mapping[str, Sequence[str]]: ...


@dataclass(frozen=True)
class Examples:
    """Pairs in memory, as a split."""

    pairs: Sequence[Example]

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
    left_out: int = 0  # pairs longer than `longest`
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

    `longest` leaves out pairs with more pieces than that on either side (frame not counted), and `tally`
    counts them. `sample` cuts words at random (see `Tokenizer.encode_ids`), anew in every epoch. Without
    `shuffle` the pools follow the rows, shorter pairs come first in each, and every epoch is the same. `linked`
    batches carry the sure links of their pairs, read from the split's column `links`; these count the words between
    spaces if `spaced`, else those of `Tokenizer.words`. `tally` counts what this epoch has handed out, `total` what
    all have.
    """

    split: Split
    source: Tokenizer
    target: Tokenizer
    _: KW_ONLY
    tokens: int = 4096
    pool: int = 20_000
    seed: int = 0
    shuffle: bool = True
    longest: int | None = None
    sample: float = 0.0
    linked: bool = False
    spaced: bool | None = None
    tally: Tally = field(init=False, default_factory=Tally)
    epoch: int = field(init=False, default=0)
    _before: Tally = field(init=False, default_factory=Tally)  # of the epochs before this one

    def __post_init__(self) -> None:
        for name in ("tokens", "pool", "longest"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"batches: {name} is a number of 1 or more; found {value}.")
        if not len(self.split):
            raise BrokenData("batches are made of pairs; the split has none.")
        if self.linked and "links" not in self.split[[0]]:
            raise MissingData(
                "expected pairs with word links; this corpus has none.",
                hint='Give it a column of links (0-0 1-2 ...); to train without: guide = "reference" or "none".',
            )
        self._pool, self._place = 0, 0  # the pool whose turn it is, and the next batch in it
        self._opened: tuple[tuple[int, int], list[list[Pair]]] | None = None
        self._order: tuple[int, np.ndarray] | None = None

    def __iter__(self) -> Iterator[Batch]:
        while self._pool * self.pool < len(self.split):
            batches = self._open()
            if self._place < len(batches):
                self._place += 1
                yield self._padded(batches[self._place - 1])
            else:
                self._pool, self._place = self._pool + 1, 0
        if not self.tally.batches:
            raise BrokenData(
                f"all {self.tally.left_out} pairs have more than {self.longest} pieces; none is left.",
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
        names = ("tokens", "pool", "seed", "shuffle", "longest", "sample")
        sizes = {"rows": len(self.split), "source": len(self.source), "target": len(self.target)}
        return {**{name: getattr(self, name) for name in names}, **sizes}

    def _open(self) -> list[list[Pair]]:
        """The batches of the pool whose turn it is."""
        if self._opened is None or self._opened[0] != (self.epoch, self._pool):
            if self._pool == self._place == 0:
                self._before, self.tally = self.total, Tally()
            random = Random(f"{self.seed} {self.epoch if self.shuffle else 0} {self._pool}")
            pairs, left_out = self._encoded(random)
            if self._place == 0:  # else the state that was restored has counted them
                self.tally.left_out += left_out
            batches = list(_cut(_by_length(pairs), self.tokens))
            if self.shuffle:
                random.shuffle(batches)
            self._opened = ((self.epoch, self._pool), batches)
        return self._opened[1]

    def _encoded(self, random: Random) -> tuple[list[Pair], int]:
        """The pairs of the pool, framed, and how many were too long."""
        rows = self._rows()[self._pool * self.pool : (self._pool + 1) * self.pool].tolist()
        columns = self.split[rows]
        links: list[Linked | None] = [None] * len(rows)
        if self.linked:
            ours, theirs = self._pieces(columns, "source", random), self._pieces(columns, "target", random)
            sources, targets = [list(each.ids) for each in ours], [list(each.ids) for each in theirs]
            links = self._linked(columns["links"], ours, theirs, rows)
        else:
            sources = self.source.encode_ids(columns["source"], sample=self.sample, random=random)
            targets = self.target.encode_ids(columns["target"], sample=self.sample, random=random)
        longest = self.longest or max(map(len, sources + targets))
        pairs = [
            ([*source, END], [START, *target, END], row, linked)
            for source, target, row, linked in zip(sources, targets, rows, links, strict=True)
            if len(source) <= longest and len(target) <= longest
        ]
        return pairs, len(rows) - len(pairs)

    def _pieces(self, columns: Mapping[str, Sequence[str]], side: str, random: Random) -> list[Pieces]:
        """The same pieces as without links, with their places."""
        tokenizer: Tokenizer = getattr(self, side)
        if not self.sample:
            return tokenizer.encode_batch(columns[side])
        return [tokenizer.encode(line, sample=self.sample, random=random) for line in columns[side]]

    def _linked(
        self, lines: Sequence[str], sources: list[Pieces], targets: list[Pieces], rows: list[int]
    ) -> list[Linked | None]:
        """The links of each pair, between pieces."""
        found: list[Linked | None] = []
        for line, source, target, row in zip(lines, sources, targets, rows, strict=True):
            # Where a script has no spaces, words are pieces: always those that are not cut at random.
            ours = self.source.words(source.text if self.sample else source, self.spaced)
            theirs = self.target.words(target.text if self.sample else target, self.spaced)
            owners = self.source.piece_to_word(source, ours), self.target.piece_to_word(target, theirs)
            found.append(piece_links(line, *owners, where=f"pair {row + 1}"))
        return found

    def _rows(self) -> np.ndarray:
        """All rows in the order of this epoch."""
        count = len(self.split)
        if not self.shuffle:
            return np.arange(count, dtype=np.int32)
        if self._order is None or self._order[0] != self.epoch:
            dice = np.random.default_rng(digest(f"{self.seed} {self.epoch}"))
            self._order = (self.epoch, dice.permutation(np.arange(count, dtype=np.int32)))
        return self._order[1]

    def _padded(self, pairs: list[Pair]) -> Batch:
        source, target = pad([pair[0] for pair in pairs]), pad([pair[1] for pair in pairs])
        self.tally.batches += 1
        self.tally.pairs += len(pairs)
        self.tally.positions += source.mask.numel() + target.mask.numel()
        self.tally.real += int(source.mask.sum() + target.mask.sum())
        rows = tuple(pair[2] for pair in pairs)
        if not self.linked:
            return Batch(source, target, rows)
        return Batch(
            source, target, rows, goals([pair[3] for pair in pairs], target.mask.shape[1], source.mask.shape[1])
        )


def _by_length(pairs: list[Pair]) -> list[Pair]:
    """Shorter targets first; among equal ones sources rise and fall in turns: neighbours are alike."""

    def key(pair: Pair) -> tuple[int, int]:
        source, target = len(pair[0]), len(pair[1])
        return target, source if target % 2 else -source

    return sorted(pairs, key=key)


def _cut(pairs: list[Pair], tokens: int) -> Iterator[list[Pair]]:
    """Neighbours together, as many as the positions allow."""
    batch: list[Pair] = []
    widest_source = widest_target = 0
    for pair in pairs:
        source, target = max(widest_source, len(pair[0])), max(widest_target, len(pair[1]))
        if batch and (len(batch) + 1) * (source + target) > tokens:
            yield batch
            batch, source, target = [], len(pair[0]), len(pair[1])
        batch.append(pair)
        widest_source, widest_target = source, target
    if batch:
        yield batch


def share_of(batch: Batch, place: int, count: int) -> Batch | None:
    """One of `count` shares of a batch: every count-th pair from `place` on, padded no further than it needs.

    The pairs of a batch stand by length, so all shares are about the same work. None where there is no pair left.
    """
    if count == 1:
        return batch
    if place >= len(batch.target.mask):
        return None
    chosen = slice(place, None, count)
    source, target = _chosen(batch.source, chosen), _trimmed(batch.target, chosen)
    links = batch.links
    if links is not None:
        links = links[chosen, : target.mask.shape[1] - 1, : source.mask.shape[1]]
    return Batch(source, target, batch.rows[chosen], links)


def _chosen(source: Padded | Grid, chosen: slice) -> Padded | Grid:
    """Some rows of a source; pictures keep their frame."""
    return Grid(source.data[chosen], source.mask[chosen]) if isinstance(source, Grid) else _trimmed(source, chosen)


def _trimmed(side: Padded, chosen: slice) -> Padded:
    """Some rows of one side, without the padding that only the others needed."""
    data, mask = side.data[chosen], side.mask[chosen]
    width = int(mask.sum(-1).max())
    return Padded(data[:, :width].contiguous(), mask[:, :width].contiguous())


def pad(lines: Sequence[Sequence[int]]) -> Padded:
    """Lines of ids as one tensor, the shorter ones padded."""
    lengths = torch.tensor([len(line) for line in lines])
    data = torch.full((len(lines), int(lengths.max())), PAD)
    mask = torch.arange(data.shape[1]) < lengths[:, None]
    data[mask] = torch.tensor([piece for line in lines for piece in line])
    return Padded(data, mask)
