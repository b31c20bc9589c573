"""Resume: a run that was killed, whenever and however often, ends with the same weights, bit for bit."""

import json
import os
import random
import signal
import time

import pytest
import torch
from safetensors.torch import load_file

from learn.child import KINDS, STAGES, STEPS, spawn, train
from regard.errors import Interrupted, UsageError
from regard.learn.events import Step
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
