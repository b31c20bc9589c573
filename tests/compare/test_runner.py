"""The runner with commands that only pretend: order, what is told, failures that stay alone, going on, stopping."""

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from regard.compare import Arm, Measures, Pairs, Plan, keep_pairs, read_results, run_trials, trials_of
from regard.compare.trials import RUN
from regard.errors import Interrupted
from regard.evaluate import read_links

# Stands for `python -m regard ...`: trains by copying weights, scores what its seed has right, and says what it did.
PRETENDED = """
import json, shutil, signal, sys, time
from pathlib import Path
home, words = Path({home!r}), sys.argv[3:]
with (home / "calls").open("a") as calls:
    calls.write(" ".join(words) + "\\n")
def option(name):
    return words[words.index(name) + 1]
if words[0] == "train":
    run = Path(option("--out"))
    if words[1] == "slow":
        run.mkdir(parents=True, exist_ok=True)
        print("step 1", file=sys.stderr, flush=True)
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            (run / "state.safetensors").touch()
            sys.exit(130)
    if words[1] == "weak" and option("--seed") == "4":
        print("regard: no luck", file=sys.stderr)
        sys.exit(1)
    (run / "best").mkdir(parents=True, exist_ok=True)
    shutil.copy(home / "weights.safetensors", run / "best")
    (run / "log.jsonl").write_text(json.dumps(dict(event="validate", number=7, seconds=60.0, values=dict(bleu=3.0))))
elif words[0] == "evaluate":
    seed = 3 + ("seed-4" in words[1]) + 2 * ("seed-5" in words[1])
    Path(option("--outputs")).write_text("a b\\n" * seed + "c\\n" * (7 - seed))
    scores = [dict(name="exact match", value=100 * seed / 7, signature="s", low=0.0, high=100.0, new=[])]
    scores.append(dict(name="kappa", value=0.25))
    print(json.dumps(dict(format="regard-scores-1", title="t", scores=scores, alignment=dict(aer=0.5), confusion=[])))
else:
    print("0-0\\n" * 7, end="")
"""


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    """A home in which commands pretend; `calls` has all of them."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\n" + PRETENDED.format(home=str(tmp_path)))
    program.chmod(0o755)
    save_file({"w": np.zeros((3, 5), np.float32)}, tmp_path / "weights.safetensors")
    monkeypatch.setattr("regard.tasks.children.sys.executable", str(program))
    return tmp_path


def calls(home, verb=""):
    """The commands that ran, in their order."""
    return [line for line in (home / "calls").read_text().splitlines() if line.startswith(verb)]


def run(home, arms, seeds, jobs=1):
    said = []
    plan = Plan("copy", steps=3, seed=3, seeds=seeds)
    trials = trials_of(plan, [Arm(name, name) for name in arms])
    done = run_trials(plan, trials, home / "out", jobs=jobs, tell=lambda *told: said.append(": ".join(told)))
    return done, said


def test_whole_seeds_first_and_a_failed_one_alone(pretended):
    done, said = run(pretended, ["weak", "strong"], 3)
    assert [each.split()[1] + " " + each.split("--seed ")[1][0] for each in calls(pretended, "train")] == [
        "weak 3", "strong 3", "weak 4", "strong 4", "weak 5", "strong 5",
    ]  # fmt: skip
    assert [(each.trial.label, each.error) for each in done if each.error] == [("weak, seed 4", "regard: no luck")]
    assert said == [
        "weak, seed 3: done", "strong, seed 3: done", "weak, seed 4: regard: no luck", "weak, seed 4: failed",
        "strong, seed 4: done", "weak, seed 5: done", "strong, seed 5: done",
    ]  # fmt: skip
    results = read_results(done)
    assert [[each.trial.seed for each in arm.trials] for arm in results] == [[3, 5], [3, 4, 5]]
    assert results[0].first.parameters == 15
    assert results[0].first.scores["kappa"].high == 0.25, "what an older or newer report has less or more is no matter"
    assert results[0].first.lengths == () and results[0].first.sentences_per_second is None
    found = Measures(results, Pairs(["x"] * 7, ["a b"] * 7))
    apart = found.difference(found.main, 1)
    assert found.main.label == "exact match"
    assert apart.seeds == {"seed 3": 0.0, "seed 5": 0.0}, "only what both have"
    assert found.estimate(found.main, 1).value == pytest.approx(400 / 7)


def test_what_is_done_is_not_done_again(pretended):
    run(pretended, ["strong"], 1)
    assert run(pretended, ["strong"], 1)[1] == ["strong: done before"], "alone it needs no seed"
    before = len(calls(pretended))
    _, said = run(pretended, ["strong"], 2)
    assert said == ["strong, seed 3: done before", "strong, seed 4: done"]
    new = calls(pretended)[before:]
    assert [each.split()[0] for each in new] == ["train", "evaluate"]
    assert f"--out {pretended / 'out' / 'arms' / 'strong' / 'seed-4' / RUN}" in new[0]


def test_a_training_that_was_cut_off_is_resumed(pretended):
    state = pretended / "out" / "arms" / "strong" / "seed-4" / RUN / "state.safetensors"
    state.parent.mkdir(parents=True)
    state.touch()
    run(pretended, ["strong"], 2)
    assert [each.endswith("--resume") for each in calls(pretended, "train")] == [False, True]


def test_links_are_kept_where_there_are_gold_ones(pretended):
    done, _ = run(pretended, ["strong"], 2)
    assert not calls(pretended, "align") and read_results(done)[0].first.links is None
    keep_pairs(["x\ny"] * 7, ["a b"] * 7, pretended / "out")
    assert (pretended / "out" / "pairs.source").read_text() == "x y\n" * 7
    done, _ = run(pretended, ["strong"], 2)
    assert len(calls(pretended, "align")) == 2
    (arm,) = read_results(done)
    assert arm.first.links == (((0, 0),),) * 7
    gold = read_links(["0-0 1-1 2-2"] * 7)  # a link found, which is right, of three: 1 - (1 + 1) / (1 + 3)
    found = Measures([arm], Pairs(["x"] * 7, ["a b"] * 7, gold))
    error = next(each for each in found.metrics if each.name == "aer")
    assert found.estimate(error, 0).low == found.estimate(error, 0).high == 0.5
    run(pretended, ["strong"], 2)
    assert len(calls(pretended, "align")) == 2, "once"


def test_a_finished_model_is_scored_once_whatever_number_of_seeds(pretended):
    for name in ("one", "two"):
        (pretended / name).mkdir()
        (pretended / name / "weights.safetensors").write_bytes((pretended / "weights.safetensors").read_bytes())
    arm = Arm("mine", str(pretended / "one"), finished=True, others=(str(pretended / "two"),))
    plan = Plan("copy", seeds=5)
    done = run_trials(plan, trials_of(plan, [arm]), pretended / "out", jobs=2, tell=lambda *_: None)
    assert sorted(each.split()[1] for each in calls(pretended)) == [*arm.models]
    assert [each.trial.label for each in done] == [f"mine, {model}" for model in arm.models]
    assert [each.model for each in read_results(done)[0].trials] == [Path(model) for model in arm.models]


def test_ctrl_c_lets_every_training_save(pretended):
    """Two trainings run and two wait: the first two save, the others never start."""

    def interrupt():
        while not (pretended / "calls").is_file() or len(calls(pretended)) < 2:
            time.sleep(0.02)
        runs = [pretended / "out" / "arms" / "slow" / name for name in ("log.txt", "seed-4/log.txt")]
        while not all(log.is_file() and log.read_text() for log in runs):
            time.sleep(0.02)
        os.kill(os.getpid(), 2)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(Interrupted, match="a rerun goes on"):
        run(pretended, ["slow"], 4, jobs=2)
    thread.join()
    states = sorted((pretended / "out").rglob("state.safetensors"))
    assert [str(each.relative_to(pretended / "out" / "arms" / "slow").parent) for each in states] == [
        "run",
        "seed-4/run",
    ]
    assert len(calls(pretended)) == 2
    assert not list((pretended / "out").rglob("scores.json"))
