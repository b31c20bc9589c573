"""GA-Net on needles: three telling words among forty. What is looked at, and what the gates let through, is known.

Soft attention, then gates at several prices, and relaxed ones that pay from the start, which too high a price closes:
accuracy; density, the share of open gates (3 of 41 positions tell, the
end of the text counted: 0.073); F1 of the open gates against the telling words; and how much of the attention is on
these. Trainings that are done are not done again. Example:

    python benchmarks/needle.py --out runs/proofs/needle --seeds 3
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from regard.data.corpus import Corpus
from regard.data.needle import signals
from regard.tasks.classifier import Classification, Classifier
from regard.tasks.job import TrainJob

DATA = "needle"
SMALL = ("embed.width=32", "embed.deviation=1", "embed.dropout=0", "predict.dropout=0", "task.goal.smoothing=0")
SOFT = ("classify", "encode.hidden=64")
GATED = ("ga-net", "encode.encode.hidden=64", "encode.auxiliary_encode.hidden=32")
PRICES = (0.0, 0.03, 0.1, 0.3, 3.0)
RELAXED = (0.03, 0.3, 3.0, 30.0)  # prices asked from the first update on, of gates that are not passed straight through


@dataclass(frozen=True)
class Found:
    """What a model does with the needles of the test split."""

    accuracy: float
    density: float
    f1: float
    mass: float


def arms(steps: int) -> dict[str, tuple[str, tuple[str, ...]]]:
    """A recipe and its settings, by the name of the arm."""
    annealed = (f"attend.choice.anneal={steps}", f"attend.choice.warmup={steps // 4}")
    gated = {f"gates, price {price:g}": (*GATED, *annealed, f"attend.choice.price={price}") for price in PRICES}
    early = (f"attend.choice.anneal={steps}", "attend.choice.warmup=0", "attend.choice.straight_through=false")
    gated |= {f"relaxed gates, price {price:g}": (*GATED, *early, f"attend.choice.price={price}") for price in RELAXED}
    return {name: (recipe, (*SMALL, *more)) for name, (recipe, *more) in {"soft attention": SOFT, **gated}.items()}


def measure(answers: Sequence[Classification], labels: Sequence[str]) -> Found:
    """Of answers to needles."""
    right = fmean(answer.label == label for answer, label in zip(answers, labels, strict=True))
    opened, masses, hits, wrong, missed = [], [], 0, 0, 0
    for answer in answers:
        assert answer.seen is not None
        weights = answer.seen.weights.mean(0)
        gates = weights > 0  # in use a closed gate gives a weight of exactly zero
        telling = np.zeros(len(weights), bool)
        telling[list(signals(str(answer.source)))] = True
        opened.append(float(gates.mean()))
        masses.append(float(weights[telling].sum()))
        hits, wrong = hits + int((gates & telling).sum()), wrong + int((gates & ~telling).sum())
        missed += int((~gates & telling).sum())
    return Found(100 * right, fmean(opened), 2 * hits / max(1, 2 * hits + wrong + missed), fmean(masses))


def trained(out: Path, recipe: str, settings: Sequence[str], steps: int, seed: int) -> Classifier:
    """The model after its last update, whatever validation says: what a price has done is to be seen."""
    if not (out / "last").is_dir() or not (out / "scores.json").is_file():
        more = ("train.validate_steps=0", "train.tensorboard=false", *settings)
        TrainJob(recipe, DATA, out, steps=steps, seed=seed, settings=more, resume=out.exists()).train()
    return Classifier.load(out / "last")


def main() -> None:
    """Read the command line, print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/proofs/needle"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    rows = Corpus.open(DATA, reads="text", wants="label").split("test")
    names = [field.name for field in fields(Found)]
    sys.stdout.write(f"| arm | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}\n")
    for arm, (recipe, settings) in arms(asked.steps).items():
        found = []
        for seed in range(asked.seeds):
            home = asked.out / arm.replace(", ", "-").replace(" ", "-") / str(seed)
            model = trained(home, recipe, settings, asked.steps, seed)
            found.append(astuple(measure(model.answer(list(rows["source"])), list(rows["target"]))))
        sys.stdout.write(f"| {arm} | {' | '.join(map(told, zip(*found, strict=True)))} |\n")
        sys.stdout.flush()


def told(values: Sequence[float]) -> str:
    """Mean and deviation over seeds."""
    return f"{fmean(values):.3g} ± {stdev(values):.2g}" if len(values) > 1 else f"{values[0]:.3g}"


if __name__ == "__main__":
    main()
