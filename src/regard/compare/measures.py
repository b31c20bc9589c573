"""The metrics of a comparison, whatever its task: which there are, what each arm has of them, and how arms differ.

They are read off what `regard evaluate` wrote of the arms: first its scores in their order, so that the first of them
is the main one; then the alignment error; then the perplexity of the last validation. A metric that is made of counts
is counted again sentence by sentence, by the function that the table of metrics has for it, so that sentences can be
drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from regard.compare.results import ArmResult, Result
from regard.compare.significance import Difference, Estimate, Sample, difference, estimate
from regard.evaluate import METRICS, Bucket, Counted, Gold, Metric
from regard.evaluate.confusion import Confusion, confusion
from regard.evaluate.lengths import count_words
from regard.evaluate.likelihood import Likelihood
from regard.evaluate.metrics import CountLikely, counting

MEASURED = ("aer", "perplexity")  # what is no score of outputs: an attribute of a result by the metric's name
Made = TypeVar("Made")
BY_TEXT = ("perplexity", "bits_per_byte")  # what is divided among words or bytes, which every row tells by itself
SAME = 1e-9  # how near an alignment error that was counted again must come


@dataclass(frozen=True)
class Pairs:
    """What the arms were scored on: sources, references, and gold links where there are any."""

    sources: Sequence[str]
    references: Sequence[str]
    gold: Gold | None = None


class Measures:
    """All metrics of all arms. Each is counted once, however many tables ask for it."""

    def __init__(self, arms: Sequence[ArmResult], pairs: Pairs) -> None:
        self.arms, self.pairs = arms, pairs
        self.metrics = list(metrics_of(arms))
        self._kept: dict[tuple[str, str, int], Any] = {}

    @property
    def main(self) -> Metric:
        """The metric that the arms are mainly told by."""
        return self.metrics[0]

    def estimate(self, metric: Metric, number: int) -> Estimate | None:
        """Mean, deviation and interval of an arm, by its number; nothing where it was not measured."""
        sample = self.sample(metric, number)
        return None if sample is None else self._once("estimate", metric.name, number, lambda: estimate(sample))

    def difference(self, metric: Metric, number: int) -> Difference | None:
        """What an arm has more than the first; nothing of the first itself, or where either was not measured."""
        ours, theirs = self.sample(metric, number), self.sample(metric, 0)
        if number == 0 or ours is None or theirs is None:
            return None
        return self._once("difference", metric.name, number, lambda: difference(ours, theirs))

    def sample(self, metric: Metric, number: int) -> Sample | None:
        """An arm's value for each seed, and for each draw of sentences if it is made of counts."""
        return self._once("sample", metric.name, number, lambda: self._sampled(metric, self.arms[number], number))

    def counted(self, metric: Metric, number: int) -> list[Counted] | None:
        """What the metric counts in each test sentence, for each seed of an arm; nothing where it does not count."""
        return self._once("counts", metric.name, number, lambda: self._counts(metric, self.arms[number].trials))

    def buckets(self, number: int) -> tuple[Bucket, ...]:
        """The arm's scores by source length: means over its seeds, with the interval of seeds and sentences."""
        first = self.arms[number].first.lengths
        if len(self.arms[number].trials) == 1:
            return first

        def made() -> tuple[Bucket, ...]:
            return tuple(self._bucket(number, place, bucket) for place, bucket in enumerate(first))

        return self._once("buckets", "", number, made)

    def confusions(self) -> dict[str, Confusion]:
        """Which classes each arm, by its label, takes for which, all its seeds together; none of what is no class."""
        if "accuracy" not in {metric.name for metric in self.metrics}:
            return {}
        right = [str(each).strip() for each in self.pairs.references]
        answers = {arm.arm.label: [each.strip() for trial in arm.trials for each in trial.outputs] for arm in self.arms}
        classes = sorted({*right, *(each for given in answers.values() for each in given)})
        seeds = {arm.arm.label: len(arm.trials) for arm in self.arms}
        return {label: confusion(given, right * seeds[label], classes) for label, given in answers.items()}

    def _once(self, what: str, metric: str, number: int, make: Callable[[], Made]) -> Made:
        """What was made before, or is made now: drawing takes seconds, and several tables ask for the same."""
        key = what, metric, number
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found

    def _bucket(self, number: int, place: int, bucket: Bucket) -> Bucket:
        arm = self.arms[number]
        metric = metric_called(bucket.score.name)
        values = tuple(each.lengths[place].score.value for each in arm.trials)
        index = np.flatnonzero((self._lengths >= bucket.low) & (self._lengths <= bucket.high))
        counted = self.counted(metric, number)
        drawn = None if counted is None else _drawn([each.take(index) for each in counted])
        found = estimate(Sample(_names(arm), values, drawn))
        low, high = (found.value if each is None else each for each in (found.low, found.high))
        return replace(bucket, score=replace(bucket.score, value=found.value, low=low, high=high))

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.array([count_words(source) for source in self.pairs.sources])

    def _sampled(self, metric: Metric, arm: ArmResult, number: int) -> Sample | None:
        values = [value_of(metric, each) for each in arm.trials]
        present = tuple(value for value in values if value is not None)
        if len(present) < len(values):
            return None
        counted = self.counted(metric, number)
        return Sample(_names(arm), present, None if counted is None else _drawn(counted))

    def _counts(self, metric: Metric, trials: Sequence[Result]) -> list[Counted] | None:
        if metric.name == "aer":
            found = [count_links(each, self.pairs.gold) for each in trials]
            known = [each for each in found if each is not None]
            return known if len(known) == len(found) else None
        if metric.count_likely is not None and metric.name in BY_TEXT:
            return _likely(metric.count_likely, trials, self.pairs.references)
        if metric.count is None and (metric.count_sure is None or any(each.probabilities is None for each in trials)):
            return None
        return [
            counting(metric.name, each.probabilities)(
                each.outputs, each.asked[1] if each.asked else self.pairs.references
            )
            for each in trials
        ]


