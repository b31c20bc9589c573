"""An alignment as text: one row a target word, one column a source word, darker blocks for more weight."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from rich.cells import cell_len
from torch import Tensor

SHADES = " ░▒▓█"


def draw(weights: Float[Tensor, "T S"], source: Sequence[str], target: Sequence[str]) -> str:
    """The alignment as lines of text; every column is as wide as its label."""
    wide = [max(1, cell_len(label)) for label in source]
    margin = max((cell_len(label) for label in target), default=0)
    lines = [" " * (margin + 1) + "".join(_fill(label, width) for label, width in zip(source, wide, strict=True))]
    for label, row in zip(target, weights.tolist(), strict=True):
        cells = "".join(_shade(weight) * width for weight, width in zip(row, wide, strict=True))
        lines.append(" " * (margin - cell_len(label)) + f"{label} {cells}")
    return "\n".join(line.rstrip() for line in lines)


def _fill(label: str, width: int) -> str:
    return label + " " * (width - cell_len(label))


def _shade(weight: float) -> str:
    return SHADES[min(len(SHADES) - 1, round(weight * (len(SHADES) - 1)))]
