"""Learning curves, and what size brings: what was measured over minutes of training, and over numbers of weights.

A learning curve is what each arm's validations measured, over the minutes of its training.

Of several seeds the mean is drawn, and a band from the lowest to the highest. Seeds are not validated at the same
second, so each curve is read between its validations, at the times of the first seed's, as far as all seeds have come.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.compare.measures import Measures
from regard.compare.results import ArmResult, Result
from regard.evaluate import METRICS, Metric
from regard.evaluate.figure import UNDATED, add_legend, line_style
from regard.evaluate.metrics import WRITTEN

APART = 0.1  # of its weights, by which one arm must be larger than another
BAND = 0.18  # how dark the band over seeds is


def draw_curves(results: Sequence[ArmResult], path: Path, metric: Metric) -> Path | None:
    """Draw one line an arm; nothing where no arm was validated while it trained."""
    shown = [(each, curve_of(each, metric.name)) for each in results]
    if all(curve is None for _, curve in shown):
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for number, (result, curve) in enumerate(shown):
        if curve is None:
            continue
        minutes, values = curve
        style = line_style(number)
        if len(values) > 1:
            axes.fill_between(minutes, values.min(0), values.max(0), color=style["color"], alpha=BAND, linewidth=0)
        axes.plot(minutes, values.mean(0), **style, markersize=4, label=result.arm.label)
    several = any(curve is not None and len(curve[1]) > 1 for _, curve in shown)
    axes.set_xlabel("minutes of training" + ("; band: lowest to highest seed" if several else ""))
    axes.set_ylabel(f"{metric.label} of the validation pairs" + (", greedy" if metric.name in WRITTEN else ""))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(figure, axes)
    with rc_context({"svg.hashsalt": "regard"}):
        figure.savefig(path, dpi=150, metadata=UNDATED[path.suffix])
    return path


def differ_in_size(results: Sequence[ArmResult]) -> bool:
    """Have two arms more than a tenth between them? Else there is no curve, only a point."""
    sizes = [each.first.parameters for each in results]
    return len(sizes) > 1 and max(sizes) > (1 + APART) * min(sizes)


def draw_sizes(measures: Measures, path: Path, metric: Metric) -> Path | None:
    """Draw what each arm has of a metric over its number of weights, arms of one recipe joined; None where none has.

    A bar is the 95 % interval that the report states.
    """
    found = [
        (arm, estimate)
        for number, arm in enumerate(measures.arms)
        if (estimate := measures.estimate(metric, number)) is not None
    ]
    if not found:
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for number, recipe in enumerate(dict.fromkeys(arm.arm.recipe for arm, _ in found)):
        own = sorted(((arm, each) for arm, each in found if arm.arm.recipe == recipe), key=lambda one: _size(one[0]))
        sizes, values = [_size(arm) for arm, _ in own], [each.value for _, each in own]
        style = line_style(number)
        axes.plot(sizes, values, **style, label=Path(recipe).name)
        below = [each.value - (each.value if each.low is None else each.low) for _, each in own]
        above = [(each.value if each.high is None else each.high) - each.value for _, each in own]
        bars = np.clip([below, above], 0, None)
        axes.errorbar(sizes, values, yerr=bars, fmt="none", ecolor=style["color"], capsize=3)
        for size, value, (arm, _) in zip(sizes, values, own, strict=True):
            axes.annotate(
                arm.arm.label, (size, value), (5, 5), textcoords="offset points", fontsize=7, parse_math=False
            )
    _dress_sizes(figure, axes, metric, [_size(arm) for arm, _ in found])
    with rc_context({"svg.hashsalt": "regard"}):
        figure.savefig(path, dpi=150, metadata=UNDATED[path.suffix])
    return path


def _size(arm: ArmResult) -> int:
    return arm.first.parameters


def _dress_sizes(figure: Any, axes: Any, metric: Metric, sizes: Sequence[int]) -> None:
    """Axes: weights on a log scale, each size by its number."""
    axes.set_xscale("log")
    axes.margins(x=0.15, y=0.15)
    axes.set_xticks(sorted(set(sizes)), [told_size(each) for each in sorted(set(sizes))], fontsize=8, rotation=30)
    axes.minorticks_off()
    axes.set_xlabel("weights")
    axes.set_ylabel(f"{metric.label}{'' if metric.higher else ', lower is better'} (95 % interval)")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        add_legend(figure, axes)


def told_size(count: int) -> str:
    """A number of weights as people say it."""
    for unit, name in ((1_000_000_000, " G"), (1_000_000, " M"), (1_000, " k")):
        if count >= unit:
            return f"{count / unit:.3g}{name}"
    return str(count)


def curve_metric(results: Sequence[ArmResult], main: Metric) -> Metric:
    """The metric whose curves are drawn: the main one, or what the validations had instead, in the table's order."""
    names = {name for arm in results for each in arm.trials for _, values in each.curve for name in values}
    return next((METRICS[name] for name in (main.name, *METRICS) if name in names and name in METRICS), main)


def curve_of(arm: ArmResult, metric: str) -> tuple[Float[np.ndarray, " T"], Float[np.ndarray, "R T"]] | None:
    """Minutes, and at each of them the value of every seed; nothing where a seed was never validated."""
    curves = [_points(each, metric) for each in arm.trials]
    if not all(len(times) for times, _ in curves):
        return None
    first, last = max(times[0] for times, _ in curves), min(times[-1] for times, _ in curves)
    grid = np.unique(np.clip(curves[0][0], first, max(first, last)))
    return grid, np.stack([np.interp(grid, times, values) for times, values in curves])


def _points(result: Result, metric: str) -> tuple[list[float], list[float]]:
    found = [(seconds / 60, values[metric]) for seconds, values in result.curve if metric in values]
    return [minutes for minutes, _ in found], [value for _, value in found]