def metrics_of(arms: Sequence[ArmResult]) -> Iterator[Metric]:
    """The metrics that were measured of any arm, the main one first."""
    results = [each for arm in arms for each in arm.trials]
    yield from map(metric_called, dict.fromkeys(name for each in results for name in each.scores))
    scored = {name for each in results for name in each.scores}
    for name in MEASURED:
        if METRICS[name].label not in scored and any(getattr(each, name) is not None for each in results):
            yield METRICS[name]


def metric_called(label: str) -> Metric:
    """The metric of a label or a name; one that the table does not know is told as it is and cannot be counted."""
    known = {metric.label: metric for metric in METRICS.values()} | METRICS
    return known.get(label) or Metric(label, label, True, "answers")


def value_of(metric: Metric, result: Result) -> float | None:
    """What was measured of one trial."""
    score = result.scores.get(metric.label) or result.scores.get(metric.name)
    return score.value if score else getattr(result, metric.name, None) if metric.name in MEASURED else None


def count_links(result: Result, gold: Gold | None) -> Counted | None:
    """The counts of the alignment error: links found, those possible, those sure, and all sure links there are.

    Nothing where the links that were kept count words in another way than those of which the error was measured.
    """
    if result.links is None or gold is None or len(result.links) != len(gold.sure):
        return None
    triples = zip(map(set, result.links), map(set, gold.sure), map(set, gold.possible), strict=True)
    rows = [(len(a), len(a & (s | p)), len(a & s), len(s)) for a, s, p in triples]
    counted = Counted("AER", np.array(rows, np.int64), _error, lambda seed: f"seed:{seed}")
    return counted if abs(counted.value() - (result.aer or 0.0)) < SAME else None


def _error(sums: list[int]) -> float:
    links, right, hit, wanted = sums
    return 1 - (hit + right) / (links + wanted) if links + wanted else 0.0


def _likely(count: CountLikely, trials: Sequence[Result], texts: Sequence[str]) -> list[Counted] | None:
    """Of language models, whose outputs are the log-likelihoods of the rows; nothing where they are not."""
    if any(len(each.outputs) != len(texts) for each in trials):
        return None
    return [
        count([Likelihood.of(text, -float(each), 1) for text, each in zip(texts, trial.outputs, strict=True)])
        for trial in trials
    ]


def _names(arm: ArmResult) -> tuple[str, ...]:
    return tuple(each.trial.name for each in arm.trials)


def _drawn(counted: Sequence[Counted]) -> np.ndarray | None:
    """The score of each seed in each draw of sentences; a single sentence is no choice."""
    return np.stack([each.drawn() for each in counted], 1) if len(counted[0].rows) > 1 else None
