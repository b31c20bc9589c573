"""Trainings that are killed, again and again, and must end with the weights of one that never was, bit for bit.

Each trial is `regard train` in a process of its own, killed without warning (SIGKILL) while it begins, between updates,
or while it writes a save, and resumed each time, to the end. Then its state and every file of `last/` and `best/` are
compared with those of a run that was left alone, the clock aside. Trials that are done are not done again. Example:

    python benchmarks/kills.py --out runs/proofs/kills --kills 100
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from regard.data.builtin import examples
from regard.learn.state import read_state

STEPS = 48
PAIRS = {"train": 1500, "val": 23, "test": 23}
COMMON = {
    "task.source.vocabulary": 600,
    "train.tokens": 512,
    "train.save_steps": 4,
    "train.save_minutes": 0,
    "train.validate_steps": 16,
    "train.metric": "nll",  # better at each validation, so that `best/` is written again; BLEU stays at 0 for so long
    "train.tensorboard": "false",
}
THIN = {f"{place}.width": 64 for place in ("embed", "predict.embed")}
RECURRENT = THIN | {"encode.hidden": 96, "predict.hidden": 96}
DROPOUT = {f"{place}.dropout": 0.1 for place in ("embed", "encode", "predict", "predict.embed")}
FP32, BF16 = {"train.precision": "fp32"}, {"train.precision": "bf16"}
# What is trained: the recipe, its settings, and in how many processes.
KINDS: dict[str, tuple[str, dict[str, object], int]] = {
    "recurrent, fp32": ("rnnsearch", RECURRENT | DROPOUT | FP32, 1),
    "recurrent, bf16": ("rnnsearch", RECURRENT | DROPOUT | BF16, 1),
    "hard attention, bf16": ("rnnsearch-hard", RECURRENT | DROPOUT | BF16, 1),
    "Transformer, bf16": ("transformer-tiny", THIN | DROPOUT | BF16, 1),
    "guided Transformer, bf16": ("transformer-guided", THIN | BF16, 1),
    "two processes, bf16": ("transformer-tiny", THIN | DROPOUT | BF16, 2),
}
MANNERS = ("save", "update", "save", "beginning", "save", "update")  # when a trial is killed, in turn
KILLS = 4  # of a trial
PATIENCE = 600  # seconds; a training that takes longer hangs
DRAFTS = (".state.safetensors-", ".last-", ".best-")  # names of what is being written
CLOCK = {"seconds", "validated_seconds"}  # what no two runs have in common
# Of a model folder; the last two tell how long it took.
WEIGHTS, SCORES, CARD = "weights.safetensors", "scores.json", "README.md"


@dataclass
class Trial:
    """What became of one training."""

    kind: str
    number: int
    kills: list[str] = field(default_factory=list)  # the manner of each
    differs: list[str] = field(default_factory=list)
    lost: str = ""  # why it could not go on


def main() -> None:
    """Read the command line, run what is missing, print a table; the exit code says whether all held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the runs and what became of them")
    parser.add_argument("--kills", type=int, default=100, help="how many kills in all, at least")
    parser.add_argument("--jobs", type=int, default=2, help="trainings side by side")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    found = sorted(tried(asked), key=lambda trial: (list(KINDS).index(trial.kind), trial.number))
    print(table(found))
    if any(trial.lost or trial.differs for trial in found):
        sys.exit("Not all came back as they were: see results.jsonl.")


