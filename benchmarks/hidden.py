"""Hidden words of held-out text: their loss, and whether the order of two segments is told; the same masks for all.

Each run makes its own examples of the text; what is hidden is drawn by row, whatever masks the run was taught with.
With `--pairs order` (or `next`) the head for two segments is asked about such pairs, whichever it learnt. Models of
several seeds are one arm. Example:

    python benchmarks/hidden.py "shared: runs/a runs/b" "unshared: runs/c runs/d" --data runs/text --split test
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from statistics import fmean, stdev

import torch

from regard.data.batches import Batches
from regard.data.corpus import Corpus
from regard.data.examples.documents import Documents
from regard.tasks.filler import Filler
from regard.tasks.goals.fill import hidden_nll
from regard.types import Batch


@dataclass(frozen=True)
class Found:
    """Nats of a hidden piece; pairs of segments that are told right, in percent; how much the encoder has to learn."""

    nll: float
    pairs: float
    weights: int


def asked(model: Filler, data: str, split: str, pairs: str | None) -> Iterator[Batch]:
    """The batches of a split, the same for every run that makes the same examples."""
    assert model.parts is not None
    goal, examples = model.parts.goal, model.parts.examples
    goal.copies = 0  # else a run that was taught with static masks would be asked with its own
    if pairs is not None and isinstance(examples, Documents):
        examples = Documents(length=examples.length, pairs=pairs, short=0.0)
    rows = Corpus.open(data, reads="text", wants="nothing").split(split)
    yield from Batches(rows, goal.for_validation(), shuffle=False, examples=examples)


def measure(model: Filler, batches: Iterator[Batch]) -> Found:
    """Of a model, over some batches."""
    nats, pieces, right = 0.0, 0, list[bool]()
    with torch.inference_mode():
        for batch in batches:
            memory = model.model.read(batch.source)
            each, _ = hidden_nll(model.model, batch, memory)
            nats, pieces = nats + float(each.sum()), pieces + len(each)
            if model.model.predict.follows is not None and "follows" in batch.extra:
                told = model.model.predict.follows(memory.summary).argmax(-1)
                right += (told == batch.extra["follows"]).tolist()
    weights = sum(weight.numel() for weight in model.model.encode.parameters())
    return Found(nats / pieces, 100 * fmean(right) if right else float("nan"), weights)


def main() -> None:
    """Read the command line, print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="+", metavar="ARM")
    parser.add_argument("--data", required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--pairs", choices=("next", "order"))
    parser.add_argument("--batches", type=int, help="of 4096 positions; else all of the split")
    given = parser.parse_args()
    print("| arm | nats of a hidden piece | pairs told right, % | weights of the encoder |\n| --- | --- | --- | --- |")
    for arm in given.arms:
        label, _, runs = arm.partition(":")
        models = [Filler.load(run) for run in runs.split()]
        found = [
            measure(each, islice(asked(each, given.data, given.split, given.pairs), given.batches)) for each in models
        ]
        nll, pairs, weights = zip(*map(astuple, found), strict=True)
        print(f"| {label} | {told(nll, 3)} | {told(pairs, 1)} | {weights[0]:,} |", flush=True)


def told(values: Sequence[float], digits: int) -> str:
    """Mean and deviation over seeds."""
    mean = f"{fmean(values):.{digits}f}"
    return f"{mean} ± {stdev(values):.{digits}f}" if len(values) > 1 else mean


if __name__ == "__main__":
    main()
