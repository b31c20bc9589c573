"""The pictures of the mechanism benches, drawn from their results by `python benchmarks/mechanisms.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

COLOURS = ("tab:blue", "tab:red", "tab:green", "tab:purple")


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def hard(results: list[dict[str, Any]], path: Path) -> None:
    """Accuracy over steps for every arm; beside it the noise of the gradient, on a log scale."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
    arms = list(dict.fromkeys(one["arm"] for one in results))
    for one in results:
        first = one["seed"] == min(each["seed"] for each in results)
        style = {"color": COLOURS[arms.index(one["arm"])], "linestyle": "-" if first else "--", "linewidth": 1.3}
        left.plot(list(one["accuracy"]), list(one["accuracy"].values()), label=one["arm"] if first else None, **style)
    left.set(xlabel="training steps", ylabel="accuracy", ylim=(0, 1.03), title="Lookup in 16 slots")
    left.legend(fontsize=7)
    for one in (each for each in results if each["noise"] and each["seed"] == min(x["seed"] for x in results)):
        steps = list(one["noise"])
        for which, line in ((0, ":"), (1, "-")):
            right.plot(
                steps,
                [pair[which] for pair in one["noise"].values()],
                line,
                marker="o",
                markersize=3,
                color=COLOURS[arms.index(one["arm"])],
                label=f"{('baseline 0', 'moving average')[which]}, at the weights of “{one['arm']}”",
            )
    right.set(xlabel="training steps", ylabel="standard deviation", yscale="log", title="Noise of the gradient")
    right.legend(fontsize=6.5, loc="center right")
    _save(figure, path)


def alignments(results: list[dict[str, Any]], path: Path) -> None:
    """One matrix a score: source from left to right, what is written from top to bottom, white is one."""
    shown = [one for one in results if one["weights"] and one["seed"] == min(x["seed"] for x in results)]
    figure, axes = plt.subplots(2, 4, figsize=(10, 5.4), squeeze=False)
    for axis in axes.flat[len(shown) :]:
        axis.axis("off")
    for axis, one in zip(axes.flat, shown, strict=False):
        axis.imshow(one["weights"], cmap="gray", vmin=0, vmax=1)
        axis.set_title(one["arm"], fontsize=10)
        axis.set(xticks=[0, 14], yticks=[0, 14])
    axes[1, 0].set(xlabel="source position", ylabel="step")
    _save(figure, path)


def scale(rows: list[tuple[int, tuple[float, ...], tuple[float, ...]]], path: Path) -> None:
    """The gradient that reaches the scores, over the width, unscaled and scaled."""
    figure, axis = plt.subplots(figsize=(5, 3.4))
    widths = [row[0] for row in rows]
    axis.plot(widths, [row[1][1] for row in rows], "o-", color="tab:red", label="dot")
    axis.plot(widths, [row[2][1] for row in rows], "o-", color="tab:blue", label="scaled_dot")
    axis.set(xlabel="width of queries and keys", ylabel="sum p (1 - p)", xscale="log", ylim=(0, 1), xticks=widths)
    axis.set_xticks(widths, [str(width) for width in widths])
    axis.minorticks_off()
    axis.legend()
    _save(figure, path)
