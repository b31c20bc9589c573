"""`make proof-kills`: it kills what it says, finds what differs, and goes on where it stopped."""

import json
import os
import shutil
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from learn.child import train

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import kills


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs that are alike."""
    torch.set_num_threads(1)
    folders = [tmp_path_factory.mktemp("runs") / name for name in ("one", "other")]
    for folder in folders:
        train(folder, steps=2, save_steps=1)
    return folders


def test_what_differs_is_named(runs, tmp_path):
    assert list(kills.differences(*runs)) == []
    changed = shutil.copytree(runs[0], tmp_path / "changed")
    weights = load_file(changed / "best" / "weights.safetensors")
    name = next(iter(weights))
    weights[name].view(-1)[0] = torch.nextafter(weights[name].view(-1)[0], torch.tensor(9.0))  # by its last bit
    save_file(weights, changed / "best" / "weights.safetensors")
    (changed / "last" / "source.tokenizer.json").write_text("{ }")
    assert sorted(kills.differences(changed, runs[1])) == [f"best: {name}", "last: source.tokenizer.json"]
    train(changed, steps=3, save_steps=1, resume=True)
    found = set(kills.differences(changed, runs[1]))
    assert {"state: number", "state: stream", f"state: model.{name}", f"last: {name}"} <= found  # nothing was drawn


def test_the_clock_is_no_difference(runs, tmp_path):
    slow, fast = (shutil.copytree(folder, tmp_path / folder.name) for folder in runs)
    for seconds, folder in ((2.5, slow), (1.5, fast)):
        scores = {"metric": "nll", "best": 3.5, "seconds": seconds}
        (folder / "best" / "scores.json").write_text(json.dumps(scores))
        (folder / "best" / "README.md").write_text(f"Trained for {seconds} seconds.")
    assert list(kills.differences(slow, fast)) == []
    (slow / "best" / "scores.json").write_text(json.dumps(scores | {"best": 3.25}))
    (slow / "best" / "alignment.json").write_text("{}")  # which the other has not
    (slow / "last" / "recipe.toml").write_text("")
    (slow / ".tmpq9Gigx").touch()
    expected = [".tmpq9Gigx", "best: alignment.json", "best: scores.json", "last: recipe.toml"]
    assert sorted(kills.differences(slow, fast)) == sorted(kills.differences(fast, slow)) == expected


def test_the_sign_of_zero_is_a_difference():
    zero, nan = torch.tensor(0.0), torch.tensor(torch.nan)
    ours, theirs = (
        {"zero": -zero, "nan": nan, "kind": zero},
        {"zero": zero, "nan": nan.clone(), "kind": zero.bfloat16()},
    )
    assert sorted(kills._unlike("state", ours, theirs)) == ["state: kind", "state: zero"]


def test_a_kill_is_told_by_what_it_left(tmp_path):
    assert kills.moment(tmp_path, 0) == "beginning"
    (tmp_path / "log.jsonl").write_text('{"event": "start"}\n')
    assert kills.moment(tmp_path, 0) == "update"
    (tmp_path / ".state.safetensors-7").touch()
    assert kills.moment(tmp_path, 0) == "save"
    assert kills.moment(tmp_path, 1) == "beginning"  # the draft is left of the run before


def test_only_what_was_killed_counts(tmp_path, monkeypatch):
    """Two trainings die of the kill; the third ends just before it."""
    sleeps = iter((600, 600, 0))
    command = "import sys, time; time.sleep(int(sys.argv[1]))"

    def begun(out, kind, folder):
        words = [sys.executable, "-c", command, str(next(sleeps))]
        return subprocess.Popen(words, stderr=subprocess.PIPE)

    def wait_for(manner, process, folder, dice, seconds):
        if next(waits):
            process.wait()
        folder.mkdir(parents=True, exist_ok=True)
        return True

    waits = iter((False, False, True))
    monkeypatch.setattr(kills, "begun", begun)
    monkeypatch.setattr(kills, "wait_for", wait_for)
    monkeypatch.setattr(kills, "ending", lambda folder: 1.0)
    monkeypatch.setattr(kills, "differences", lambda folder, whole: ["state: number"])
    trial = kills.attempt(tmp_path, "recurrent, fp32", 0, seed=0)
    assert trial == kills.Trial("recurrent, fp32", 0, ["beginning", "beginning"], ["state: number"])


def test_a_log_tells_where_a_run_stands(runs, tmp_path):
    assert kills.beginnings(runs[0]) == 1 and kills.beginnings(tmp_path) == 0
    assert kills.ending(runs[0]) > 0
    with (runs[0] / "log.jsonl").open("a") as file:
        file.write('{"event": "resume", "numb')  # a line that is being written
    assert kills.beginnings(runs[0]) == 1


def test_drafts_are_seen(tmp_path):
    assert kills.drafts(tmp_path / "none") == kills.drafts(tmp_path) == []
    (tmp_path / "state.safetensors").touch()
    for name in (".state.safetensors-7", ".last-7", ".best-7"):
        (tmp_path / name).touch()
    assert sorted(kills.drafts(tmp_path)) == [".best-7", ".last-7", ".state.safetensors-7"]


def test_a_kill_leaves_no_process():
    command = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with subprocess.Popen([sys.executable, "-c", command]) as process:
        while not (children := list(kills.descendants(process.pid))):
            time.sleep(0.01)
        kills.kill(process)
    (child,) = children
    for _ in range(1000):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return  # dead, and nobody has asked for its code
        time.sleep(0.01)
    pytest.fail("the child lives on")


def test_trials_go_on_where_they_stopped(tmp_path, monkeypatch, capsys):
    made = []

    def attempt(out, kind, number, seed):
        made.append((kind, number))
        return kills.Trial(kind, number, ["save", "update", "save", "beginning"])

    monkeypatch.setattr(kills, "write_corpus", lambda folder: None)
    monkeypatch.setattr(kills, "whole_run", lambda out, kind: None)
    monkeypatch.setattr(kills, "attempt", attempt)
    asked = {"out": tmp_path, "jobs": 1, "seed": 0}
    assert len(kills.tried(Namespace(kills=9, **asked))) == 3
    assert len(kills.tried(Namespace(kills=9, **asked))) == 3 and len(made) == 3
    found = kills.tried(Namespace(kills=29, **asked))
    assert len(found) == len(made) == len(set(made)) == 8
    assert {kind for kind, _ in made} == set(kills.KINDS)
    found[0].differs, found[1].lost = ["state: number"], "it hangs"
    assert kills.table(found).splitlines()[-1] == "| all | 8 | 32 | 8 | 8 | 16 | 1 | 1 |"
    assert json.loads((tmp_path / "results.jsonl").read_text().splitlines()[0])["kind"] == next(iter(kills.KINDS))
    assert "killed at save, update, save, beginning: the same" in capsys.readouterr().out
