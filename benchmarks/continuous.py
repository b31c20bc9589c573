"""Does it pay to let sentences into a search as others end? Batch after batch and continuously, in one process.

    python benchmarks/continuous.py --model runs/de-en
    python benchmarks/continuous.py --model runs/de-en --beams 1 --tokens 1024 --uneven

With `--uneven` every sentence is made to write a number of pieces that is drawn for it, 5 to 80, and three lines of the
text are one source: long sources whose outputs may be of any length, as in a summary. Both ways write the same.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import setting
import torch
from turns import numbers

from regard.search import Options
from regard.translate.translator import Translator

LEAST, MOST = 5, 80  # pieces of an uneven output


class Uneven(Options):
    """Outputs as long as was drawn for the length of their source, and no other."""

    def limit(self, length: int) -> int:
        """How many pieces it has; the same for a source wherever it stands."""
        return Random(length).randrange(LEAST, MOST)


def timed(model: Translator, lines: Sequence[str], options: Options, tokens: int, rounds: int) -> dict[str, Any]:
    """Seconds of both ways, round after round; the first round warms up."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    texts: dict[bool, list[str]] = {}
    for _ in range(rounds + 1):
        for continuous, found in seconds.items():
            began = perf_counter()
            outputs = model.search(lines, options, tokens=tokens, record=False, continuous=continuous)
            found.append(perf_counter() - began)
            texts[continuous] = [best[0].text for best in outputs]
    plain, steady = (sorted(found[1:]) for found in seconds.values())
    ratio = median(a / b for a, b in zip(seconds[False][1:], seconds[True][1:], strict=True))
    same = sum(one == other for one, other in zip(texts[False], texts[True], strict=True))
    rates = {"plain": len(lines) / median(plain), "continuous": len(lines) / median(steady)}
    return {"tokens": tokens, "beam": options.beam, **rates, "times": ratio, "same": same, "of": len(lines)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--model", type=Path, required=True, help="a trained model, or an export for our own engine")
    parser.add_argument("--data", default="../shared/data/multi30k", help="a folder with Multi30k")
    parser.add_argument("--beams", type=numbers, default=(5, 1))
    parser.add_argument("--tokens", type=numbers, default=(1024, 4096), help="positions at work at a time")
    parser.add_argument("--sentences", type=int, help="of the test set; else all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--uneven", action="store_true", help="long sources, outputs of any length")
    parser.add_argument("--json", type=Path, help="write all figures here")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = Translator.load(asked.model, threads=asked.threads)
    lines = Path(setting.test_text(asked.data)[0]).read_text(encoding="utf-8").splitlines()[: asked.sentences]
    kind, least = (Uneven, 200) if asked.uneven else (Options, 0)
    if asked.uneven:
        lines = [" ".join(lines[first : first + 3]) for first in range(0, len(lines), 3)]
    print("| positions | beam | batch after batch, a second | continuous | times | outputs alike |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = []
    for tokens in asked.tokens:
        for beam in asked.beams:
            row = timed(model, lines, kind(beam=beam, min_length=least), tokens, asked.rounds)
            rows.append(row)
            print(
                f"| {tokens:,} | {beam} | {row['plain']:.0f} | {row['continuous']:.0f} | {row['times']:.2f} "
                f"| {row['same']:,} of {row['of']:,} |",
                flush=True,
            )
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
