"""The one table of metrics: what each is called, which way is better, what it needs, and how it is printed.

Validation, `evaluate`, `compare`, the quickstart and the model card all read it. A metric of outputs and references is
a `count` (see `counts`), so that its interval and its value by length come with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.errors import UnknownName
from regard.evaluate.counts import Count, count_bleu, count_chrf, count_exact

Needs = Literal["answers", "nll", "links"]


@dataclass(frozen=True)
class Metric:
    """One metric.

    name: in settings, logs and scores.json.  label: as people write it.  higher: whether more is better.
    needs: answers and their references, the log-likelihood of the right answers, or gold links.
    form: how a value is printed.  count: what it counts of answers and references, where it is made of them.
    """

    name: str
    label: str
    higher: bool
    needs: Needs
    form: str = "{:.1f}"
    count: Count | None = None

    def told(self, value: float | None) -> str:
        """A value as people read it; a dash where there is none."""
        return "-" if value is None else self.form.format(value)

    def better(self, value: float) -> float:
        """The value turned so that more is better."""
        return value if self.higher else -value


METRICS: dict[str, Metric] = {
    each.name: each
    for each in (
        Metric("bleu", "BLEU", True, "answers", count=count_bleu),
        Metric("chrf", "chrF2", True, "answers", count=count_chrf),
        Metric("exact_match", "exact match", True, "answers", "{:.1f} %", count_exact),
        Metric("nll", "nll", False, "nll", "{:.3f}"),
        Metric("perplexity", "perplexity", False, "nll", "{:.2f}"),
        Metric("aer", "AER", False, "links", "{:.1%}"),
        Metric("loss", "loss", False, "nll", "{:.3f}"),
    )
}
WRITTEN = ("bleu", "chrf", "exact_match")  # what text that was written is measured by
RENAMED = {"exact": "exact_match", "surprise": "nll"}  # as recipes and logs of older runs call them


def metric(name: str) -> Metric:
    """A metric by its name."""
    known = METRICS.get(RENAMED.get(name, name))
    if known is None:
        raise UnknownName("metric", name, METRICS)
    return known


def is_higher_better(name: str) -> bool:
    """Whether more is better; of a value that is not in the table it is."""
    return name not in METRICS or METRICS[name].higher


def counting(name: str | Count) -> Count:
    """How a metric of answers counts: by its name, or as it is."""
    if not isinstance(name, str):
        return name
    found = metric(name).count
    if found is None:
        raise UnknownName("metric of outputs and references", name, [each for each in METRICS if METRICS[each].count])
    return found
