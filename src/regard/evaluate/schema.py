"""The one form of scores.json: what a report writes, what a training writes of its validations, and older forms.

{"format": "regard-scores-1", "title": text,
 "scores": [{"name": as people write it, "value", and, where they are known, "signature", "low", "high"}, ...],
 "training": {"updates", "seconds", "metric": which the best was chosen by},    # of a validation
 "words", "lengths", "alignment", "confusion", "calibration", "notes", "speed"}  # of a report, as far as measured

All but `format`, `title` and `scores` may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from regard.errors import BrokenData
from regard.evaluate.metrics import METRICS, RENAMED

FORMAT = "regard-scores-1"


def validation_scores(
    values: Mapping[str, float | int],
    number: int,
    *,
    seconds: float | int | None = None,
    metric: str | None = None,
    title: str = "validation",
) -> dict[str, Any]:
    """What a validation measured after `number` updates, by the names of the metrics, as scores.json has it."""
    training: dict[str, Any] = {"updates": number}
    if seconds is not None:
        training["seconds"] = seconds
    if metric is not None:
        training["metric"] = RENAMED.get(metric, metric)
    scores = [{"name": _label(name), "value": value} for name, value in values.items()]
    return {"format": FORMAT, "title": title, "scores": scores, "training": training}


def values_of(scores: Mapping[str, Any]) -> dict[str, float]:
    """The values of what `read_scores` gave, by the names of the metrics."""
    names = {each.label: each.name for each in METRICS.values()}
    return {names.get(each["name"], each["name"]): each["value"] for each in scores["scores"]}


def read_scores(text: str, where: str = "scores.json") -> dict[str, Any]:
    """The scores of a model folder in the form of today, whichever form they were written in."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise BrokenData(f"{where}:{error.lineno}: expected JSON; {error.msg}.") from error
    if not isinstance(found, dict):
        raise BrokenData(f"{where}: expected a JSON object of scores; found a {type(found).__name__}.")
    if found.get("format", FORMAT) != FORMAT:
        raise BrokenData(
            f"{where}: expected the format '{FORMAT}'; found '{found['format']}'.",
            hint="A newer Regard wrote it: update, or evaluate the model again.",
        )
    known = _report(found) or _chosen(found) or _validation(found)
    if known is None:
        raise BrokenData(
            f"{where}: expected the keys 'title' and 'scores'; found {', '.join(map(repr, found)) or 'none'}.",
            hint="Evaluate the model again: regard evaluate MODEL --data D --json.",
        )
    return known


def _report(found: dict[str, Any]) -> dict[str, Any] | None:
    """A report, also of before it named its format."""
    return {"format": FORMAT, **found} if {"title", "scores"} <= set(found) else None


def _chosen(found: dict[str, Any]) -> dict[str, Any] | None:
    """What finished trainings once wrote: the best value of one metric."""
    if not {"metric", "best", "updates"} <= set(found):
        return None
    values = {} if found["best"] is None else {found["metric"]: found["best"]}
    return validation_scores(values, found["updates"], seconds=found.get("seconds"), metric=found["metric"])


def _validation(found: dict[str, Any]) -> dict[str, Any] | None:
    """What validations once wrote: the number of updates and the values, by name."""
    if "number" not in found:
        return None
    return validation_scores({name: value for name, value in found.items() if name != "number"}, found["number"])


def _label(name: str) -> str:
    """A metric's name as people write it; of a value that is not in the table, its name."""
    known = RENAMED.get(name, name)
    return METRICS[known].label if known in METRICS else known
