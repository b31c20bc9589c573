"""One report of all that was measured: for people, for machines, and as a figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.evaluate.calibration import Calibration
from regard.evaluate.confusion import Confusion
from regard.evaluate.counts import Score
from regard.evaluate.figure import draw_lengths
from regard.evaluate.lengths import SMALL, Bucket
from regard.evaluate.links import AlignmentScore
from regard.evaluate.metrics import METRICS
from regard.evaluate.schema import FORMAT
from regard.evaluate.speed import Throughput


@dataclass(frozen=True)
class Report:
    """What was measured of one model on one test set, whatever its task. Whatever was not measured is left out."""

    title: str
    scores: tuple[Score, ...] = ()
    words: float | None = None  # written for every word of the references
    lengths: tuple[Bucket, ...] = ()
    alignment: AlignmentScore | None = None
    speed: Throughput | None = None
    confusion: Confusion | None = None
    calibration: Calibration | None = None
    notes: tuple[str, ...] = ()  # what to know when reading the scores

    def as_text(self) -> str:
        """A short table for people; the signatures stand below it, to be quoted with the scores."""
        lines = [self.title, *self._table(), *(f"  note: {note}" for note in self.notes), *self._by_length()]
        if self.confusion is not None:
            lines += ["", "by class", *_indented(self.confusion.as_text())]
        if self.calibration is not None:
            lines += ["", "how sure, and how often right", *_indented(self.calibration.as_text())]
        if self.scores:
            lines += ["", "signatures", *(f"  {score.name}|{score.signature}" for score in self.scores)]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """All numbers, unrounded, as plain values: what scores.json holds (see `schema`)."""
        body: dict[str, Any] = {"format": FORMAT, "title": self.title}
        body["scores"] = [asdict(score) for score in self.scores]
        if self.words is not None:
            body["words"] = self.words
        if self.lengths:
            body["lengths"] = [asdict(bucket) | {"small": bucket.small} for bucket in self.lengths]
        if self.alignment is not None:
            body["alignment"] = {name: value for name, value in asdict(self.alignment).items() if value is not None}
        if self.confusion is not None:
            body["confusion"] = self.confusion.as_dict()
        if self.calibration is not None:
            body["calibration"] = self.calibration.as_dict()
        if self.notes:
            body["notes"] = list(self.notes)
        if self.speed is not None:
            rates = ("sentences_per_second", "pieces_per_second")
            body["speed"] = asdict(self.speed) | {rate: getattr(self.speed, rate) for rate in rates}
        return body

    def by_metric(self) -> dict[str, Score]:
        """The scores by the names of their metrics."""
        names = {each.label: each.name for each in METRICS.values()}
        return {names.get(score.name, score.name): score for score in self.scores}

    def as_json(self) -> str:
        """The report for machines: one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2)

    def figure(self, path: str | Path) -> Path:
        """Draw the scores by source length, with their intervals, into a .png, .svg or .pdf file."""
        return draw_lengths({self.title: self.lengths}, path, title=self.title)

    def _table(self) -> list[str]:
        rows = [(score.name, f"{_value(score, score.value):>5}  {_interval(score)}") for score in self.scores]
        if self.words is not None:
            rows.append(("length", f"{self.words:5.3f}  words for every word of the references"))
        if self.alignment is not None:
            rows.append(("alignment", str(self.alignment)))
        if self.speed is not None:
            rows.append(("speed", str(self.speed)))
        width = max((len(name) for name, _ in rows), default=0)
        return [f"  {name:<{width}}  {value}" for name, value in rows]

    def _by_length(self) -> list[str]:
        if not self.lengths:
            return []
        name = self.lengths[0].score.name
        rows = [("words", "sentences", name, "95 % interval")]
        for each in self.lengths:
            mark = " *" if each.small else ""
            rows.append((each.label, f"{each.count:,}", f"{each.score.value:.1f}", _interval(each.score) + mark))
        lines = ["", f"{name} by source length", *_columns(rows)]
        if any(bucket.small for bucket in self.lengths):
            lines.append(f"  * fewer than {SMALL} sentences: the score says little")
        return lines


def _indented(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in text.split("\n")]


def _interval(score: Score) -> str:
    return f"[{_value(score, score.low)}, {_value(score, score.high)}]"


def _value(score: Score, value: float) -> str:
    """A value with as many places as its metric has: a tenth of a bit is much, of a percent nothing."""
    pictures = ("count_likely", "count_samples", "count_images")
    forms = {each.label: each.form for each in METRICS.values() if any(getattr(each, name) for name in pictures)}
    return forms.get(score.name, "{:.1f}").format(value)


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows under one another: numbers to the right, the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)), row[-1]])
        for row in rows
    ]
