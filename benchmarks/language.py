"""How fast language models train, read and write, beside `transformers` with the same weights and shapes.

    python benchmarks/language.py                                   all works, 1 and 2 threads
    python benchmarks/language.py --works write --rows 1 --threads 1
    python benchmarks/language.py --quick

- train: updates of the recipes `gpt2` and `bert` (small shapes, 8,000 pieces, batches of 4,096 pieces), in fp32 and
  where this machine can in bf16 (autocast), with AdamW and dropout, attention weights included; beside GPT2LMHeadModel
  and BertForMaskedLM in a plain loop. Of BERT we score the hidden positions alone, transformers all.
- read: the scores of all pieces at all positions by an imported BERT of the paper's size.
- write: greedy generation of 64 pieces after a prompt of 16 with an imported GPT-2 of 124 M.

Weights are as a model of transformers begins, saved by it and imported. Each side is a process of its own, and they
work in turn; medians of the rounds, peak memory of the process. Models of `--quick` are tiny.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from language_setting import TINY, untrained
from train import precisions
from turns import Measured, Side, in_turn, names, numbers, plain_arguments, read, report, row
from worker import Job

from regard.importing import import_model

WORKS = ("train", "read", "write")
FAMILIES = ("gpt2", "bert")
ASKED = {"train": 1.3, "read": 1.0, "write": 1.0}  # times transformers
VOCABULARY, PIECES = 8_000, 4_096  # of a training, and of its batches
LENGTHS = {"gpt2": 128, "bert": 64}  # pieces of a row in training
PROMPT, NEW = 16, 64
ROUND = {"train": 2, "read": 4_096}  # batches of a training, and pieces read, that are one round
HEAD = (
    *("", "Regard, pieces a second", "transformers", "times as fast", "by CPU time", "asked"),
    *("Regard, peak MiB", "transformers, peak MiB"),
)


def arguments() -> argparse.ArgumentParser:
    """What can be asked."""
    parser = plain_arguments(__doc__)
    parser.add_argument("--works", type=names, default=WORKS, help=f"what is measured ({','.join(WORKS)})")
    parser.add_argument("--precisions", type=names, default=("bf16", "fp32"), help="of training (bf16,fp32)")
    parser.add_argument("--families", type=names, default=FAMILIES, help="that are trained (gpt2,bert)")
    parser.add_argument("--rows", type=numbers, default=(1, 16), help="texts read or written at a time (1,16)")
    parser.add_argument("--lengths", type=numbers, default=(16, 128), help="pieces of a text that is read (16,128)")
    return parser


def trainings(asked: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """What is trained, by name."""
    for family, (precision, bf16), threads in product(asked.families, precisions(asked).items(), asked.threads):
        length, vocabulary = LENGTHS[family], 307 if asked.quick else VOCABULARY
        rows = 2 if asked.quick else PIECES // length
        yield (
            f"training `{family}`, {precision}, threads: {threads}",
            {
                **{"work": "train", "family": family, "bf16": bf16, "threads": threads, "vocabulary": vocabulary},
                **{"rows": rows, "pieces": rows * length, "batches": ROUND["train"]},
                "length": length + (family == "gpt2"),  # the last piece is predicted only
            },
        )


def readings(asked: argparse.Namespace, folders: Job) -> Iterator[tuple[str, Job]]:
    """What is read, by name."""
    lengths = (16,) if asked.quick else asked.lengths
    for rows, length, threads in product(asked.rows, lengths, asked.threads):
        repeat = 1 if asked.quick else max(2, ROUND["read"] // (rows * length))
        yield (
            f"reading with BERT, {rows} x {length}, threads: {threads}",
            {"work": "read", "rows": rows, "length": length, "threads": threads, "repeat": repeat, **folders},
        )


def writings(asked: argparse.Namespace, folders: Job) -> Iterator[tuple[str, Job]]:
    """What is written, by name."""
    for rows, threads in product(asked.rows, asked.threads):
        new = 5 if asked.quick else NEW
        yield (
            f"writing with GPT-2, {rows} at a time, threads: {threads}",
            {"work": "write", "rows": rows, "length": PROMPT, "new": new, "threads": threads, **folders},
        )


def imported(family: str, folder: Path, quick: bool) -> Job:
    """A model as transformers wrote it, and as we have it; tiny, or of the paper's size."""
    theirs = untrained(family, folder / f"{family}-theirs", TINY[family] if quick else {})
    ours = import_model(theirs, folder / f"{family}-ours")
    return {"family": family, "theirs": str(theirs), "ours": str(ours)}


def compared(name: str, job: Job, rounds: int) -> list[Measured]:
    """Both sides, in turn; a row of the table."""
    sides = [Side("Regard", "language_ours", job), Side("transformers", "language_theirs", job)]
    ours, theirs = found = in_turn(sides, rounds)
    ratios = [ours.rate(by) / theirs.rate(by) for by in ("clock", "cpu")]
    row(
        [
            *(name, f"{ours.rate():,.0f}", f"{theirs.rate():,.0f}", *(f"{ratio:.2f}" for ratio in ratios)),
            *(f"{ASKED[job['work']]}", f"{ours.peak:,.0f}", f"{theirs.peak:,.0f}"),
        ]
    )
    return found


def agreement(ours: Measured, theirs: Measured) -> str:
    """How far what both sides found last is the same."""
    one, other = (each.rounds[-1].get("found") for each in (ours, theirs))
    if one is None or other is None:
        return ""
    if isinstance(one[0], list):
        pairs = [(a, b) for mine, their in zip(one, other, strict=True) for a, b in zip(mine, their, strict=True)]
        return f"{sum(a == b for a, b in pairs) / len(pairs):.1%} of the pieces are the same"
    return f"scores differ by {max(abs(a - b) for a, b in zip(one, other, strict=True)):.1e} at most"


def main() -> None:
    """Measure what was asked for."""
    asked = read(arguments())
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        jobs = dict(trainings(asked)) if "train" in asked.works else {}
        if "read" in asked.works:
            jobs |= readings(asked, imported("bert", Path(folder), asked.quick))
        if "write" in asked.works:
            jobs |= writings(asked, imported("gpt2", Path(folder), asked.quick))
        row(HEAD)
        row(["---"] * len(HEAD))
        notes = []
        for name, job in jobs.items():
            sides = compared(name, job, asked.rounds)
            found[name] = [each.told() for each in sides]
            if told := agreement(*sides):
                notes.append(f"{name}: {told}")
    print("\n" + "\n".join(notes))
    report(found, asked.json)


if __name__ == "__main__":
    main()