def tried(asked: argparse.Namespace) -> list[Trial]:
    """All trials, those of an earlier call included, until there were as many kills as asked for."""
    results = asked.out / "results.jsonl"
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    found = [Trial(**json.loads(line)) for line in lines]
    done = {(trial.kind, trial.number) for trial in found}
    plan = ((kind, number) for number in count() for kind in KINDS if (kind, number) not in done)
    write_corpus(asked.out / "corpus")
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(lambda kind: whole_run(asked.out, kind), KINDS))
        while (missing := asked.kills - sum(len(trial.kills) for trial in found)) > 0:
            some = [next(plan) for _ in range(min(-(-missing // KILLS), asked.jobs * 3))]
            for trial in pool.map(lambda each: attempt(asked.out, *each, asked.seed), some):
                found.append(trial)
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(trial)) + "\n")
                state = trial.lost or ", ".join(trial.differs) or "the same"
                print(f"{trial.kind} {trial.number}: killed at {', '.join(trial.kills)}: {state}", flush=True)
    return found


def write_corpus(folder: Path) -> None:
    """Sentences of the phrasebook, with few held out: validation takes no longer than training."""
    folder.mkdir(exist_ok=True)
    for split, size in PAIRS.items():
        pairs = list(examples("phrasebook", split=split, size=size, source="en", target="fr"))
        for language, side in (("en", "source"), ("fr", "target")):
            lines = "".join(f"{getattr(pair, side)}\n" for pair in pairs)
            (folder / f"{split}.{language}").write_text(lines, encoding="utf-8")


def whole_run(out: Path, kind: str) -> None:
    """A training that is left alone, made once."""
    folder, done = out / "whole" / kind, out / "whole" / f"{kind}.done"
    if done.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    with begun(out, kind, folder) as process:
        said = process.communicate(timeout=PATIENCE)[1]
    if process.returncode:
        sys.exit(f"{kind}: {said.decode()}")
    done.touch()
    print(f"{kind}: {STEPS} updates, left alone, in {time.monotonic() - began:.0f} s", flush=True)


def attempt(out: Path, kind: str, number: int, seed: int) -> Trial:
    """Kill a training some times, let it come to its end, and compare."""
    folder, trial = out / "trials" / f"{kind} {number}", Trial(kind, number)
    shutil.rmtree(folder, ignore_errors=True)
    dice = random.Random(f"{seed} {kind} {number}")
    manners = cycle(dice.sample(MANNERS, len(MANNERS)))
    seconds = ending(out / "whole" / kind)
    code: int | None = None
    while code != 0:
        manner = next(manners) if len(trial.kills) < KILLS else "none"
        before = beginnings(folder)
        with begun(out, kind, folder) as process:
            killed = manner != "none" and wait_for(manner, process, folder, dice, seconds)
            if killed:
                kill(process)
            try:
                said = process.communicate(timeout=PATIENCE)[1]
            except subprocess.TimeoutExpired:
                kill(process)
                trial.lost = "it hangs"
        code = process.returncode
        if killed and code == -signal.SIGKILL:  # else it had ended before
            trial.kills.append(moment(folder, before))
        if code not in (0, -signal.SIGKILL):
            trial.lost = said.decode(errors="replace")[-500:]
        if trial.lost:
            return trial
    trial.differs = sorted(differences(folder, out / "whole" / kind))
    shutil.rmtree(folder)
    return trial


def begun(out: Path, kind: str, folder: Path) -> subprocess.Popen[bytes]:
    """A training that begins, or goes on where there is something to go on from."""
    recipe, settings, processes = KINDS[kind]
    words = ["train", recipe, "--data", out / "corpus", "--from", "en", "--to", "fr", "--steps", STEPS]
    words += ["--processes", processes, "--out", folder, *(["--resume"] if folder.exists() else [])]
    for name, value in (COMMON | settings).items():
        words += ["-s", f"{name}={value}"]
    return subprocess.Popen(
        [sys.executable, "-m", "regard", *map(str, words)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_for(manner: str, process: subprocess.Popen[bytes], folder: Path, dice: random.Random, seconds: float) -> bool:
    """Wait for the moment of a kill; False where the training ends before it."""
    if manner == "beginning":
        return lives(process, dice.uniform(0.5, 6.0))
    before = beginnings(folder)
    while beginnings(folder) == before:
        if not lives(process, 0.01):
            return False
    if manner == "update":
        return lives(process, dice.uniform(0.0, 2 * seconds / KILLS))
    for _ in range(dice.randrange(1, 5)):  # of some names that appear, the last
        for written in (True, False):
            while bool(drafts(folder)) is written:
                if not lives(process, 0.0005):
                    return False
    time.sleep(dice.choice([0.0, 0.001, 0.005]))
    return True


def moment(folder: Path, before: int) -> str:
    """What a training was doing when it was killed, by what it left; it had begun `before` times until then."""
    if beginnings(folder) == before:  # drafts are those of an earlier kill, not yet taken away
        return "beginning"
    return "save" if drafts(folder) else "update"


def lives(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Is it still there after so long?"""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a training with all processes it has started, at once."""
    for each in [process.pid, *descendants(process.pid)]:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue


def descendants(parent: int) -> Iterator[int]:
    """The processes that a process has started, and those that they have."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    except OSError:
        children = []
    for child in map(int, children):
        yield child
        yield from descendants(child)


def drafts(folder: Path) -> list[str]:
    """What is being written."""
    try:
        return [name for name in os.listdir(folder) if name.startswith(DRAFTS)]  # noqa: PTH208 - as fast as can be
    except OSError:
        return []


def events(folder: Path) -> list[dict[str, object]]:
    """The whole lines of a run's log."""
    try:
        lines = (folder / "log.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        return []
    return [json.loads(line) for line in lines if line.endswith("}")]


def beginnings(folder: Path) -> int:
    """How often a run has begun or gone on."""
    return sum(event["event"] in ("start", "resume") for event in events(folder))


def ending(folder: Path) -> float:
    """The seconds that a run took in training."""
    return next(float(str(event["seconds"])) for event in reversed(events(folder)) if event["event"] == "end")


def differences(folder: Path, whole: Path) -> Iterator[str]:
    """What is not the same, bit for bit, in two runs; the clock aside."""
    ours, theirs = (read_state(each / "state.safetensors") for each in (folder, whole))
    yield from _unlike("state", ours.tensors, theirs.tensors)
    values, others = _timeless(ours.values), _timeless(theirs.values)
    yield from (f"state: {name}" for name in values.keys() | others.keys() if values.get(name) != others.get(name))
    found, expected = ({path.name for path in each.iterdir()} for each in (folder, whole))
    yield from found ^ expected  # such as what was half written
    for place in ("last", "best"):
        yield from _unlike(place, *(load_file(each / place / WEIGHTS) for each in (folder, whole)))
        names = {path.name for each in (folder, whole) for path in (each / place).iterdir()} - {WEIGHTS, CARD}
        for name in names:
            if _content(folder / place / name) != _content(whole / place / name):
                yield f"{place}: {name}"


def _content(path: Path) -> object:
    if not path.exists():
        return None
    return _timeless(json.loads(path.read_bytes())) if path.name == SCORES else path.read_bytes()


def _timeless(value: Any) -> Any:
    """A value of JSON without what the clock gave."""
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if key not in CLOCK}
    return value


def _unlike(where: str, ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> Iterator[str]:
    for name in ours.keys() | theirs.keys():
        if name not in ours or name not in theirs or not _same_bits(ours[name], theirs[name]):
            yield f"{where}: {name}"


def _same_bits(one: Tensor, other: Tensor) -> bool:
    """Stricter than `torch.equal`, for which 0 is -0 and no NaN is like another."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return torch.equal(*(each.reshape(-1).view(torch.uint8) for each in (one, other)))


def table(found: Iterable[Trial]) -> str:
    """A row a kind."""
    rows = [
        "| training | trials | kills | as it began | between saves | within a save | lost | different |",
        "|---" * 8 + "|",
    ]
    trials = list(found)
    for kind in (*KINDS, "all"):
        ours = [trial for trial in trials if kind in (trial.kind, "all")]
        kills = Counter(manner for trial in ours for manner in trial.kills)
        numbers = [len(ours), kills.total(), kills["beginning"], kills["update"], kills["save"]]
        numbers += [sum(bool(trial.lost) for trial in ours), sum(bool(trial.differs) for trial in ours)]
        rows.append(f"| {kind} | {' | '.join(map(str, numbers))} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
