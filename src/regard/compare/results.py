"""What a trial brought: its scores, how long it trained and how fast, and how it learned; and what an arm's did."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from safetensors import safe_open

from regard.compare.arms import Arm
from regard.compare.runner import LINKS, OUTPUTS, PROBABILITIES, SCORES, Outcome
from regard.compare.trials import RUN, Trial
from regard.data.pair import Link, read_gold
from regard.evaluate import Bucket, Score
from regard.evaluate.metrics import RENAMED


@dataclass(frozen=True)
class Result:
    """One trial, measured. Of a finished model the training is known only as far as its folder tells.

    `scores` and `lengths` are what `regard evaluate --json` wrote; the first score is the one that matters most.
    `links` are those that the model found in each pair, where its alignment error was measured; `probabilities` say how
    sure it was of each output, where it tells. `asked` are questions and right answers of a model's own, where it hides
    words of the test sentences: which, depends on its pieces.
    """

    trial: Trial
    model: Path
    parameters: int
    scores: dict[str, Score]
    lengths: tuple[Bucket, ...]
    aer: float | None
    sentences_per_second: float | None
    outputs: tuple[str, ...]
    links: tuple[tuple[Link, ...], ...] | None = None
    probabilities: tuple[float, ...] | None = None
    updates: int | None = None
    seconds: float | None = None
    pieces_per_second: float | None = None
    curve: tuple[tuple[float, dict[str, float]], ...] = ()  # (seconds, what a validation measured)
    asked: tuple[Sequence[str], Sequence[str]] | None = None

    @property
    def perplexity(self) -> float | None:
        """Of a piece of the validation pairs, at the last validation."""
        nll = self.curve[-1][1].get("nll") if self.curve else None
        return None if nll is None else math.exp(nll)


@dataclass(frozen=True)
class ArmResult:
    """The trials of one arm that were measured: at least one, in the order of their seeds."""

    arm: Arm
    trials: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The trial that stands for the arm where one must: its sentences are shown."""
        return self.trials[0]

    def mean(self, of: Callable[[Result], float | None]) -> float | None:
        """A figure's mean over the trials that have it; nothing where none has."""
        found = [value for value in map(of, self.trials) if value is not None]
        return fmean(found) if found else None


def read_results(outcomes: Sequence[Outcome]) -> list[ArmResult]:
    """What the trials that did not fail left in their folders, arm by arm in the order in which the arms were given."""
    done = [read_result(each) for each in outcomes if not each.error]
    arms = dict.fromkeys(each.trial.arm for each in outcomes)
    found = {arm: tuple(each for each in done if each.trial.arm == arm) for arm in arms}
    return [ArmResult(arm, trials) for arm, trials in found.items() if trials]


def read_result(outcome: Outcome) -> Result:
    """Read what a trial left in its folder."""
    folder, trial = outcome.folder, outcome.trial
    found = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    model = _model(Path(trial.arm.models[trial.number]) if trial.arm.finished else folder / RUN)
    return Result(
        trial=trial,
        model=model,
        parameters=_parameters(model),
        scores={each["name"]: _score(each) for each in found["scores"]},
        lengths=tuple(_bucket(each) for each in found.get("lengths", ())),
        aer=found["alignment"]["aer"] if "alignment" in found else None,
        sentences_per_second=found.get("speed", {}).get("sentences_per_second"),
        outputs=tuple((folder / OUTPUTS).read_text(encoding="utf-8").split("\n")[:-1]),
        links=_links(folder / LINKS),
        probabilities=_numbers(folder / PROBABILITIES),
        **_training(model.parent / "log.jsonl"),
    )


def _links(path: Path) -> tuple[tuple[Link, ...], ...] | None:
    """The links that were found, a line a pair."""
    if not path.is_file():
        return None
    return tuple(read_gold(line)[0] for line in path.read_text(encoding="utf-8").split("\n")[:-1])


def _numbers(path: Path) -> tuple[float, ...] | None:
    """Numbers, a line each."""
    return tuple(map(float, path.read_text(encoding="utf-8").split())) if path.is_file() else None


def _model(folder: Path) -> Path:
    return folder / "best" if (folder / "best").is_dir() else folder


def _bucket(found: dict[str, Any]) -> Bucket:
    return Bucket(found["low"], found["high"], found["count"], _score(found["score"]))


def _score(found: dict[str, Any]) -> Score:
    """A score as `regard evaluate` writes it; of one without an interval both ends are the value itself."""
    value = found["value"]
    return Score(found["name"], value, found.get("signature", ""), found.get("low", value), found.get("high", value))


def _parameters(model: Path) -> int:
    """How many numbers the weights hold, from the head of their file."""
    with safe_open(model / "weights.safetensors", "numpy") as weights:
        shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118, it is no dict
    return sum(math.prod(shape) for shape in shapes)


def _training(log: Path) -> dict[str, Any]:
    """What the run's log tells; nothing where there is none."""
    if not log.is_file():
        return {}
    events = _valid(json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    steps = [event for event in events if event["event"] == "step"]
    judged = [event for event in events if event["event"] == "validate"]
    return {
        "updates": max((event["number"] for event in events), default=None),
        "seconds": max((event.get("seconds", 0.0) for event in events), default=None),
        "pieces_per_second": median(event["speed"] for event in steps) if steps else None,
        "curve": tuple((event["seconds"], _present(event["values"])) for event in judged),
    }


def _present(values: dict[str, float]) -> dict[str, float]:
    """Values by the names that their metrics have today."""
    return {RENAMED.get(name, name): value for name, value in values.items()}


def _valid(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a log says once the updates are left out that a run made again after it was cut off."""
    found: list[dict[str, Any]] = []
    for event in events:
        if event["event"] == "resume":
            found = [each for each in found if each["number"] <= event["number"]]
        found.append(event)
    return found
