"""What an update costs the processor: the arms of one proof in turn, in one process, medians of seven rounds.

    python benchmarks/language_pace.py albert --arms 2 --out runs/proofs/text

After `language_models.py`, which cuts the text. Arms that shall have equal time get updates in this proportion.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median

import torch
from language_arms import PROOFS, Arm

from regard.data.corpus import Corpus
from regard.engine.precision import use_bf16
from regard.learn.learner import Learner, flush_denormals
from regard.recipe import resolve
from regard.tasks.job import columns_of_sides, silent
from regard.tasks.setup import set_up

ROUNDS, UPDATES = 7, 5


def learner(arm: Arm, out: Path) -> Learner:
    """What makes an arm's updates."""
    recipe = resolve(arm.recipe, ["train.validate_steps=0", *arm.settings])
    reads, wants = columns_of_sides(recipe)
    corpus = Corpus.open(str(out / arm.data) if arm.cut else arm.data, reads=reads, wants=wants)
    made = set_up(recipe, corpus, None, 0, silent)
    bf16 = use_bf16(made.settings.precision)
    return Learner(made.model, made.settings, made.batches.forever(), objectives=made.aims.objectives, bf16=bf16)


def main() -> None:
    """Read the command line, print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof", choices=PROOFS)
    parser.add_argument("--arms", type=int, help="only so many of its arms, from the first on")
    parser.add_argument("--out", type=Path, default=Path("runs/proofs/text"))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    learners = {arm.label: learner(arm, asked.out) for arm in PROOFS[asked.proof].arms[: asked.arms]}
    spent: dict[str, list[float]] = {label: [] for label in learners}
    with flush_denormals():
        for label in (*learners, *list(learners) * ROUNDS):  # the first of each warms up
            began = time.process_time()
            for _ in range(UPDATES):
                learners[label].update(0.1)
            spent[label].append((time.process_time() - began) / UPDATES)
    print("| arm | weights | ms an update |\n| --- | --- | --- |")
    for label, each in learners.items():
        weights = sum(weight.numel() for weight in each.model.parameters())
        print(f"| {label} | {weights:,} | {1000 * median(spent[label][1:]):.0f} |")


if __name__ == "__main__":
    main()
