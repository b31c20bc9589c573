"""The claims of language models and readers on small machines: arms trained with several seeds in one process.

    python benchmarks/language_models.py lstmn --data ../shared/data --out runs/proofs/language

An arm is trained once for each seed, its text cut out of real corpora first (`language_text.py`), and measured on the
test split (with `--split val`, on validation data, where settings are chosen). Told are mean and deviation over seeds,
and seed by seed what each arm has more than the first. What is trained already is not trained again; `--list` names
the proofs.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

import language_text
from language_arms import PROOFS, Arm, Proof

import regard
from regard.tasks.job import TrainJob

PLAIN = ("train.validate_steps=0", "train.save_minutes=0", "train.tensorboard=false")
NOTE = "measured.json"


def main() -> None:
    """Read the command line; train and measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="*", choices=(*PROOFS, []), metavar="PROOF")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("runs/proofs/language"))
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them, where others are trained already")
    parser.add_argument("--split", default="test")
    parser.add_argument("--only", nargs="*", help="labels of the arms to train")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    if asked.list or not asked.proofs:
        print("\n".join(f"{name:12s} {proof.claim}" for name, proof in PROOFS.items()))
        return
    language_text.cut(asked.data, asked.out)
    for name in asked.proofs:
        proof = PROOFS[name]
        arms = [arm for arm in proof.arms if not asked.only or arm.label in asked.only]
        found: dict[str, list[Mapping[str, float]]] = {arm.label: [] for arm in arms}
        for seed in range(asked.first, asked.first + asked.seeds):
            for arm in arms:
                found[arm.label].append(measured(proof, arm, asked.out, seed, asked.split))
                print(f"{name}, seed {seed}, {arm.label}: {found[arm.label][-1]}", flush=True)
        print("\n".join(table(found)), flush=True)


def measured(proof: Proof, arm: Arm, out: Path, seed: int, split: str) -> dict[str, float]:
    """What an arm's model of one seed has, trained if it is not; kept beside its run."""
    data = str(out / arm.data) if arm.cut else arm.data
    run = arm.run(out, seed)
    if arm.start is not None:
        measured(proof, arm.start, out, seed, split)
    if not (run / "seconds.json").is_file():
        began = time.process_time()
        start = [f"task.from={arm.start.run(out, seed)}"] if arm.start else []
        settings = (*PLAIN, *arm.settings, *start)
        job = TrainJob(
            arm.recipe,
            data,
            run,
            steps=arm.steps,
            seed=seed,
            settings=settings,
            resume=(run / "state.safetensors").is_file(),
        )
        job.train()
        (run / "seconds.json").write_text(json.dumps(time.process_time() - began))
    note = run / f"{split}-{NOTE}"
    if not note.is_file():
        model = regard.load(run)
        size = float(sum(weight.numel() for weight in model.model.parameters()))
        values = {**arm.measure(model, data, split), "weights": size}
        note.write_text(json.dumps({**values, "seconds": json.loads((run / "seconds.json").read_text())}))
    return dict(json.loads(note.read_text()))


def table(found: Mapping[str, Sequence[Mapping[str, float]]]) -> Iterator[str]:
    """In Markdown: a row an arm."""
    (first, reference), *_ = found.items()
    names = list(dict.fromkeys(name for each in found.values() for name in each[0]))
    yield "| arm | " + " | ".join(names) + " |"
    yield "| --- |" + " --- |" * len(names)
    for label, seeds in found.items():
        cells = [told([each.get(name, float("nan")) for each in seeds]) for name in names]
        yield f"| {label} | " + " | ".join(cells) + " |"
    for label, seeds in list(found.items())[1:]:
        for name in seeds[0]:
            if name not in reference[0] or name in ("weights", "seconds"):
                continue
            apart = [one[name] - other[name] for one, other in zip(seeds, reference, strict=True)]
            if any(map(math.isnan, apart)):  # what one of them has not
                continue
            yield f"{label} less {first}, {name}: {told(apart)} ({', '.join(f'{each:+.3f}' for each in apart)})"


def told(values: Sequence[float]) -> str:
    """Mean and deviation over seeds."""
    if any(map(math.isnan, values)):
        return "none"
    digits = 0 if min(values) >= 1000 else 2
    mean = f"{fmean(values):,.{digits}f}"
    return f"{mean} ± {stdev(values):.{digits}f}" if len(set(values)) > 1 else mean


if __name__ == "__main__":
    main()
