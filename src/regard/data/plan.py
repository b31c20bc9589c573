"""A plan: which readers make up a corpus, in which direction, and which splits are cut off from training.

The plan streams every pair of the corpus once, whatever it comes from, and knows afterwards what was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from regard.data.files import digest_file
from regard.data.report import Finding
from regard.data.rows import BadLines, Reader, Row, wrong_links
from regard.data.splits import digest

_VERSION = "1"  # changes whenever the same files would give other rows
_HELD_OUT = 2_000  # pairs of a split that is cut off, where there is plenty
_MOST = 0.1  # and the largest share of the training pairs it may take


@dataclass
class Plan:
    """How to read a corpus. `rows` streams it; `findings` tells what was wrong, once it was streamed."""

    name: str
    source: str
    target: str
    readers: tuple[Reader, ...]
    cut: tuple[str, ...] = ()  # splits that are not there and are cut off from train: val, perhaps test
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
        share = held_out_share(self._count("train")) if self.cut else 0.0
        for reader in self.readers:
            checked = reader.has_links and reader.paths  # what we make ourselves is right
            rows = self._check_links(reader) if checked else reader.rows()
            if not self.cut:
                yield from rows
                continue
            for row in rows:
                yield row._replace(split=self._place(row.source, share)) if row.split == "train" else row

    def _count(self, split: str) -> int:
        return sum(reader.count() for reader in self.readers if reader.split == split)

    def _place(self, source: str, share: float) -> str:
        """The split of a training pair is decided by its source line: the same line is never in two."""
        place = int(digest(source) / 2**64 / share)
        return self.cut[place] if place < len(self.cut) else "train"

    def _check_links(self, reader: Reader) -> Iterator[Row]:
        bad = BadLines(reader.paths[-1], "wrong-links", "gold links such as 0-1 (sure) or 0?1 (possible)")
        self._links.append(bad)
        for row in reader.rows():
            if wrong := wrong_links(row):
                bad.add(row.line, wrong)
            yield row

    def findings(self) -> list[Finding]:
        """All faults that keep the corpus from being read as it should be, and doubts about its files."""
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
        parts = [_VERSION, self.source, self.target, *self.cut]
        for reader in self.readers:
            parts += [reader.settings, *(digest_file(path) for path in reader.paths)]
        return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def held_out_share(pairs: int) -> float:
    """Which share of the training pairs a split that is cut off takes: about 2,000 pairs, at most a tenth."""
    return min(_MOST, _HELD_OUT / max(pairs, 1))
