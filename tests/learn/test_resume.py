"""Resume: a run that was killed, whenever and however often, ends with the same weights, bit for bit."""

import json
import math
import os
import random
import signal
import time

import pytest
import torch
from safetensors.torch import load_file

from learn.child import KINDS, STAGES, STEPS, clocked, spawn, started, train
from regard.errors import Interrupted, UsageError
from regard.learn.events import Step
from regard.learn.minimise import LossModule
from regard.learn.state import read_state
from regard.learn.stop import SIGNALS
from regard.model import load


@pytest.fixture(scope="module")
def wholes(tmp_path_factory):
    """A run of each kind that was never interrupted."""
    folders = {kind: tmp_path_factory.mktemp("whole") / kind for kind in KINDS}
    for spawned in [spawn(folder, kind) for kind, folder in folders.items()]:
        spawned.join()
        assert spawned.exitcode == 0
    return folders


def assert_same(folder, whole):
    """The same state to the last bit, and the same weights for use."""
    ours, theirs = read_state(folder / "state.safetensors"), read_state(whole / "state.safetensors")
    assert ours.tensors.keys() == theirs.tensors.keys()
    assert [name for name in ours.tensors if not torch.equal(ours.tensors[name], theirs.tensors[name])] == []
    for name in ("number", "schedule", "stream", "terms", "random"):
        assert ours.values[name] == theirs.values[name], name
    clock = ("seconds", "validated_seconds")
    for name in set(ours.values["standing"]) - set(clock):
        assert ours.values["standing"][name] == theirs.values["standing"][name], name
    for name in ("last", "best"):
        one, other = (load_file(each / name / "weights.safetensors") for each in (folder, whole))
        assert all(torch.equal(one[key], other[key]) for key in other), name
        assert load(folder / name)
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines][-1]["event"] == "end"


def finish(folder, kind):
    """Resume to the end."""
    spawned = spawn(folder, kind, resume=True)
    spawned.join()
    assert spawned.exitcode == 0


def killed(folder, kind, kill, *, resume=False):
    """Run until the kill."""
    spawned = spawn(folder, kind, resume=resume, kill=kill)
    spawned.join()
    assert spawned.exitcode == -signal.SIGKILL, f"it was to die at {kill}"


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_steps(wholes, tmp_path, kind):
    first, second = sorted(random.Random(kind).sample(range(1, STEPS), 2))
    killed(tmp_path / "run", kind, first)
    killed(tmp_path / "run", kind, second, resume=True)
    finish(tmp_path / "run", kind)
    assert_same(tmp_path / "run", wholes[kind])


@pytest.mark.parametrize("stage", STAGES)
def test_killed_while_state_is_written(wholes, tmp_path, stage, kind="soft"):
    """Before a stage, when there is nothing older to go on from, and after it, when there is."""
    killed(tmp_path / "run", kind, (stage, 1, True))
    killed(tmp_path / "run", kind, (stage, 1, False), resume=True)
    killed(tmp_path / "run", kind, (stage, 4, False), resume=True)
    finish(tmp_path / "run", kind)
    assert_same(tmp_path / "run", wholes[kind])
    assert [each.name for each in (tmp_path / "run").glob(".*")] == [], "something half written was left"


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments(wholes, tmp_path, kind):
    dice = random.Random(17)
    for attempt in range(4):
        spawned = spawn(tmp_path / "run", kind, resume=(tmp_path / "run").exists())
        while attempt == 0 and not (tmp_path / "run").exists():
            time.sleep(0.01)
        time.sleep(dice.uniform(0.0, 0.5))
        spawned.kill()
        spawned.join()
    finish(tmp_path / "run", kind)
    assert_same(tmp_path / "run", wholes[kind])


def by_the_clock(folder, *, resume=False, kill=None, start=1000.0):
    """A training whose budget, rate, validations and saves go by the clock; its exit code."""
    spawned = started(clocked, str(folder), resume, kill, start)
    spawned.join()
    return spawned.exitcode


def history(folder):
    """What was logged of the updates that count: those after a save that a kill undid do not."""
    found = []
    for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "resume":
            found = [each for each in found if each["number"] <= event["number"]]
        if event["event"] == "step":
            found.append(event)
    return found


