"""A figure of scores by source length, with their intervals: one line a system, told apart by colour and mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.errors import UsageError
from regard.evaluate.lengths import SMALL, Bucket

# Okabe & Ito's colours, which people of every colour vision tell apart; the marks differ as well, for grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", ":")  # where there are more systems than colours
CROWD = 4  # more lines than this would hide behind a legend

# No date is written, so that the same scores give the same file.
UNDATED: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def line_style(number: int) -> dict[str, Any]:
    """How the line of a system looks: no two of the first twenty-one alike."""
    turn, place = divmod(number, len(COLOURS))
    return {"color": COLOURS[place], "marker": MARKS[place], "linestyle": LINES[turn % len(LINES)]}


def add_legend(figure: Any, axes: Any) -> None:
    """Who is who: inside where there is room, else beside the axes, which then keep their size."""
    named = axes.get_legend_handles_labels()
    if len(named[0]) <= CROWD:
        axes.legend(frameon=False, fontsize="small")
        return
    figure.set_figwidth(figure.get_figwidth() + 2.0)
    figure.legend(*named, loc="outside right center", frameon=False, fontsize="small")


def draw_lengths(series: Mapping[str, Sequence[Bucket]], path: str | Path, *, title: str = "") -> Path:
    """Draw systems that were scored on the same buckets into a .png, .svg or .pdf file; hollow marks are small ones.

    Any metric that `by_length` takes can be drawn; all lines of a figure are of one.
    """
    place = Path(path)
    first = _check(series, place)
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as failure:
        raise UsageError("a figure needs matplotlib, which is not here.", hint="pip install matplotlib") from failure
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for number, (name, buckets) in enumerate(series.items()):
        apart = min(0.08, 0.6 / len(series))  # side by side, so that no interval hides another
        _draw(axes, name, buckets, apart * (number - (len(series) - 1) / 2), line_style(number))
    axes.set_xticks(range(len(first)), [f"{bucket.label}\n({bucket.count:,})" for bucket in first])
    axes.set_xlabel("words in the source (sentences)" + _note(first))
    axes.set_ylabel(f"{first[0].score.name} (95 % interval)")
    axes.set_title(title)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(bottom=0)
    axes.set_xlim(-0.5, len(first) - 0.5)  # one bucket too has its marks beside one another
    if len(series) > 1:
        add_legend(figure, axes)
    place.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "regard"}):
        figure.savefig(place, dpi=150, metadata=UNDATED[place.suffix.lower()])
    return place


def _draw(axes: Any, name: str, buckets: Sequence[Bucket], shift: float, style: dict[str, Any]) -> None:
    places = [number + shift for number in range(len(buckets))]
    scores = [bucket.score for bucket in buckets]
    middles = [(score.high + score.low) / 2 for score in scores]
    halves = [(score.high - score.low) / 2 for score in scores]
    axes.errorbar(places, middles, yerr=halves, fmt="none", ecolor=style["color"], capsize=3)
    axes.plot(places, [score.value for score in scores], **style, label=name, clip_on=False)  # a mark at 100 is whole
    small = [(at, bucket.score.value) for at, bucket in zip(places, buckets, strict=True) if bucket.small]
    axes.plot(
        [at for at, _ in small], [value for _, value in small], **{**style, "linestyle": ""}, mfc="white", clip_on=False
    )


def _note(buckets: Sequence[Bucket]) -> str:
    return f"; hollow: fewer than {SMALL}" if any(bucket.small for bucket in buckets) else ""


def _check(series: Mapping[str, Sequence[Bucket]], place: Path) -> Sequence[Bucket]:
    """The buckets that all systems share."""
    if place.suffix.lower() not in UNDATED:
        raise UsageError(f"{place}: expected a name that ends in {', '.join(UNDATED)}; found '{place.suffix}'.")
    if not series or not all(series.values()):
        raise UsageError(
            "a figure by length: expected at least one bucket; found none.",
            hint="Score by length first: regard.evaluate.by_length(sources, outputs, references).",
        )
    shapes = {name: [(each.low, each.high, each.count) for each in buckets] for name, buckets in series.items()}
    name, first = next(iter(series.items()))
    metrics = {each.score.name for buckets in series.values() for each in buckets}
    if len(metrics) > 1:
        raise UsageError(
            f"one figure: expected one metric for all; found {', '.join(sorted(metrics))}.",
            hint="Draw a figure for each.",
        )
    for other, shape in shapes.items():
        if shape != shapes[name]:
            raise UsageError(
                f"one figure: expected the same buckets for all; those of '{other}' differ from those of '{name}'.",
                hint="Score both on the same sources, with the same edges.",
            )
    return first
