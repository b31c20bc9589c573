"""Word alignments against gold links: precision, recall and the alignment error rate of Och & Ney (2003).

With A the links found, S the sure ones and P the possible ones (a sure link is possible too, S ⊆ P):

    precision = |A ∩ P| / |A|        recall = |A ∩ S| / |S|        AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

A corpus sums the counts of its sentences. Where nothing was found no link is wrong: precision 1; where nothing
is sure no link is missed: recall 1; where both are empty the error is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from regard.data.files import Lines
from regard.data.pair import Link, read_gold
from regard.data.report import fault
from regard.data.rows import LINK
from regard.errors import BrokenData, MissingData, UsageError
from regard.evaluate.bootstrap import DRAWS, SEED, interval, resample
from regard.evaluate.counts import Score, equal_counts
from regard.version import __version__

FIGURES = {"AER": "aer", "precision": "precision", "recall": "recall", "F1": "f1"}


@dataclass(frozen=True)
class AlignmentScore:
    """How well links agree with gold ones, as shares from 0 to 1, and how many links were found.

    `low` and `high` bound the error's 95 % bootstrap interval, where it was drawn.
    """

    aer: float
    precision: float
    recall: float
    f1: float
    links: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        drawn = "" if self.low is None or self.high is None else f" [{self.low:.1%}, {self.high:.1%}]"
        return (
            f"AER {self.aer:.1%}{drawn}, precision {self.precision:.1%}, recall {self.recall:.1%}, "
            f"F1 {self.f1:.1%} ({self.links:,} {'link' if self.links == 1 else 'links'})"
        )


@dataclass(frozen=True)
class Gold:
    """The sure and the possible links of each sentence.

    They count the words between spaces, as people write gold links; with `spaced` None those of `Tokenizer.words`.
    """

    sure: list[tuple[Link, ...]]
    possible: list[tuple[Link, ...]]
    spaced: bool | None = True


Links = Sequence[Iterable[Link]]


def aer(found: Links, sure: Links, possible: Links | None = None, *, seed: int | None = SEED) -> AlignmentScore:
    """The agreement of a corpus' links with its gold links, which may all be sure. Links are (source, target).

    The error's interval comes of drawing sentences anew; without a `seed` nothing is drawn.
    """
    rows = np.array(_count(found, sure, possible), np.int64)
    whole = _score(*rows.sum(0).tolist())
    if seed is None:
        return whole
    low, high = interval(np.array([_score(*totals).aer for totals in resample(rows, seed).tolist()]))
    return replace(whole, low=low, high=high)


def aer_by_sentence(found: Links, sure: Links, possible: Links | None = None) -> list[AlignmentScore]:
    """The same, sentence by sentence: where to look first."""
    return [_score(*counts) for counts in _count(found, sure, possible)]


def link_scores(found: Links, sure: Links, possible: Links | None = None, *, seed: int = SEED) -> tuple[Score, ...]:
    """AER, precision, recall and F1 in percent, each with the interval that drawing sentences anew gives it."""
    rows = np.array(_count(found, sure, possible), np.int64)
    whole, drawn = _score(*rows.sum(0).tolist()), [_score(*totals) for totals in resample(rows, seed).tolist()]
    signature = f"bs:{DRAWS}|seed:{seed}|version:regard-{__version__}"
    scores = []
    for name, figure in FIGURES.items():
        low, high = interval(np.array([100 * getattr(each, figure) for each in drawn]))
        scores.append(Score(name, 100 * getattr(whole, figure), signature, low, high))
    return tuple(scores)


def read_links(lines: Iterable[str], where: str = "links", *, first: int = 0) -> Gold:
    """Gold links from text, one line a sentence: `0-1` is sure, `0?1` or `0p1` possible.

    `first` is the number of a sentence's first word, 0 or 1. Of a line with columns the last has the links.
    """
    pairs = []
    for number, line in enumerate(lines, start=1):
        text = line.rpartition("\t")[2]
        wrong = [item for item in text.split() if not LINK.fullmatch(item)]
        if wrong:
            raise BrokenData(
                f"{where}:{number}: expected links such as 0-1 (sure) or 0?1 (possible); found '{wrong[0]}'.",
                hint="Write the source word, the mark and the target word, counted from 0, with spaces between links.",
            )
        pairs.append(tuple(_lowered(links, first, f"{where}:{number}") for links in read_gold(text)))
    return Gold([sure for sure, _ in pairs], [possible for _, possible in pairs])


def _lowered(links: tuple[Link, ...], first: int, where: str) -> tuple[Link, ...]:
    """Links whose words are counted from 0."""
    if any(min(link) < first for link in links):
        raise BrokenData(f"{where}: expected words counted from {first}; found {min(map(min, links))}.")
    return tuple((source - first, target - first) for source, target in links)


def check_gold(gold: Gold, sources: Sequence[str], targets: Sequence[str], where: str) -> None:
    """Refuse gold links that are not of these pairs: another number of lines, or words that are not there."""
    if len(gold.sure) != len(sources):
        raise BrokenData(
            f"{where}: expected a line of links for each of {len(sources):,} pairs; found {len(gold.sure):,} lines.",
            hint="Line n has the links of pair n: look for lines lost or cut in two, or for links of another split.",
        )
    for number, (sure, possible, pair) in enumerate(
        zip(gold.sure, gold.possible, zip(sources, targets, strict=True), strict=True), start=1
    ):
        counts = [len(line.split()) for line in pair]
        for link in (*sure, *possible):
            if link[0] >= counts[0] or link[1] >= counts[1]:
                raise BrokenData(
                    f"{where}:{number}: the link {link[0]}-{link[1]} points outside a pair of {counts[0]} and "
                    f"{counts[1]} words.",
                    hint="Words are what stands between spaces, counted from 0, the source's first.",
                )


def read_gold_file(path: str | Path, *, first: int = 0) -> Gold:
    """The gold links of a file, plain or `.gz`, one line a sentence; as `read_links` reads them."""
    place = Path(path)
    if not place.is_file():
        raise MissingData(f"{place}: expected a file of gold links; found none.")
    lines = Lines(place)
    gold = read_links(lines, str(place), first=first)
    errors = [finding for finding in lines.findings() if finding.level == "error"]
    if errors:
        raise fault(str(place), errors)
    return gold


def _count(found: Links, sure: Links, possible: Links | None) -> list[tuple[int, int, int, int]]:
    """Of each sentence: links found, those possible, those sure, and all sure links there are."""
    if not found:
        raise UsageError("found: expected the links of at least one sentence; found none.")
    if possible is None:
        equal_counts(found=len(found), sure=len(sure))
        possible = [()] * len(found)
    equal_counts(found=len(found), sure=len(sure), possible=len(possible))
    triples = zip(map(set, found), map(set, sure), map(set, possible), strict=True)
    return [(len(a), len(a & (s | p)), len(a & s), len(s)) for a, s, p in triples]


def _score(links: int, right: int, hit: int, wanted: int) -> AlignmentScore:
    precision = right / links if links else 1.0
    recall = hit / wanted if wanted else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    error = 1 - (hit + right) / (links + wanted) if links + wanted else 0.0
    return AlignmentScore(error, precision, recall, f1, links)
