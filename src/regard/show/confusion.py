"""A table of confusions as a picture: a row a right answer, a column what was answered, darker for more of the row."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.errors import UsageError
from regard.evaluate import Confusion
from regard.show.canvas import ENDINGS, LABEL, POINTS, Spacing, check_name, longest, new_figure, short, write_figure
from regard.show.fonts import families
from regard.show.page import frame_html
from regard.show.place import fresh_file
from regard.show.shaded_page import STYLE as SHADED_STYLE
from regard.show.shaded_page import shade_class, shades_css

FILES = (".html", *ENDINGS, ".txt")
CELL, BAR = 0.5, 3.0  # inches of a cell's side, where there is room, and of the longest legend
LEVELS = (0.0, 0.05, 0.2, 0.5, 1.0)  # shades go by the root of a share: mistakes are rare and must still be seen
NUMBERED = 30  # classes up to which counts are written into the cells
MOST = 60  # classes up to which a page has the whole table
STYLE = """
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
.grid td, .grid th { border: 1px solid var(--rule); padding: 0.25rem 0.45rem; text-align: end; }
.grid tbody th { text-align: start; font-weight: 400; max-width: 14rem; overflow-wrap: anywhere; }
.grid thead th { font-weight: 400; max-width: 8rem; overflow-wrap: anywhere; vertical-align: bottom; }
.grid td.right { font-weight: 700; }
.classes td, .classes th { border-bottom: 1px solid var(--rule); padding: 0.25rem 0.8rem 0.25rem 0; text-align: end; }
.classes th { font-weight: 400; overflow-wrap: anywhere; }
.classes tr > :first-child { text-align: start; max-width: 20rem; }
"""


def plot_confusion(confusion: Confusion, ax: Any = None) -> Any:
    """Draw on `ax` (or on a new figure of fitting size) and return it; counts are written where they have room."""
    count = len(confusion.classes)
    if not count:
        raise UsageError("a table of confusions: expected at least one class; found none.")
    spacing = Spacing.of(count, CELL)
    new = ax is None
    if new:
        ax = new_figure(*_size(confusion, spacing)).subplots()
    shares = _shares(confusion)
    image = ax.imshow(np.sqrt(shares), cmap="Blues", vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    _label(ax, confusion, spacing)
    if count <= NUMBERED:
        digits = len(str(confusion.counts.max(initial=0)))
        points = min(0.9 * spacing.points, 1.5 * 72 * spacing.step / max(3, digits + 1))
        for row, column in np.argwhere(confusion.counts):
            ink = "white" if shares[row, column] > 0.36 else "black"
            told = str(confusion.counts[row, column])
            ax.text(column, row, told, ha="center", va="center", fontsize=points, color=ink)
    if new:
        bar = ax.figure.colorbar(image, ax=ax, shrink=min(0.8, BAR / (spacing.step * count)))
        bar.set_ticks([level**0.5 for level in LEVELS], labels=[f"{100 * level:.0f} %" for level in LEVELS], fontsize=8)
        bar.set_label("of the row", fontsize=8)
    return ax


def draw_confusion(confusion: Confusion, path: str | Path, title: str = "") -> Path:
    """Draw into a .png, .svg or .pdf file, or write a .html page or a .txt file."""
    path = Path(path)
    ending = check_name(path, FILES)
    if ending in ENDINGS:
        note = f"accuracy {100 * confusion.accuracy:.1f} %, {confusion.counts.sum():,} answers"
        return write_figure(plot_confusion(confusion).figure, path, title, note)
    if ending == ".html":
        text = confusion_html(confusion, title)
    else:
        text = "\n".join(filter(None, (title, confusion.as_text()))) + "\n"
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    return path


def confusion_html(confusion: Confusion, title: str = "") -> str:
    """A page of its own: the table, as long as it is not too wide, and each class with its scores."""
    title = title or "Which classes are taken for which"
    told = f"accuracy {100 * confusion.accuracy:.1f} %, {confusion.counts.sum():,} answers"
    parts = [f'<p class="quiet">{told}</p>']
    if len(confusion.classes) <= MOST:
        parts += ['<p class="caption">rows: the right answer; columns: what was answered; the darker the more of '
                  "its row</p>", _grid(confusion)]  # fmt: skip
    parts.append(_classes(confusion))
    body = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>\n<main>\n' + "\n".join(parts) + "\n</main>"
    return frame_html(title, body, SHADED_STYLE + STYLE + shades_css())


def _shares(confusion: Confusion) -> Float[np.ndarray, "K K"]:
    """Each row by its sum; a class that never occurs has none."""
    return confusion.counts / np.maximum(confusion.counts.sum(1, keepdims=True), 1)


def _size(confusion: Confusion, spacing: Spacing) -> tuple[float, float]:
    side = max(1.2, spacing.step * len(confusion.classes))
    words = spacing.points / POINTS * longest(confusion.classes)
    return side + words + 5 * LABEL + 1.0, side + words + 5 * LABEL


def _label(ax: Any, confusion: Confusion, spacing: Spacing) -> None:
    style = {"parse_math": False, "fontfamily": families(confusion.classes), "fontsize": spacing.points}
    places = range(len(confusion.classes))[:: spacing.every]
    names = short(confusion.classes[:: spacing.every])
    slanted = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(places, names, **slanted, **style)
    ax.set_yticks(places, names, **style)
    ax.set_xlabel("answered", fontsize=9, color="0.35")
    ax.set_ylabel("right answer", fontsize=9, color="0.35")


def _grid(confusion: Confusion) -> str:
    shares = _shares(confusion)
    head = "".join(f'<th scope="col" dir="auto">{escape(name)}</th>' for name in confusion.classes)
    rows = []
    for row, name in enumerate(confusion.classes):
        cells = []
        for column, count in enumerate(confusion.counts[row].tolist()):
            kinds = " ".join(
                filter(None, (shade_class(float(shares[row, column] ** 0.5)), "right" if row == column else ""))
            )
            cells.append(f"<td{_named(kinds)}>{f'{count:,}' if count else ''}</td>")
        rows.append(f'<tr><th scope="row" dir="auto">{escape(name)}</th>{"".join(cells)}</tr>')
    top = f"<thead><tr><td></td>{head}</tr></thead>"
    return _wide(f'<table class="grid">{top}<tbody>{"".join(rows)}</tbody></table>', "Right answers and answers")


def _classes(confusion: Confusion) -> str:
    heads = ("class", "occurs", "answered", "precision", "recall", "F1")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = []
    for each in confusion.by_class():
        shares = (f"{100 * value:.1f} %" for value in (each.precision, each.recall, each.f1))
        cells = "".join(f"<td>{cell}</td>" for cell in (f"{each.occurs:,}", f"{each.answered:,}", *shares))
        rows.append(f'<tr><th scope="row" dir="auto">{escape(each.name)}</th>{cells}</tr>')
    table = f'<table class="classes"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return _wide(table, "Scores of each class")


def _named(kinds: str) -> str:
    return f' class="{kinds}"' if kinds else ""


def _wide(markup: str, name: str) -> str:
    """What scrolls by itself where it is wider than the page, by keys too."""
    return f'<div class="wide" role="region" aria-label="{escape(name)}" tabindex="0">{markup}</div>'