def test_with_minutes_all_follows_from_the_clock(tmp_path):
    """Rates and validations are those of the clock's seconds; with the same clock, so are the weights, bit for bit.

    Cosine: before update n the clock shows (n - 1) x 2.25 of 30 seconds. Killed at updates 4 and 9, when other clocks
    go on: each update counts once, and the time between the last save and the kill is no time of the run.
    """
    assert by_the_clock(tmp_path / "whole") == 0
    for attempt, kill in enumerate([4, 9, None]):
        code = by_the_clock(tmp_path / "run", resume=attempt > 0, kill=kill, start=37.0 * attempt)
        assert code == (0 if kill is None else -signal.SIGKILL)
    assert_same(tmp_path / "run", tmp_path / "whole")
    ours, theirs = (read_state(tmp_path / each / "state.safetensors").values["standing"] for each in ("run", "whole"))
    assert ours == theirs and ours["seconds"] == 14 * 2.25  # the first number of updates that takes 30 seconds
    found = history(tmp_path / "run")
    assert [each["number"] for each in found] == list(range(1, 15))
    assert [each["seconds"] for each in found] == [2.25 * number for number in range(1, 15)]
    rates = [0.01 * min(1, n / 2) * (1 + math.cos(math.pi * (n - 1) * 2.25 / 30)) / 2 for n in range(1, 15)]
    assert [each["rate"] for each in found] == pytest.approx(rates, rel=1e-3)
    lines = [len((tmp_path / each / "log.jsonl").read_text().splitlines()) for each in ("run", "whole")]
    assert lines[0] > lines[1] + 2  # beside the two resumes: updates that were made twice, and are void


@pytest.mark.parametrize("began", [True, False])
def test_a_run_goes_on_in_the_precision_it_began_with(tmp_path, monkeypatch, began):
    """`auto` is the answer of a stopwatch, and may be another the next day."""
    used, forward = [], LossModule.forward

    def noted(self, batch, own):
        used.append(self.bf16)
        return forward(self, batch, own)

    monkeypatch.setattr(LossModule, "forward", noted)
    monkeypatch.setattr("regard.learn.learner.can_bf16", lambda: True)
    for steps, answer in ((2, began), (4, not began)):
        monkeypatch.setattr("regard.learn.run.use_bf16", lambda precision, answer=answer: answer)
        train(tmp_path / "run", resume=steps > 2, steps=steps, precision="auto")
    assert set(used) == {began}
    monkeypatch.setattr("regard.learn.learner.can_bf16", lambda: False)  # another machine, which cannot
    monkeypatch.setattr("regard.learn.run.use_bf16", lambda precision: False)
    train(tmp_path / "run", resume=True, steps=5, precision="auto")
    assert used[-1] is False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_step_finish_and_saves(wholes, tmp_path, number, kind="soft"):
    spawned = spawn(tmp_path / "run", kind, kill=number)
    spawned.join()
    assert spawned.exitcode == 130
    assert read_state(tmp_path / "run" / "state.safetensors").values["number"] == 4
    finish(tmp_path / "run", kind)
    assert_same(tmp_path / "run", wholes[kind])


def test_signals_are_given_back_and_a_second_interrupt_is_obeyed_at_once(tmp_path):
    before = [signal.getsignal(number) for number in SIGNALS]

    def tell(event, times):
        for _ in range(times if isinstance(event, Step) else 0):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match=r"SIGINT: stopped after update 1; the state is in .*run.\n  Go on with"):
        train(tmp_path / "run", tell=lambda event: tell(event, 1))
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", resume=True, tell=lambda event: tell(event, 2))
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_finished_run_is_resumed_to_more_steps(wholes, tmp_path, kind="soft"):
    short = train(tmp_path / "run", kind, steps=8)
    assert (short.number, short.reason) == (8, "steps")
    again = train(tmp_path / "run", kind, resume=True, steps=8)
    assert (again.number, again.best) == (8, short.best)
    assert train(tmp_path / "run", kind, resume=True).number == STEPS
    ours, theirs = (read_state(each / "state.safetensors") for each in (tmp_path / "run", wholes[kind]))
    assert all(torch.equal(ours.tensors[name], theirs.tensors[name]) for name in theirs.tensors)


def test_a_resume_says_so_in_the_log_and_mends_its_last_line(tmp_path):
    train(tmp_path / "run", steps=4)
    log = tmp_path / "run" / "log.jsonl"
    with log.open("a") as file:
        file.write('{"event": "st')  # as a kill in the middle of a line leaves it
    train(tmp_path / "run", resume=True, steps=6)
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [(each["event"], each["number"]) for each in events] == [
        ("start", 0), ("step", 2), ("step", 4), ("validate", 4), ("end", 4),
        ("resume", 4), ("step", 6), ("validate", 6), ("end", 6),
    ]  # fmt: skip


def test_nothing_to_resume(tmp_path):
    with pytest.raises(UsageError, match="holds no run to go on with: it has no state"):
        train(tmp_path / "nowhere", resume=True)
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds no run to go on with"):
        train(tmp_path, resume=True)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]
