"""The mechanism benches: hard attention, the scores and scopes, and why dot products are scaled.

    python benchmarks/mechanisms.py [--only hard|score|scale] [--quick] [--json FILE] [--pictures FOLDER]

Prints tables, and writes the results as JSON and the pictures of docs/attention.md. Arms run as two
single-thread processes side by side. A full run takes about thirteen minutes of processor time; --quick, one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import flatness
import lookup
import pictures
import reversal
import torch
from measure import table

NOISE_AT = (0, 100, 200, 400)


def side_by_side(job: Callable[..., Any], calls: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> Iterator[Any]:
    """The results of `job(*args, **settings)` for every call, two at a time, in order."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for future in [pool.submit(job, *args, **settings) for args, settings in calls]:
            yield future.result()


def hard(quick: bool, folder: Path) -> list[dict[str, Any]]:
    """Four ways to train the lookup, two seeds each, and the noise of the gradient at equal weights."""
    steps, every, batches = (500, 50, 50) if quick else (4000, 50, 400)
    calls = []
    for seed in (0, 1):
        for arm in lookup.ARMS:
            at = NOISE_AT if arm in ("hard, no baseline", "hard, baseline") else ()
            calls.append(((arm, seed), {"steps": steps, "every": every, "noise_at": at, "batches": batches}))
    results = list(side_by_side(lookup.train, calls))
    shown = [step for step in (500, 1000, 2000, 4000) if step <= steps]
    print(f"Lookup: accuracy of two seeds after {', '.join(map(str, shown))} steps\n")
    table(
        ["arm", *(f"@{step}" for step in shown), "CPU seconds"],
        [
            [
                arm,
                *(" / ".join(f"{one['accuracy'][step]:.2f}" for one in of(results, arm)) for step in shown),
                " / ".join(f"{one['seconds']:.0f}" for one in of(results, arm)),
            ]
            for arm in lookup.ARMS
        ],
    )
    print(
        f"Standard deviation of the gradient over {batches} batches at the same weights: "
        "baseline 0, moving average, ratio\n"
    )
    table(
        ["weights of", "seed", *(f"step {step}" for step in NOISE_AT)],
        [
            [one["arm"], str(one["seed"]), *(f"{a:.3f}, {b:.3f} ({a / b:.1f}x)" for a, b in one["noise"].values())]
            for one in results
            if one["noise"]
        ],
    )
    pictures.hard(results, folder / "hard.png")
    return results


def score(quick: bool, folder: Path) -> list[dict[str, Any]]:
    """Every score and scope on reversal: exact match by length, and how often the best key is the right one."""
    settings = {"steps": 60, "each": 64} if quick else {"steps": 1500, "each": 512}
    results = list(side_by_side(reversal.train, [((arm, 0), settings) for arm in reversal.ARMS]))
    names = [f"{low}-{high}" for low, high in reversal.BUCKETS]
    print(f"Reversal: exact match by length after {settings['steps']} steps, seed 0\n")
    table(
        ["arm", *names, "best key = gold, 15-20", "21-30", "parameters", "CPU seconds"],
        [
            [
                one["arm"],
                *(f"{one['buckets'][name][0]:.2f}" for name in names),
                *("-" if one["weights"] is None else f"{one['buckets'][name][1]:.2f}" for name in names[2:]),
                f"{one['parameters']:,}",
                f"{one['seconds']:.0f}",
            ]
            for one in results
        ],
    )
    pictures.alignments(results, folder / "scores.png")
    return results


def why_scale(quick: bool, folder: Path) -> list[Any]:
    """Entropy, trace of the Jacobian and largest weight over the width, unscaled and scaled."""
    rows = flatness.rows(400 if quick else flatness.DRAWS)
    print(f"Softmax over {flatness.KEYS} keys: entropy / sum p(1-p) / max p\n")
    table(
        ["width", "dot", "scaled_dot"],
        [[str(width), *(" / ".join(f"{number:.2f}" for number in three) for three in pair)] for width, *pair in rows],
    )
    pictures.scale(rows, folder / "scale.png")
    return rows


def of(results: list[dict[str, Any]], arm: str) -> list[dict[str, Any]]:
    """The results of one arm, a seed each."""
    return [one for one in results if one["arm"] == arm]


def main() -> None:
    """Run what was asked for."""
    benches = {"scale": why_scale, "hard": hard, "score": score}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=benches, help="one bench instead of all")
    parser.add_argument("--quick", action="store_true", help="few steps: to see that it runs, not what it shows")
    parser.add_argument("--json", type=Path, help="write all results here")
    parser.add_argument("--pictures", type=Path, default=Path("docs/pictures"), help="folder for the pictures")
    asked = parser.parse_args()
    found = {}
    for name in [asked.only] if asked.only else benches:
        began = perf_counter()
        found[name] = benches[name](asked.quick, asked.pictures)
        print(f"{name}: {perf_counter() - began:.0f} s by the clock; PyTorch {torch.__version__}\n", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
