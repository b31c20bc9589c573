"""Learning curves: what each arm's validations measured, over the minutes of its training.

Of several seeds the mean is drawn, and a band from the lowest to the highest. Seeds are not validated at the same
second, so each curve is read between its validations, at the times of the first seed's, as far as all seeds have come.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from regard.compare.results import ArmResult, Result
from regard.evaluate import METRICS, Metric
from regard.evaluate.figure import UNDATED, add_legend, line_style
from regard.evaluate.metrics import WRITTEN

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
