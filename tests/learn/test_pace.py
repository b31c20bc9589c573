"""`regard train --processes auto`: the ways there are, which is chosen, and that choosing changes nothing else."""

import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from learn.child import COMMON, small_model, stream
from learn.test_launch import SMALL
from regard import cli
from regard.cli import processes
from regard.learn import launch, pace
from regard.learn.learner import Learner
from regard.learn.pace import Way, counts, processes_of, ranked, told, way_of
from regard.learn.processes import Elsewhere
from regard.learn.settings import TrainSettings
from regard.tasks import setup
from regard.tasks.job import TrainJob

ONE, TWO = Way(1, 2), Way(2, 1)


@pytest.fixture
def run(monkeypatch, capfd):
    """Run `regard train` on a tiny model here, as if nobody had set a number of threads and there were two cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(launch, "_cores", lambda: 2)

    def ran(folder, *more):
        monkeypatch.setattr(
            sys, "argv", ["regard", *SMALL, "-strain.tensorboard=false", "--out", str(folder), *map(str, more)]
        )
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        return code, capfd.readouterr().err

    return ran


@pytest.fixture
def started(monkeypatch):
    """What would be started: how many processes, their arguments, what they find in their environment."""
    found = []
    monkeypatch.setattr(launch, "launch", lambda *words: found.append(words) or 0)
    return found


def measured(monkeypatch, **rates):
    """Let the ways have these rates."""
    monkeypatch.setattr(pace, "measure", lambda *_: ranked({ONE: rates["one"], TWO: rates["two"]}))


def contents(folder):
    """What a run has learnt, to the bit: its weights and its tokenizers."""
    weights = load_file(folder / "last" / "weights.safetensors")
    texts = [(folder / "last" / name).read_text(encoding="utf-8") for name in processes.NAMES]
    return {name: each.numpy().tobytes() for name, each in weights.items()}, texts


# --- by hand ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "expected"),
    [(1, [1]), (2, [1, 2]), (3, [1, 3]), (4, [1, 2, 4]), (8, [1, 2, 8]), (12, [1, 3, 12]), (16, [1, 4, 16])],
)
def test_the_numbers_of_processes(threads, expected):
    assert counts(threads) == expected


def test_ways_share_out_all_threads(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    assert [way_of(count, 12) for count in (1, 3, 12, 13)] == [Way(1, 5), Way(3, 4), Way(12, 1), Way(13, 1)]


def test_the_fastest_comes_first_and_is_told_first():
    rates = ranked({ONE: 2410.4, Way(3, 7): 0.0, TWO: 3119.6})
    assert list(rates) == [TWO, ONE, Way(3, 7)]
    assert told(rates) == (
        "2 processes with 1 thread each: 3,120 positions/s; 1 process with 2 threads: 2,410; "
        "3 processes with 7 threads each: failed"
    )


def test_of_two_alike_fewer_processes_are_taken():
    assert list(ranked({Way(5, 1): 7.0, Way(1, 5): 7.0})) == [Way(1, 5), Way(5, 1)]


def test_threads_that_somebody_set_are_all_there_are(monkeypatch):
    monkeypatch.setattr(launch, "_cores", lambda: 11)
    for text, expected in (("3", 3), ("", 11), ("0", 11), ("3,2", 11)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert launch.threads_at_hand() == expected


def test_obstacles(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pace.obstacle(2) is None
    assert pace.obstacle(1) == "there is only one thread to share out"
    monkeypatch.setattr(pace.distributed, "is_gloo_available", lambda: False)
    assert pace.obstacle(2) == "this build of PyTorch cannot join processes"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pace.obstacle(2) == "a GPU does the work"


def test_the_rate_is_that_of_whole_rounds(monkeypatch, one_thread):
    """By a clock that an update moves by a second: after the first one, two rounds of three take six."""
    clock, made, update = [0.0], [], Learner.update

    def slow(self):
        clock[0] += 1.0
        made.append(update(self))
        return made[-1]

    monkeypatch.setattr(Learner, "update", slow)
    monkeypatch.setattr(pace.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(pace, "SECONDS", 5.0)
    rate = pace.positions_a_second(small_model(), stream(), TrainSettings(**COMMON, accumulate=2))
    pieces = [each.count for each in made]
    assert len(pieces) == 1 + 2 * pace.ROUND
    assert pieces[:3] == pieces[3:6], "every round has the same updates"
    assert len(set(pieces[:3])) == 3, "and the updates of a round are not all alike"
    assert rate == sum(pieces[1:]) / 6


# --- starting the ways ------------------------------------------------------------------------------------------


def reporting(monkeypatch, answers):
    """Let processes report these rates, or end with these codes; what they were started with."""
    found = []

    def start(count, arguments, environment):
        found.append((count, arguments, environment))
        answer = answers[count]
        if isinstance(answer, float):
            Path(environment[pace.REPORT]).write_text(str(answer), encoding="utf-8")
            return 0
        return answer

    monkeypatch.setattr(pace, "launch", start)
    return found


def test_every_way_is_started_with_its_threads(monkeypatch):
    found = reporting(monkeypatch, {1: 5.0, 2: 11.0, 4: 7.0})
    rates = pace.measure(["train", "x"], 4, {"A": "b"})
    assert [(way.processes, rate) for way, rate in rates.items()] == [(2, 11.0), (4, 7.0), (1, 5.0)]
    assert [(count, words, each["A"]) for count, words, each in found] == [(n, ["train", "x"], "b") for n in (1, 2, 4)]
    assert [each["OMP_NUM_THREADS"] for *_, each in found] == [str(torch.get_num_threads()), "2", "1"]
    assert not any(Path(each[pace.REPORT]).parent.exists() for *_, each in found), "nothing is left behind"


def test_a_way_of_many_that_fails_is_not_taken(monkeypatch):
    reporting(monkeypatch, {1: 5.0, 2: 1})
    assert list(pace.measure([], 2, {}).values()) == [5.0, 0.0]


@pytest.mark.parametrize(("answers", "code"), [({1: 2, 2: 7.0}, 2), ({1: 5.0, 2: 130}, 130)])
def test_there_is_nothing_to_choose_where_one_process_fails_or_somebody_interrupts(monkeypatch, answers, code):
    reporting(monkeypatch, answers)
    with pytest.raises(Elsewhere) as error:
        pace.measure([], 2, {})
    assert error.value.exit_code == code


# --- the command ------------------------------------------------------------------------------------------------


def test_one_process_that_was_chosen_trains_as_one_that_was_asked_for(run, monkeypatch, tmp_path):
    learnt, learn = [], setup.fit_parts
    monkeypatch.setattr(setup, "fit_parts", lambda *words: learnt.append(words) or learn(*words))
    measured(monkeypatch, one=3.0, two=2.0)
    code, said = run(tmp_path / "auto", "--steps", 3, "--processes", "auto")
    assert code == 0, said
    assert said.count("1 process with 2 threads: 3 positions/s; 2 processes with 1 thread each: 2\n") == 1
    assert len(learnt) == 1, "the tokenizers that the choice needed are those of the training"
    assert run(tmp_path / "plain", "--steps", 3)[0] == 0
    assert contents(tmp_path / "auto") == contents(tmp_path / "plain")
    assert processes_of(tmp_path / "auto") == 1


def test_many_that_were_chosen_are_started_as_many_that_were_asked_for(run, started, monkeypatch, tmp_path):
    """With the same words; the tokenizers that the choice needed are handed on."""
    measured(monkeypatch, one=2.0, two=3.0)
    assert run(tmp_path / "run", "--steps", 3, "--processes", "auto")[0] == 0
    ((count, words, environment),) = started
    assert (count, words) == (2, sys.argv[1:])
    assert environment.pop(processes.TOKENIZERS)
    assert environment == {"OMP_NUM_THREADS": "1"}
    assert list((tmp_path / "run").iterdir()) == []


def test_a_resumed_run_keeps_its_number(run, started, monkeypatch, tmp_path):
    monkeypatch.setattr(pace, "measure", None)  # to call it would fail
    (tmp_path / "run").mkdir()
    lines = [{"event": "start", "processes": 1}, {"event": "step", "number": 1}, {"event": "resume", "processes": 2}]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "run" / "log.jsonl").write_text(text, encoding="utf-8")
    code, said = run(tmp_path / "run", "--steps", 3, "--processes", "auto", "--resume")
    assert (code, said) == (0, "2 processes with 1 thread each: this run goes on as before\n")
    assert started == [(2, sys.argv[1:], {"OMP_NUM_THREADS": "1"})]


def test_one_thread_leaves_no_choice(run, monkeypatch, tmp_path):
    trained = []
    monkeypatch.setattr(pace, "measure", None)
    monkeypatch.setattr(TrainJob, "train", lambda asked, *_: trained.append(asked))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    code, said = run(tmp_path / "run", "--steps", 1, "--processes", "auto")
    assert code == 0, said
    assert said.startswith("1 process with 1 thread: there is only one thread to share out\n")
    assert [each.tokenizers for each in trained] == [None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-sattend.score=sharp"], "the recipe has one mistake"),
        (["--from", "xx"], "xx"),
        (["-strain.guide=reference", "-strain.guide_head=7"], "guide_head"),
        (["-strain.patience=2"], "patience = 2 needs validation, and validate_steps"),
    ],
)
def test_a_mistake_is_told_once_and_before_anything_is_started(run, monkeypatch, tmp_path, words, message):
    monkeypatch.setattr(pace, "measure", None)
    code, said = run(tmp_path / "run", "--steps", 1, "--processes", "auto", *words)
    assert code in (1, 2), said
    assert said.count(message) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("words", ["0", "-1", "two", "1.5", ""])
def test_no_number(run, tmp_path, words):
    code, said = run(tmp_path / "run", "--steps", 1, "--processes", words)
    assert code == 2
    assert f"--processes is a number of 1 or more, or auto; found '{words}'" in said


def test_two_processes_that_were_chosen_train_as_two_that_were_asked_for(run, monkeypatch, tmp_path):
    measured(monkeypatch, one=2.0, two=3.0)
    for name, wanted in (("auto", "auto"), ("asked", 2)):
        code, said = run(tmp_path / name, "--steps", 3, "--processes", wanted)
        assert code == 0, said
        assert processes_of(tmp_path / name) == 2
    assert contents(tmp_path / "auto") == contents(tmp_path / "asked")


def test_the_fastest_way_is_taken(run, tmp_path):
    """The whole of it, with real processes; which way is faster is the machine's to say."""
    before = signal.getsignal(signal.SIGINT)
    code, said = run(tmp_path / "run", "--steps", 3, "--processes", "auto")
    assert code == 0, said
    assert "Warning" not in said
    line = next(line for line in said.splitlines() if "positions/s" in line)
    found = re.fullmatch(r"(.+): [1-9][\d,]* positions/s; (.+): [1-9][\d,]*", line)
    assert found, line
    first, second = found.groups()
    assert {first, second} == {"1 process with 1 thread", "2 processes with 1 thread each"}
    assert first.startswith(f"{processes_of(tmp_path / 'run')} process")
    assert said.count("parameters") == 1, "what is only timed says nothing"
    assert signal.getsignal(signal.SIGINT) is before
    assert "OMP_NUM_THREADS" not in os.environ
