"""Two alignments side by side and, where their words agree, the difference: where one looked more than the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.align.alignment import Alignment
from regard.errors import UsageError
from regard.show.canvas import check_name, new_figure, wrap, write_figure
from regard.show.causal import start_first
from regard.show.fonts import families
from regard.show.matrix import label_axes, matrix_size, plot_matrix

DIVERGING = "PuOr"  # orange and purple are told apart by people of every colour vision


def agree(one: Alignment, other: Alignment) -> bool:
    """Are both of the same words, so that they can be subtracted?"""
    return (one.source, one.target, one.kind) == (other.source, other.target, other.kind)


def plot_difference(one: Alignment, other: Alignment, ax: Any = None) -> Any:
    """Draw the first less the second on `ax` (or on a new figure) and return it: purple where the first has more."""
    if not agree(one, other):
        raise UsageError(
            "a difference needs two alignments of the same words; these differ.",
            hint="Align one pair with both models: give them the same target.",
        )
    one, other = start_first(one), start_first(other)
    if ax is None:
        ax = new_figure(*matrix_size(one)).subplots()
    ax.imshow((one.matrix - other.matrix).tolist(), cmap=DIVERGING, vmin=-1, vmax=1, aspect="equal")
    label_axes(ax, one)
    return ax


def plot_compare(
    one: Alignment, other: Alignment, axes: Any = None, names: tuple[str, str] = ("first", "second")
) -> Any:
    """Draw both, and the difference where the words agree, on two or three axes (or a new figure's); return them."""
    count = 3 if agree(one, other) else 2
    if axes is None:
        sizes = [matrix_size(each) for each in (one, other, one)[:count]]
        figure = new_figure(sum(width for width, _ in sizes) + 1.5, max(height for _, height in sizes) + 0.5)
        axes = figure.subplots(1, count, width_ratios=[width for width, _ in sizes])
    if len(axes) != count:
        raise UsageError(f"axes: expected {count}, for two alignments of {'the same' if count == 3 else 'different'} "
                         f"words; found {len(axes)}.")  # fmt: skip
    for ax, alignment, name in zip(axes, (one, other), names, strict=False):
        plot_matrix(alignment, ax)
        ax.set_title(wrap(name, matrix_size(alignment)[0]), parse_math=False, fontfamily=families([name]))
    if count == 3:
        plot_difference(one, other, axes[2])
        told = f"{names[0]} less {names[1]}"
        axes[2].set_title(wrap(told, matrix_size(one)[0]), parse_math=False, fontfamily=families([told]))
    weights, bars = axes[1].images[-1], axes[0].figure
    bars.colorbar(weights, ax=axes[1], label="weight", shrink=0.6)
    if count == 3:
        bars.colorbar(axes[2].images[-1], ax=axes[2], label="difference", shrink=0.6)
    return axes


def draw_compare(one: Alignment, other: Alignment, path: str | Path, names: tuple[str, str], title: str = "") -> Path:
    """Draw into a .png, .svg or .pdf file."""
    path = Path(path)
    check_name(path)
    figure = plot_compare(one, other, names=names)[0].figure
    return write_figure(
        figure,
        path,
        title,
        "\n".join(f"{name}: {each.note}" for name, each in zip(names, (one, other), strict=True) if each.note),
    )
