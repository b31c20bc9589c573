"""A page, or a figure, of what an auto-encoder's codes look like."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from regard.show.answers import STYLE
from regard.show.canvas import ENDINGS, check_name, new_figure, write_figure
from regard.show.page import frame_html
from regard.show.pictured import draw_image, figure_html
from regard.show.place import fresh_file
from regard.show.reconstructed import CodeMap, Reconstructed, joined, plot_codes, plot_reconstructed

FILES = (".html", *ENDINGS)


def save_codes(
    codes: CodeMap,
    rows: Sequence[Reconstructed],
    walks: Sequence[UInt8[np.ndarray, "N h w C"]],
    path: str | Path,
    title: str = "",
) -> Path:
    """A figure of the map of codes; or a page of that, of images beside what was made of them, and of walks."""
    path = Path(path)
    if check_name(path, FILES) in ENDINGS:
        return write_figure(plot_codes(codes, title), path, note=" ".join(codes.remarks()))
    parts = [
        _section("Codes", figure_html(plot_codes(codes), "codes as points, and a lattice of them"), codes.remarks())
    ]
    if rows:
        told = [f"Above what was read, below what was made of it, with its squared error; {len(rows)} of the split."]
        parts.append(_section("Read and made", figure_html(plot_reconstructed(rows), "images read and made"), told))
    if walks:
        told = ["Between two codes in equal steps; the ends are what is made of two images."]
        parts.append(_section("Walks", figure_html(plot_walks(walks), "walks between two images"), told))
    body = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>\n<main>\n{"".join(parts)}\n</main>'
    with fresh_file(path) as draft:
        draft.write_text(frame_html(title, body, STYLE), encoding="utf-8", newline="\n")
    return path


def plot_walks(walks: Sequence[UInt8[np.ndarray, "N h w C"]]) -> Any:
    """A new figure: each walk a strip."""
    count = max(map(len, walks))
    figure = new_figure(0.7 * count, 0.8 * len(walks) + 0.1)
    for ax, walk in zip(figure.subplots(len(walks), 1, squeeze=False)[:, 0], walks, strict=True):
        draw_image(ax, joined(walk, len(walk), ground=255))
    return figure


def _section(heading: str, drawn: str, notes: Sequence[str]) -> str:
    told = "".join(f'<p class="note">{escape(each)}</p>' for each in notes)
    return f'<section class="figure"><h2>{escape(heading)}</h2>\n{drawn}\n{told}</section>\n'
