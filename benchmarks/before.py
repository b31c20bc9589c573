"""Is this state of the code as fast as an earlier one? Both train and translate in turn, in one run.

    git worktree add ../before COMMIT
    python benchmarks/before.py ../before --threads 1,2
    python benchmarks/before.py ../before --shapes rnn --works decode --beams 5 --sentences 250

Each state is its own checkout, with its own `benchmarks/ours.py`. The untrained models that translate are written by
the earlier state, which the later one can read.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import train
from decode import job_of, more_arguments, read_more
from turns import Side, arguments, compared, in_turn, names, report
from worker import Job

HOME = Path(__file__).parents[1]


@dataclass(frozen=True)
class State(Side):
    """A process that runs the code of one checkout."""

    home: str = str(HOME)

    @property
    def environment(self) -> dict[str, str]:
        """Modules of that checkout and of no other."""
        threads = str(self.job["threads"])
        return os.environ | {"PYTHONPATH": _paths(self.home), "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


def _paths(home: str) -> str:
    return os.pathsep.join(str(Path(home, name)) for name in ("benchmarks", "src"))


def states(job: Job, before: Path) -> list[Side]:
    """The same job for both."""
    return [State(name, "ours", job, home=str(home.resolve())) for name, home in (("before", before), ("now", HOME))]


def untrained(before: Path, shape: str, data: str, cache: str) -> str:
    """A model folder that the earlier state wrote, in a cache of its own."""
    command = [sys.executable, "-c", f"import setting; print(setting.untrained({shape!r}, {data!r}))"]
    environment = os.environ | {"PYTHONPATH": _paths(str(before)), "REGARD_CACHE": cache}
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return told.splitlines()[-1]


def jobs(asked: argparse.Namespace, cache: str) -> dict[str, tuple[str, Job]]:
    """What is done, by its title, each with the unit of its rate."""
    found: dict[str, tuple[str, Job]] = {}
    for shape, threads in product(asked.shapes, asked.threads):
        if "train" in asked.works:
            for kind, bf16 in train.precisions(asked).items():
                job = train.job(shape, threads, asked, bf16=bf16)
                found[f"Training, {shape}, {kind}, threads: {threads}"] = ("target pieces", job)
        if "decode" in asked.works:
            model = untrained(asked.before, shape, asked.data, cache)
            for beam in asked.beams:
                job = {**job_of("decode", asked), "beam": beam, "threads": threads, "model": model}
                found[f"Decoding, {shape}, beam {beam}, threads: {threads}"] = ("sentences", job)
    return found


def main() -> None:
    """Measure what was asked for."""
    parser = train.more_arguments(more_arguments(arguments(__doc__)))
    parser.add_argument("before", type=Path, help="a checkout of the earlier state")
    parser.add_argument("--works", type=names, default=("train", "decode"), help="what is measured (train,decode)")
    asked = read_more(parser)
    asked.sizes = asked.sizes or (4,) if asked.quick else asked.sizes or (64,)
    found: dict[str, Any] = {}
    with TemporaryDirectory() as cache:
        for number, (title, (unit, job)) in enumerate(jobs(asked, cache).items()):
            if job["work"] == "decode":
                job["outputs"] = str(Path(cache, f"outputs-{number}"))
            measured = in_turn(states(job, asked.before), asked.rounds)
            compared(f"{title}: {unit}", (), measured)
            found[title] = [each.told() for each in measured]
    report(found, asked.json)


if __name__ == "__main__":
    main()
