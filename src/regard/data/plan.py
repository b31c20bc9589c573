"""A plan: which readers make up a corpus, in which direction, and which splits are cut off from training.

The plan streams every pair of the corpus once, whatever it comes from, and knows afterwards what was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from regard.data.files import digest_file
from regard.data.held_out import Cut, shares_of
from regard.data.places import wrong_places
from regard.data.report import Finding
from regard.data.rows import BadLines, Reader, Row, wrong_links
from regard.data.splits import digest

_VERSION = "1"  # changes whenever the same files would give other rows


@dataclass
class Plan:
    """How to read a corpus. `rows` streams it; `findings` tells what was wrong, once it was streamed."""

    name: str
    source: str
    target: str
    readers: tuple[Reader, ...]
    cut: Cut = field(default_factory=dict)  # splits that are not there and are cut off from train: val, perhaps test
    notes: tuple[str, ...] = ()
    missing: tuple[Finding, ...] = ()  # faults seen before a line was read
    _links: list[BadLines] = field(default_factory=list, init=False)

    @property
    def has_links(self) -> bool:
        """Whether gold links come with some of the pairs."""
        return any(reader.has_links for reader in self.readers)

    def rows(self) -> Iterator[Row]:
        """Every pair of the corpus, in its split."""
        self._links = []
        shares = shares_of(self.cut, self._count("train")) if self.cut else {}
        for reader in self.readers:
            checked = reader.has_links and reader.paths  # what we make ourselves is right
            rows = self._check_links(reader) if checked else reader.rows()
            if not self.cut:
                yield from rows
                continue
            for row in rows:
                yield row._replace(split=_place(reader.identity(row), shares)) if row.split == "train" else row

    def _count(self, split: str) -> int:
        return sum(reader.count_of(split) for reader in self.readers)

    def _check_links(self, reader: Reader) -> Iterator[Row]:
        placed = self.source == "image"
        expected = "the places of words, as boxes" if placed else "gold links such as 0-1 (sure) or 0?1 (possible)"
        bad, fault = BadLines(reader.paths[-1], "wrong-links", expected), wrong_places if placed else wrong_links
        self._links.append(bad)
        for row in reader.rows():
            if wrong := fault(row):
                bad.add(row.line, wrong)
            yield row

    def findings(self) -> list[Finding]:
        """All faults that keep the corpus from being read as it should be, and warnings about its files."""
        found = [*self.missing]
        for reader in self.readers:
            found += reader.findings()
        for bad in self._links:
            found += bad.findings("Words are what stands between spaces, counted from 0, source first.")
        return found

    @property
    def paths(self) -> list[Path]:
        """Every file that is read."""
        return [path for reader in self.readers for path in reader.paths]

    def key(self) -> str:
        """A name for the content: the bytes of the files and how they are read."""
        parts = [
            _VERSION,
            self.source,
            self.target,
            *(split if amount is None else f"{split} {amount!r}" for split, amount in self.cut.items()),
        ]
        for reader in self.readers:
            parts += [reader.settings, *(digest_file(path) for path in reader.paths)]
        return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _place(identity: str, shares: Mapping[str, float]) -> str:
    """The split of a training pair is decided by its source: the same line is never in two."""
    place, end = digest(identity) / 2**64, 0.0
    for split, share in shares.items():
        end += share
        if place < end:
            return split
    return "train"
