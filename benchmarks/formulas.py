"""What readers of formulas get right, by the length of the formula: the arms of a comparison, measured.

For each arm, of all test formulas and of those of up to 10, 11 to 20, 21 to 30 and more tokens (or other --edges): how
many there are, and in percent the exact match of tokens with its 95 % interval, the exact and the near match of the
images drawn again, edit accuracy and token BLEU (see docs/evaluation.md). Formulas that are longer than what the model
was trained on count like all others. What is given is a comparison, or a run; --kept takes the outputs that the
comparison kept; --redraw takes of the beam's formulas the one that looks like the image when it is drawn. Example:

    regard compare latex latex-flat latex-mean --data formulas --steps 3000 --beam 1 --out runs/formulas
    python benchmarks/formulas.py runs/formulas --data formulas --kept
"""

from __future__ import annotations

import argparse
import json
import sys
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
from scenes import arms_of

from regard.data.corpus import Corpus
from regard.data.latex import normal_tokens
from regard.errors import MissingData, RegardError
from regard.evaluate.counts import Counted
from regard.evaluate.metrics import counting
from regard.tasks.formula_reader import FormulaReader

EDGES = (10, 20, 30)  # the longest of each bucket but the last
METRICS = ("token_match", "image_match", "image_near", "edit_accuracy", "token_bleu")
Row = dict[str, float]  # how many formulas, and the value of each metric


def buckets(formulas: Sequence[str], edges: Sequence[int] = EDGES) -> dict[str, np.ndarray]:
    """The places of all formulas, and of those of each length that occurs."""
    place = np.array([bisect_left(edges, len(normal_tokens(each))) for each in formulas])
    labels = [f"<= {edges[0]}", *(f"{low + 1}-{high}" for low, high in pairwise(edges)), f"> {edges[-1]}"]
    rows = {label: np.flatnonzero(place == number) for number, label in enumerate(labels)}
    return {"all": np.arange(len(formulas)), **{label: each for label, each in rows.items() if len(each)}}


def score(outputs: Sequence[str], formulas: Sequence[str], edges: Sequence[int] = EDGES) -> dict[str, Row]:
    """Every metric of every bucket."""
    counted: dict[str, Counted] = {name: counting(name)(outputs, formulas) for name in METRICS}
    found = {}
    for label, rows in buckets(formulas, edges).items():
        values = {name: each.take(rows).value() for name, each in counted.items()}
        exact = counted["token_match"].take(rows).score()
        found[label] = {"formulas": float(len(rows)), **values, "low": exact.low, "high": exact.high}
    return found


def mean(scores: Sequence[dict[str, Row]]) -> dict[str, Row]:
    """Of several seeds; an interval of one is none of their mean."""
    return {
        label: {name: fmean(each[label][name] for each in scores) for name in row if name not in ("low", "high")}
        for label, row in scores[0].items()
    }


def table(found: dict[str, Row]) -> str:
    """A line for each bucket."""
    lines = [f"  {'tokens':8}{'formulas':>10}" + "".join(f"{name:>15}" for name in METRICS)]
    for label, row in found.items():
        values = "".join(f"{row[name]:15.1f}" for name in METRICS)
        around = f"   [{row['low']:.1f}, {row['high']:.1f}]" if "low" in row else ""
        lines.append(f"  {label:8}{row['formulas']:10.0f}{values}{around}")
    return "\n".join(lines)


def runs_of(report: Path) -> dict[str, list[Path]]:
    """The runs of a comparison by arm; a run by itself is its own arm."""
    return {report.name: [report]} if (report / "best").is_dir() else arms_of(report)


def answered(run: Path, images: Sequence[str], beam: int, redraw: bool) -> list[str]:
    """What the best model of a run writes."""
    return [each.text for each in FormulaReader.load(run).latex(images, beam=beam, redraw=redraw)]


def kept(run: Path, count: int) -> list[str]:
    """The outputs that a comparison keeps beside a run."""
    path = run.parent / "outputs.txt"
    found = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if len(found) != count:
        raise MissingData(f"{path}: expected {count} outputs; found {len(found)}.", hint="Leave out --kept.")
    return found


def main() -> None:
    """Read the command line, print a table for each arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the folder of a comparison, or of a run")
    parser.add_argument("--data", default="formulas")
    parser.add_argument("--split", default="test")
    parser.add_argument("--most", type=int, help="at most so many formulas, the first ones")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--redraw", action="store_true", help="lay the beam's formulas over the image")
    parser.add_argument("--edges", type=int, nargs="+", default=EDGES, help="the longest of each bucket but the last")
    parser.add_argument("--kept", action="store_true", help="take the outputs that the comparison kept")
    parser.add_argument("--json", type=Path, help="a file for all numbers")
    asked = parser.parse_args()
    try:
        rows = Corpus.open(asked.data, reads="image", wants="text").split(asked.split)
        images, formulas = (list(rows[name])[: asked.most] for name in ("source", "target"))
        told = {}
        for label, runs in runs_of(asked.report).items():
            scores = []
            for run in runs:
                outputs = kept(run, len(formulas)) if asked.kept else answered(run, images, asked.beam, asked.redraw)
                scores.append(score(outputs, formulas, asked.edges))
                sys.stdout.write(f"{label}: {run}\n{table(scores[-1])}\n")
                sys.stdout.flush()
            if len(runs) > 1:
                sys.stdout.write(f"{label}: mean of {len(runs)}\n{table(mean(scores))}\n")
            told[label] = scores
        if asked.json:
            asked.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    except RegardError as wrong:
        sys.exit(f"formulas.py: {wrong}")


if __name__ == "__main__":
    main()
