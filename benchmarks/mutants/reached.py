"""Which tests are worth running for a change: those that run its function, the nearest and the quickest first."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.changes import Change
from mutants.server import PLAIN

HOME = Path(__file__).parents[2]
KEPT = HOME / "build" / "mutants.json"
# Tests of whole models, which run nearly everything.
WHOLE = (
    "tests/fast/test_static_cache.py",
    "tests/test_contract.py",
    "tests/test_model.py",
    "tests/test_where_dropped.py",
)
# Tests of the house, of pages in a browser, of commands in processes of their own: slow, and blind to most changes.
LEFT_OUT = re.compile(
    r"tests/(browser|cli|cluster|data|show|compare)/|tests/test_(benchmarks|house|mutants|readme)\.py"
)


@dataclass(frozen=True)
class Test:
    """A test that passes on the unchanged source; `starts`: it starts processes, whose functions are not known."""

    name: str
    seconds: float
    functions: frozenset[str]
    starts: bool

    @property
    def file(self) -> str:
        """The file it is in."""
        return self.name.partition("::")[0]


def test_files(modules: Sequence[str], home: Path = HOME) -> list[str]:
    """The test files that have to do with modules: of the folder of the same name, or of none and naming them."""
    names = [Path(module).with_suffix("").as_posix() for module in modules]
    asks = re.compile(rf"regard\.({'|'.join(re.escape(each.replace('/', '.')) for each in names)})\b")
    found = []
    for path in sorted((home / "tests").rglob("test_*.py")):
        file = path.relative_to(home).as_posix()
        mirrors = any(file.startswith((f"tests/{each}/", _mirror(each))) for each in names)
        names_them = path.parent.name == "tests" and asks.search(path.read_text(encoding="utf-8"))
        if not LEFT_OUT.match(file) and (mirrors or names_them or file in WHOLE or "golden" in file):
            found.append(file)
    return found


def _mirror(name: str) -> str:
    """The test file of the same name as a module."""
    return (Path("tests") / name).with_name(f"test_{Path(name).name}.py").as_posix()


def reached(trees: Sequence[Path], files: Iterable[str], kept: Path = KEPT) -> list[Test]:
    """Run the test files once in unchanged copies, side by side; what is known of unchanged files is kept.

    Of a file, single tests may be named as pytest names them: the others are then not known.
    """
    told = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    names: dict[str, list[str]] = {}
    for name in files:
        names.setdefault(name.partition("::")[0], []).append(name)
    marks = {file: _mark(trees[0], file, names[file]) for file in names}
    new = [file for file, mark in marks.items() if told.get(file, {}).get("mark") != mark]
    with ThreadPoolExecutor(len(trees)) as pool:
        shares = [[name for file in new[number :: len(trees)] for name in names[file]] for number in range(len(trees))]
        for found in pool.map(_watch, trees, shares):
            for file, each in found.items():
                told[file] = each | {"mark": marks[file]}
    if new:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(told), encoding="utf-8")
    return [test for file in marks if file in told for test in _tests(told[file])]


def _tests(told: dict[str, Any]) -> list[Test]:
    shared = frozenset(told["shared"])
    return [
        Test(name, each["seconds"], shared.union(each["functions"]), each["starts"] or told["starts"])
        for name, each in told["tests"].items()
        if each["passed"]
    ]


def _mark(tree: Path, file: str, names: Sequence[str]) -> str:
    """A number that changes with the source, with what tests share, with the test file, and with what it is to run."""
    helpers = [path for path in (tree / "tests").rglob("*.py") if not path.name.startswith(("test_", "conftest"))]
    sources = [path for path in (tree / "src").rglob("*.*") if path.suffix in (".py", ".toml")]
    text = b"".join(path.read_bytes() for path in (*sorted(helpers), *sorted(sources), tree / file))
    return hashlib.sha256(text + " ".join(names).encode()).hexdigest()


def _watch(tree: Path, names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return {}
    out = tree / "reach.json"
    out.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLAIN, "-p", "mutants.reach", *names],
        cwd=tree,
        env=environment(tree) | {"REACH_OUT": str(out)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not out.is_file() or done.returncode not in (0, 1):  # a file that cannot be read keeps all others from running
        raise RuntimeError(f"the tests could not be run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(out.read_text(encoding="utf-8"))


def environment(tree: Path) -> dict[str, str]:
    """The environment in which `regard` is that of a copied tree, on one thread."""
    place = tree / "tmp"
    place.mkdir(exist_ok=True)
    paths = os.pathsep.join((str(tree / "src"), str(tree / "benchmarks")))
    own = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "TMPDIR": str(place), "TOKENIZERS_PARALLELISM": "false"}
    return os.environ | own


def choose(change: Change, tests: Iterable[Test], seconds: float) -> list[Test]:
    """The tests of a change, the nearest files first, and of each file the quickest, for about so many seconds."""
    function, own = f"{change.file}:{change.function}", f"{Path(change.file).parent.as_posix()}/"
    fitting = [test for test in tests if function in test.functions]
    if own != "./":  # what other processes run is not known; tests beside the module may be about it
        fitting += [test for test in tests if test.starts and test not in fitting and f"tests/{own}" in test.file]
    files: dict[str, list[Test]] = {}
    for test in sorted(fitting, key=lambda test: test.seconds):
        files.setdefault(test.file, []).append(test)
    chosen, left = [], seconds
    for file in sorted(files, key=lambda file: (_distance(change, file), sum(each.seconds for each in files[file]))):
        for test in files[file]:
            if test.seconds <= left or not chosen:
                chosen.append(test)
                left -= test.seconds
    return chosen


def _distance(change: Change, file: str) -> int:
    """0: the test file of the module; 1: of its folder, or of all parts; 2: any other."""
    folder, name = Path(change.file).parent.as_posix(), Path(change.file).stem
    beside = f"tests/{folder}/" if folder != "." else "tests/"
    if file == f"{beside}test_{name}.py":
        return 0
    return 1 if (folder != "." and file.startswith(beside)) or file == "tests/test_contract.py" else 2
