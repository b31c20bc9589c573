"""How fast Regard trains: target pieces a second of real updates, in fp32 and where it pays in bf16.

    python benchmarks/train.py                          Multi30k, German to English, both shapes, 1 and 2 threads
    python benchmarks/train.py --shapes rnn --threads 1 --data DIR --json train.json
    python benchmarks/train.py --quick

Batches hold 4,096 target pieces on average. A round goes through a few of them, taken evenly from the shortest
sentences to the longest; each configuration is a process of its own, and they work in turn. Peak memory is that of the
process.
"""

from __future__ import annotations

import argparse
from typing import Any

from turns import Side, arguments, compared, in_turn, names, read, report
from worker import Job

# Toolkits limit a batch by positions of both sides, of the longer one, or of the target alone, with padding or without:
# so each moves its own limit until its batches hold as many target pieces as everybody's (`worker.of_pieces`).
FULL = {"pieces": 4_096, "batches": 6}
QUICK = {"pieces": 256, "batches": 2}
SHOWN = ("parameters", "target pieces a batch", "real target positions")


def job(shape: str, threads: int, asked: argparse.Namespace, *, bf16: bool = False) -> Job:
    """What a side is to do; peers get the same."""
    size = {**(QUICK if asked.quick else FULL), **({"batches": asked.batches} if asked.batches else {})}
    return {"work": "train", "shape": shape, "threads": threads, "data": asked.data, "bf16": bf16, **size}


def precisions(asked: argparse.Namespace) -> dict[str, bool]:
    """Whether products are in bf16, by name: only where this machine can do them, which a child process has tried."""
    from regard.engine.precision import bf16_gain

    return {name: name == "bf16" for name in asked.precisions if name != "bf16" or bf16_gain() > 0}


def more_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What training can be asked beside the rest."""
    parser.add_argument("--batches", type=int, help="batches that a round goes through (6; 2 with --quick)")
    parser.add_argument("--precisions", type=names, default=("bf16", "fp32"), help="of products (bf16,fp32)")
    return parser


def main() -> None:
    """Measure what was asked for."""
    asked = read(more_arguments(arguments(__doc__)))
    found: dict[str, Any] = {}
    for shape in asked.shapes:
        sides = [
            Side(f"{kind}, threads: {threads}", "ours", job(shape, threads, asked, bf16=bf16))
            for kind, bf16 in precisions(asked).items()
            for threads in asked.threads
        ]
        measured = in_turn(sides, asked.rounds)
        compared(f"Training, {shape}: target pieces", SHOWN, measured)
        found[shape] = [each.told() for each in measured]
    report(found, asked.json)


if __name__ == "__main__":
    main()
