"""The tables of a comparison, as rows of text. Headings follow the metrics that were measured."""

from __future__ import annotations

from statistics import stdev

from regard.compare.measures import Measures, metric_called, value_of
from regard.compare.results import ArmResult, Result
from regard.compare.significance import Difference, Estimate
from regard.evaluate import Metric

Table = list[list[str]]  # the first row is the head


def main_table(measures: Measures) -> Table:
    """Scores, size, speed and time of each arm, and how far it lies from the first."""
    main, *others = measures.metrics
    several = has_seeds(measures)
    head = ["arm", main.label, "against the first", *(["all seeds agree"] if several else [])]
    head += [*(each.label for each in others), "parameters", "updates", "minutes"]
    rows = [[*head, "train tokens/s", "decode sentences/s"]]
    for number, arm in enumerate(measures.arms):
        apart = measures.difference(main, number)
        rows.append(
            [
                arm.arm.label,
                told_estimate(main, measures.estimate(main, number), interval=True),
                told_difference(main, apart),
                *([told_agreement(apart)] if several else []),
                *(told_estimate(each, measures.estimate(each, number)) for each in others),
                f"{arm.first.parameters:,}",
                _told(arm.mean(lambda each: each.updates), ",.0f"),
                _told(arm.mean(_minutes), ".1f"),
                _told(arm.mean(lambda each: each.pieces_per_second), ",.0f"),
                _told(arm.mean(lambda each: each.sentences_per_second), ".1f"),
            ]
        )
    return rows


def metric_table(measures: Measures) -> Table:
    """Every metric of every arm with its interval, and what the arm has more of it than the first."""
    several = has_seeds(measures)
    seeded = ["standard deviation"] if several else []
    head = ["arm", "metric", "mean" if several else "value", *seeded, "95 % interval", "against the first"]
    rows = [[*head, *(["all seeds agree"] if several else [])]]
    for metric in measures.metrics:
        for number, arm in enumerate(measures.arms):
            found, apart = measures.estimate(metric, number), measures.difference(metric, number)
            row = [arm.arm.label, _labelled(metric), metric.told(found.value if found else None)]
            row += [metric.told(found.deviation if found else None)] if several else []
            row += [_interval(metric, found) or "-", told_difference(metric, apart)]
            rows.append([*row, told_agreement(apart)] if several else row)
    return rows


def seed_table(measures: Measures) -> Table:
    """Every trial by itself: a row a seed of an arm."""
    rows = [["arm", "seed", *(each.label for each in measures.metrics), "updates", "minutes"]]
    for arm in measures.arms:
        for each in arm.trials:
            values = [metric.told(value_of(metric, each)) for metric in measures.metrics]
            name = each.trial.name.removeprefix("seed ")
            rows.append([arm.arm.label, name, *values, _told(each.updates, ",.0f"), _told(_minutes(each), ".1f")])
    return rows


def length_table(measures: Measures) -> Table:
    """The score by source length: a row a bucket, a column an arm, and the first arm's lead where there are two."""
    arms = measures.arms
    two = len(arms) == 2
    rows = [["words", "sentences", *(arm.arm.label for arm in arms), *(["lead of the first"] if two else [])]]
    found = [measures.buckets(number) for number in range(len(arms))]
    for place, bucket in enumerate(found[0]):
        metric = metric_called(bucket.score.name)
        values = [each[place].score.value for each in found]
        cells = [metric.told(value) + _spread(metric, arm, place) for value, arm in zip(values, arms, strict=True)]
        rows.append(
            [bucket.label, f"{bucket.count:,}", *cells, *([signed(metric, values[0] - values[1])] if two else [])]
        )
    return rows


def markdown(table: Table) -> str:
    """A table as Markdown."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in table[0]) + " |", *lines[1:]])


def has_seeds(measures: Measures) -> bool:
    """Whether any arm was trained more than once."""
    return any(len(arm.trials) > 1 for arm in measures.arms)


def told_estimate(metric: Metric, found: Estimate | None, *, interval: bool = False) -> str:
    """A mean, its deviation where there are several seeds, and its interval where that is asked."""
    if found is None:
        return "-"
    spread = "" if found.deviation is None else f" ± {metric.told(found.deviation)}"
    shown = _interval(metric, found) if interval else ""
    return f"{metric.told(found.value)}{spread}" + (f" {shown}" if shown else "")


def told_difference(metric: Metric, found: Difference | None) -> str:
    """A difference with its interval and its p; without them where all of it is rounded to nothing."""
    if found is None:
        return "-"
    value = signed(metric, found.value)
    if found.low is None or found.high is None or found.p is None:
        return value
    shown = value, signed(metric, found.low), signed(metric, found.high)
    if set(shown) == {signed(metric, 0.0)}:
        return f"{value} (rounded to none)"
    return f"{value} [{shown[1]}, {shown[2]}], p = {found.p:.3f}"


def told_agreement(found: Difference | None) -> str:
    """Whether all seeds have the difference's sign."""
    agree = None if found is None else found.agree
    return "-" if agree is None else "yes" if agree else "no"


def signed(metric: Metric, value: float) -> str:
    """A value with its sign; what is rounded to nothing is not less than nothing."""
    form = metric.form.replace("{:", "{:+")
    told, nothing = form.format(value), form.format(-0.0)
    return form.format(0.0) if told == nothing else told


def _interval(metric: Metric, found: Estimate | None) -> str:
    if found is None or found.low is None:
        return ""
    return f"[{metric.told(found.low)}, {metric.told(found.high)}]"


def _labelled(metric: Metric) -> str:
    return metric.label if metric.higher else f"{metric.label} (lower is better)"


def _spread(metric: Metric, arm: ArmResult, place: int) -> str:
    """What stands after the mean of a bucket: the deviation over seeds."""
    values = [each.lengths[place].score.value for each in arm.trials]
    return f" ± {metric.told(stdev(values))}" if len(values) > 1 else ""


def _minutes(result: Result) -> float | None:
    return None if result.seconds is None else result.seconds / 60


def _told(value: int | float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
