"""Learning curves: what each arm's validations measured, over the minutes of its training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.compare.results import Result
from regard.evaluate.figure import UNDATED, add_legend, line_style


def draw_curves(results: Sequence[Result], path: Path, metric: str = "bleu") -> Path | None:
    """Draw one line an arm; nothing where no arm was validated while it trained."""
    shown = [each for each in results if any(metric in values for _, values in each.curve)]
    if not shown:
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for number, result in enumerate(shown):
        minutes = [seconds / 60 for seconds, values in result.curve if metric in values]
        found = [values[metric] for _, values in result.curve if metric in values]
        axes.plot(minutes, found, **line_style(number), markersize=4, label=result.arm.label)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel(f"{'BLEU' if metric == 'bleu' else metric} of the validation pairs, greedy")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(figure, axes)
    with rc_context({"svg.hashsalt": "regard"}):
        figure.savefig(path, dpi=150, metadata=UNDATED[path.suffix])
    return path
