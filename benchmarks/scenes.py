"""What captioners of the built-in scenes get right, and where they look: the arms of a comparison, measured.

For each arm the share of exact captions, that of scenes with three and more objects, how often a noun's weights peak
inside what it names (pointing), and how unevenly the cells of an image are looked at over all steps of its caption:

    imbalance = sum_i (1 - sum_t a_ti)^2        least = (cells - steps)^2 / cells

The least is what weights spread evenly over all cells come to: steps are fewer than cells, and no weights go below it.
What is above it is sum_i (tau - sum_t a_ti)^2 with tau = steps / cells, 0 of even weights: the paper's term for
captions that have not as many steps as an image has cells.
Captions are written greedily, weights are those of the right captions. Example:

    regard compare caption caption-mean --data scenes --steps 3000 --out runs/scenes
    python benchmarks/scenes.py runs/scenes
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean

import numpy as np
from jaxtyping import Float

from regard.data.corpus import Corpus
from regard.errors import MissingData, RegardError
from regard.tasks.captioner import Caption, Captioner

MANY = 3  # objects of a scene that has many


@dataclass(frozen=True)
class Scored:
    """Shares in percent; imbalances per image. The last three are None of a model that looks at nothing."""

    exact: float
    many: float
    pointing: float | None
    imbalance: float | None
    least: float | None

    @property
    def above(self) -> float:
        """How much more the imbalance is than that of even weights."""
        return (self.imbalance or 0.0) - (self.least or 0.0)

    def __str__(self) -> str:
        told = [f"exact {self.exact:.1f}", f"{MANY} and more objects {self.many:.1f}"]
        if self.pointing is not None:
            told += [
                f"pointing {self.pointing:.1f}",
                f"imbalance {self.imbalance:.1f} (least {self.least:.1f}, {self.above:.1f} above it)",
            ]
        return ", ".join(told)


def objects(caption: str) -> int:
    """How many a scene has: each is named with its article."""
    return caption.split().count("a")


def imbalance(weights: Float[np.ndarray, "T i j"]) -> tuple[float, float]:
    """How unevenly cells were looked at over all steps, and the least that so many steps can come to."""
    steps, cells = len(weights), weights[0].size
    found = np.square(1 - weights.sum(0)).sum()
    return float(found), (cells - steps) ** 2 / cells


def score(model: Captioner, images: Sequence[str], captions: Sequence[str], places: Sequence[str]) -> Scored:
    """Answers against the right captions, and what was looked at while these are written."""
    answers: list[Caption] = model.answer(images)
    right = np.array([each.text == caption for each, caption in zip(answers, captions, strict=True)])
    many = np.array([objects(caption) >= MANY for caption in captions])
    exact = float(100 * right.mean()), float(100 * right[many].mean())
    pointed = model.count_pointing(images, captions, places)
    if pointed is None:
        return Scored(*exact, None, None, None)
    grids = [each.grid for each in model.force(images, captions)]
    found = [imbalance(grid) for grid in grids if grid is not None]
    return Scored(*exact, pointed.value(), fmean(each for each, _ in found), fmean(least for _, least in found))


def mean(scores: Sequence[Scored]) -> Scored:
    """Of several seeds."""
    rows = [asdict(each) for each in scores]
    names = [each.name for each in fields(Scored)]
    return Scored(**{name: None if rows[0][name] is None else fmean(row[name] for row in rows) for name in names})


def arms_of(report: Path) -> dict[str, list[Path]]:
    """The runs of each arm of a comparison, one for each seed."""
    found: dict[str, list[Path]] = {}
    for run in sorted(report.glob("arms/**/run")):
        found.setdefault(run.relative_to(report / "arms").parts[0], []).append(run)
    if not found:
        raise MissingData(f"{report} holds no runs.", hint="Give the --out of a `regard compare`.")
    return found


def main() -> None:
    """Read the command line, print a line for each model and each arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the folder of a comparison")
    parser.add_argument("--split", default="test")
    parser.add_argument("--json", type=Path, help="a file for all numbers")
    asked = parser.parse_args()
    try:
        rows = Corpus.open("scenes", reads="image", wants="text").split(asked.split)
        columns = [list(rows[name]) for name in ("source", "target", "links")]
        told = {}
        for label, runs in arms_of(asked.report).items():
            scores = [score(Captioner.load(run), *columns) for run in runs]
            for run, each in zip(runs, scores, strict=True):
                sys.stdout.write(f"  {run.relative_to(asked.report)}: {each}\n")
            sys.stdout.write(f"{label}: {mean(scores)}\n")
            sys.stdout.flush()
            told[label] = [asdict(each) for each in scores]
        if asked.json:
            asked.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    except RegardError as wrong:
        sys.exit(f"scenes.py: {wrong}")


if __name__ == "__main__":
    main()
