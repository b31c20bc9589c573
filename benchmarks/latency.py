"""How long one sentence takes, alone: median and 90th percentile, the first line of a new process, and `--help`.

    python benchmarks/latency.py                        untrained models that write 15 pieces a sentence
    python benchmarks/latency.py --model runs/de-en     a trained one
    python benchmarks/latency.py --shapes transformer --engines torch,ctranslate2-int8 --threads 1
    python benchmarks/latency.py --quick

Engines are those of decode.py. Sentences come one at a time; every engine takes its turn at all of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import setting
from decode import beside, job_of, models, more_arguments, read_more, sides
from turns import Measured, arguments, in_turn, report, row

SENTENCES = 50


def told(title: str, found: list[Measured]) -> None:
    """A Markdown table of the milliseconds of a sentence."""
    print(f"**{title}**\n")
    row(["", "median", "90th percentile", "CPU, mean", "peak MiB", "times the first's median"])
    row(["---"] * 6)
    for each in found:
        middle, most = each.milliseconds(), each.milliseconds(0.9)
        ratio = f"{middle / found[0].milliseconds():.2f}"
        row(
            [
                each.side.name,
                f"{middle:.1f}",
                f"{most:.1f}",
                f"{1000 / each.rate('cpu'):.1f}",
                f"{each.peak:,.0f}",
                ratio,
            ]
        )
    print(flush=True)


def first_line(command: list[str], line: str) -> tuple[float, float]:
    """Seconds from the start of a process to the first line it writes, and of processor that it took in all."""
    began, worked = perf_counter(), _worked()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-m", "regard", *command], **pipes, text=True) as process:
        process.stdin.write(f"{line}\n")
        process.stdin.close()
        process.stdout.readline()
        spent = perf_counter() - began
        process.stdout.read()
    return spent, _worked() - worked


def _worked() -> float:
    """Seconds of processor of all processes that were started here and have ended."""
    return sum(os.times()[2:4])


def starts(folders: dict[str, Path], rounds: int) -> dict[str, tuple[float, float]]:
    """Medians of `regard --help` and of `regard translate`, in turn."""
    commands = {"regard --help": ["--help"]} | {
        f"regard translate, {name}": ["translate", str(folder)] for name, folder in folders.items()
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(first_line(command, "Ein Mann liest ein Buch."))
    found = {name: (median(each[0] for each in both), median(each[1] for each in both)) for name, both in times.items()}
    print("**From the start of a process to its first line: seconds**\n")
    row(["", "median", "CPU"])
    row(["---"] * 3)
    for name, (clock, cpu) in found.items():
        row([name, f"{clock:.2f}", f"{cpu:.2f}"])
    print(flush=True)
    return found


def main() -> None:
    """Measure what was asked for."""
    asked = read_more(more_arguments(arguments(__doc__)))
    asked.sentences = asked.sentences or (5 if asked.quick else SENTENCES)
    found: dict[str, Any] = {}
    chosen = models(asked)
    for name, (folder, engines) in chosen.items():
        for beam, threads in product(asked.beams, asked.threads):
            job = {**job_of("latency", asked), "beam": beam, "threads": threads}
            measured = in_turn(sides(job, folder, engines) + beside(job, asked), asked.rounds)
            told(f"One sentence, {name}, beam {beam}, threads: {threads}: milliseconds", measured)
            found[f"{name}, beam {beam}, threads {threads}"] = [each.told() for each in measured]
    folders = {name: folder for name, (folder, _) in chosen.items()}
    folders |= {
        f"{name}, {engine}": setting.exported(folder, "ctranslate2", "int8")
        for name, (folder, engines) in chosen.items()
        for engine in engines
        if engine == "behind-int8"
    }
    found["starts"] = starts(folders, asked.rounds)
    report(found, asked.json)


if __name__ == "__main__":
    main()
