"""Change one place of the source at a time, in a copy, and see whether a test fails.

Which places is drawn at random (`--seed`) from the modules named; the tests that run the changed function decide, the
nearest first. A change that no test notices is printed with its file and line. Those that make no difference stand in
`same.toml`, each with its reason, and are not counted. The exit code is 1 where fewer than 95 % of the others were
noticed. docs: CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from mutants.changes import Change, changes_of
from mutants.reached import HOME, Test, choose, environment, reached, test_files

MODULES = (
    *("attend", "predict", "encode", "embed", "learn", "search", "evaluate", "export"),
    "align",
)
SAME = Path(__file__).with_name("same.toml")
# What most tests import, beside Regard itself.
HEAVY = (
    "torch",
    "jaxtyping",
    "beartype",
    "datasets",
    "tokenizers",
    "pydantic",
    "accelerate",
    "matplotlib",
    "sacrebleu",
)
ENOUGH = 0.95
PATIENCE = 2  # times as long as the tests take unchanged and watched, and half a minute: then they go on for ever
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "runs", "dist", "*.egg-info", ".*_cache", "__pycache__")


@dataclass(frozen=True)
class Trial:
    """What became of a change: "noticed", "late" (no end in time, which is noticed too), "same", "survived"."""

    change: Change
    outcome: str
    tests: int


def main(arguments: Sequence[str] | None = None) -> int:
    """`python benchmarks/mutants`."""
    asked = _parser().parse_args(arguments)
    changes = [each for each in draw(asked.modules, asked.seed) if not asked.only or named(each) & set(asked.only)]
    print(f"{len(changes):,} places to change in {', '.join(asked.modules)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [copy_tree(Path(folder) / f"tree{number}") for number in range(asked.jobs)]
        files = asked.tests or test_files(asked.modules)
        began = time.monotonic()
        tests = reached(trees, files)
        took = time.monotonic() - began
        print(f"{len(tests):,} tests of {len(files)} files pass unchanged, {took:.0f} s to know them", flush=True)
        trials = []
        for trial in tried(changes[: asked.count], tests, trees, asked):
            trials.append(trial)
            _tell(trial)
    return report(trials, asked.modules)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python benchmarks/mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--modules", nargs="+", default=MODULES, help="folders or files under src/regard")
    parser.add_argument("--tests", nargs="+", help="test files to choose from, instead of those that fit the modules")
    parser.add_argument("--only", nargs="+", help="the changes of these places alone: FILE:LINE, FILE:LINE:KIND")
    parser.add_argument("--minutes", type=float, default=30.0, help="no further change is begun after so long")
    parser.add_argument("--count", type=int, default=None, help="no more changes than these")
    parser.add_argument("--seed", type=int, default=1, help="which changes are drawn, and in which order")
    parser.add_argument("--jobs", type=int, default=1, help="how many changes are tried side by side")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one change")
    return parser


def draw(modules: Sequence[str], seed: int, home: Path = HOME) -> list[Change]:
    """All changes of the modules in a random order."""
    package, changes = home / "src" / "regard", []
    for module in modules:
        place = package / module
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            changes += changes_of(path.read_text(encoding="utf-8"), path.relative_to(package).as_posix())
    random.Random(seed).shuffle(changes)
    return changes


def named(change: Change) -> set[str]:
    """How `--only` may name a change."""
    return {f"{change.file}:{change.line}", f"{change.file}:{change.line}:{change.kind}"}


def copy_tree(place: Path, home: Path = HOME) -> Path:
    """A copy of the project to change: the working tree is never touched."""
    shutil.copytree(home, place, ignore=NOT_COPIED)
    return place


class Tree:
    """A copy of the project that one change at a time is put into, and a process that runs tests in it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.server = subprocess.Popen(
            [sys.executable, "-m", "mutants.server", *HEAVY],
            cwd=place,
            env=environment(place),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self.server.communicate()

    def run(self, options: Sequence[str], seconds: float) -> int | None:
        """The exit code of pytest; None where it did not end in time."""
        (self.place / "tmp").mkdir(exist_ok=True)
        print(json.dumps({"options": options, "seconds": seconds}), file=self.server.stdin, flush=True)
        answer = self.server.stdout.readline() if self.server.stdout else ""
        shutil.rmtree(self.place / "tmp", ignore_errors=True)
        return json.loads(answer)

    def outcome(self, change: Change, tests: Sequence[Test]) -> str:
        """Run the tests on the changed source; afterwards it is as it was."""
        if not tests:
            return "survived"
        path, names = self.place / "src" / "regard" / change.file, self.place / "tests.txt"
        source = path.read_text(encoding="utf-8")
        names.write_text("\n".join(test.name for test in tests), encoding="utf-8")
        _write(path, change.apply(source))
        try:
            code = self.run(["-x", f"@{names}"], PATIENCE * sum(test.seconds for test in tests) + 30)
        finally:
            _write(path, source)
        if code == 5:
            raise RuntimeError(f"pytest found none of {len(tests)} tests, first {tests[0].name}")
        return "late" if code is None else "noticed" if code else "survived"


def _write(path: Path, source: str) -> None:
    """Write a source so that Python compiles it anew: it compares times in whole seconds."""
    last = path.stat().st_mtime
    path.write_text(source, encoding="utf-8")
    os.utime(path, (last + 1, last + 1))


def tried(
    changes: Sequence[Change], tests: Sequence[Test], trees: Sequence[Path], asked: argparse.Namespace
) -> Iterator[Trial]:
    """Try one change after another, each in a tree that is free, until the time is up."""
    end, same = time.monotonic() + 60 * asked.minutes, known_same()
    free: SimpleQueue[Tree] = SimpleQueue()
    every = [Tree(each) for each in trees]
    for tree in every:
        free.put(tree)

    def attempt(change: Change) -> Trial | None:
        if time.monotonic() > end:
            return None
        if (change.file, change.was, change.now) in same:
            return Trial(change, "same", 0)
        tree = free.get()
        try:
            chosen = choose(change, tests, asked.seconds)
            return Trial(change, tree.outcome(change, chosen), len(chosen))
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        yield from filter(None, pool.map(attempt, changes))
    for tree in every:
        tree.close()


def known_same(file: Path = SAME) -> set[tuple[str, str, str]]:
    """The changes that make no difference: file, line before, line after."""
    told = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {(each["file"], each["was"], each["now"]) for each in told.get("same", ())}


def _tell(trial: Trial) -> None:
    change = trial.change
    print(f"{trial.outcome:9}{change.file}:{change.line}  {change.kind}, {trial.tests} tests", flush=True)
    if trial.outcome == "survived":
        print(f"    - {change.was}\n    + {change.now}", flush=True)


def report(trials: Sequence[Trial], modules: Sequence[str]) -> int:
    """A table by module; 1 where too little was noticed."""
    columns = ("noticed", "late", "survived", "same")
    print(f"\n{'module':14}{'tried':>9}" + "".join(f"{name:>10}" for name in columns) + f"{'share':>10}")
    for module in (*modules, "all"):
        mine = [each for each in trials if module == "all" or (each.change.file + "/").startswith(f"{module}/")]
        counts = [sum(each.outcome == name for each in mine) for name in columns]
        tried = len(mine) - counts[3]
        share = f"{(counts[0] + counts[1]) / tried:.1%}" if tried else "-"
        print(f"{module:14}{tried:9}" + "".join(f"{count:10}" for count in counts) + f"{share:>10}")
    return int(share_noticed(trials) < ENOUGH)


def share_noticed(trials: Sequence[Trial]) -> float:
    """Of the changes that make a difference, how many were noticed; of none, all."""
    counted = [each for each in trials if each.outcome != "same"]
    return sum(each.outcome != "survived" for each in counted) / len(counted) if counted else 1.0
