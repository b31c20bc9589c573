"""From how many rows on half precision pays, by width: processor seconds of a beam of five in fp32 and in bf16.

    python benchmarks/half.py
    python benchmarks/half.py --widths 128,256 --sentences 16,64 --rounds 5
    python benchmarks/half.py --quick

Untrained models of the shape of `transformer-guided` with 4,000 pieces, one thread, sentences of 12 to 17 pieces, 15
pieces written for each. Both take turns; the first round warms up, and the median of the others is told.
"""

from __future__ import annotations

import argparse
from copy import deepcopy
from random import Random
from statistics import median
from time import process_time

import torch
from turns import numbers, row

from regard.engine.pytorch import Torch
from regard.engine.pytorch.columns import columns_together
from regard.engine.pytorch.half import in_half_precision
from regard.model import Model
from regard.recipe import resolve
from regard.search import Options

PIECES, LENGTH, BEAM, END = 4_000, 15, 5, 2


def model(width: int) -> Model:
    """An untrained model of a width, always the same one."""
    torch.manual_seed(0)
    inside = [f"{side}.feed={4 * width}" for side in ("encode", "predict")]
    changes = [f"embed.width={width}", f"predict.embed.width={width}", *inside]
    return resolve("transformer-guided", changes).build(PIECES, PIECES).eval()


def seconds(width: int, sentences: int, rounds: int) -> tuple[float, float]:
    """Of processor time, in fp32 and in bf16."""
    built, random = model(width), Random(0)
    engines = [Torch(columns_together(deepcopy(built))), Torch(in_half_precision(built))]
    lines = [[*random.choices(range(300, PIECES), k=random.randint(12, 17)), END] for _ in range(sentences)]
    options, times = Options(beam=BEAM, min_length=LENGTH, max_length=LENGTH), ([], [])
    for number in range(rounds + 1):
        for engine, found in zip(engines, times, strict=True):
            began = process_time()
            engine.search(lines, options, record=False)
            if number:
                found.append(process_time() - began)
    return median(times[0]), median(times[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--widths", type=numbers, default=(128, 256, 512))
    parser.add_argument("--sentences", type=numbers, default=(4, 16, 64, 256))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two rounds of the smallest")
    asked = parser.parse_args()
    if asked.quick:
        asked.widths, asked.sentences, asked.rounds = asked.widths[:1], asked.sentences[:1], 2
    torch.set_num_threads(1)
    row(["width", *(f"{count} sentences" for count in asked.sentences)])
    row(["---"] * (1 + len(asked.sentences)))
    for width in asked.widths:
        found = [seconds(width, count, asked.rounds) for count in asked.sentences]
        row([str(width), *(f"{full / half:.2f}" for full, half in found)])


if __name__ == "__main__":
    main()
