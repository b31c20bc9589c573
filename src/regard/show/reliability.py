"""A reliability diagram: of answers that a model calls so sure, which share is right (Guo et al. 2017)."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from regard.errors import UsageError
from regard.evaluate import Bin, Calibration
from regard.show.canvas import ENDINGS, check_name, new_figure, write_figure
from regard.show.page import frame_html
from regard.show.place import fresh_file
from regard.show.shaded_page import STYLE, bar_html

FILES = (".html", *ENDINGS, ".txt")
BLUE, GAP, QUIET = "#0072B2", "#D55E00", "0.35"


def plot_reliability(calibration: Calibration, axes: Any = None) -> Any:
    """Draw on two axes (or a new figure's) and return them: above how often answers are right, below how many."""
    bins = [each for each in calibration.bins if each.count]
    if not bins:
        raise UsageError("a reliability diagram: expected at least one answer; found none.")
    if axes is None:
        figure = new_figure(4.6, 5.4)
        axes = figure.subplots(2, 1, height_ratios=[3.4, 1], sharex=True)
    upper, lower = axes
    _bars(upper, bins)
    upper.plot((0, 1), (0, 1), color=QUIET, linestyle="--", linewidth=1, label="as sure as right")
    upper.set(xlim=(0, 1), ylim=(0, 1), ylabel="share of right answers")
    upper.legend(frameon=False, fontsize=8, loc="upper left")
    lower.bar([each.low for each in bins], [each.count for each in bins], [each.high - each.low for each in bins],
              align="edge", color="0.6", edgecolor="white", linewidth=0.5)  # fmt: skip
    lower.set(xlabel="probability of the answer", ylabel="answers")
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return axes


def draw_reliability(calibration: Calibration, path: str | Path, title: str = "") -> Path:
    """Draw into a .png, .svg or .pdf file, or write a .html page or a .txt file."""
    path = Path(path)
    ending = check_name(path, FILES)
    if ending in ENDINGS:
        return write_figure(plot_reliability(calibration)[0].figure, path, title, told(calibration))
    if ending == ".html":
        text = reliability_html(calibration, title)
    else:
        text = "\n".join(filter(None, (title, calibration.as_text(), told(calibration)))) + "\n"
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    return path


def told(calibration: Calibration) -> str:
    """The error in words."""
    count = sum(each.count for each in calibration.bins)
    return f"expected calibration error {calibration.ece:.1f} %, {len(calibration.bins)} bins, {count:,} answers"


def reliability_html(calibration: Calibration, title: str = "") -> str:
    """A page of its own: a row a bin, how sure and how often right as bars."""
    title = title or "How sure, and how often right"
    wide = "".join(f'<th scope="colgroup" colspan="2">{name}</th>' for name in ("mean probability", "right"))
    head = f'<th scope="col">sure</th><th scope="col">answers</th>{wide}'
    rows = []
    for each in calibration.bins:
        if each.count:
            cells = [f"<td>{each.count:,}</td>"]
            for share in (each.confidence or 0.0, each.accuracy or 0.0):
                cells.append(f"<td>{100 * share:.1f} %</td><td>{bar_html(share)}</td>")
            span = f"{100 * each.low:.0f} to {100 * each.high:.0f} %"
            rows.append(f'<tr><th scope="row">{span}</th>{"".join(cells)}</tr>')
    table = f'<table class="bars"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    header = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>'
    body = f'{header}\n<main>\n<p class="quiet">{told(calibration)}</p>\n{table}\n</main>'
    return frame_html(title, body, STYLE)


def _bars(ax: Any, bins: list[Bin]) -> None:
    """What is right as bars, and what is wanting or too much up to the mean probability."""
    lows, widths = [each.low for each in bins], [each.high - each.low for each in bins]
    right, sure = [each.accuracy or 0.0 for each in bins], [each.confidence or 0.0 for each in bins]
    ax.bar(lows, right, widths, align="edge", color=BLUE, edgecolor="white", linewidth=0.5, label="right")
    ax.bar(lows, [one - other for one, other in zip(sure, right, strict=True)], widths, right, align="edge",
           color="none", edgecolor=GAP, hatch="////", linewidth=0.7, label="gap to the mean probability")  # fmt: skip
