"""An alignment matrix as a picture: one row a target word, one column a source word, darker for more weight."""

from __future__ import annotations

from pathlib import Path

from regard.alignment import Alignment
from regard.errors import UsageError

ENDINGS = (".png", ".svg", ".pdf")


def draw_matrix(alignment: Alignment, path: str | Path, title: str = "") -> Path:
    """Draw into a .png, .svg or .pdf file."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path}: expected a name that ends in {', '.join(ENDINGS)}.", hint=f"Write {path.stem}.png.")
    from matplotlib.figure import Figure

    width, height = (0.35 * len(words) + 1.5 for words in (alignment.source, alignment.target))
    figure = Figure(figsize=(width + 1.0, height + 0.5), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(alignment.matrix.tolist(), cmap="Greys", vmin=0, vmax=1, aspect="equal")
    axes.xaxis.tick_top()
    # As text, never as a formula: a dollar sign in a sentence is a dollar sign.
    axes.set_xticks(range(len(alignment.source)), alignment.source, rotation=60, ha="left", parse_math=False)
    axes.set_yticks(range(len(alignment.target)), alignment.target, parse_math=False)
    figure.colorbar(image, ax=axes, label="weight (each row sums to 1)", shrink=0.7)
    if title:
        figure.suptitle(title, parse_math=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path
