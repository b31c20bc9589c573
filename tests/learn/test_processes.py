"""Many processes: they train as one, whatever happens to one of them."""

import json
import signal
from itertools import islice

import pytest
import torch
from safetensors.torch import load_file

import regard.model
from learn.group import (
    SETTINGS,
    STEPS,
    batches,
    dying,
    ended,
    full_disk,
    losing_patience,
    notes,
    signalled,
    start,
    together,
    train,
    unequal_clocks,
)
from regard.errors import UsageError
from regard.learn.launch import needs_launch
from regard.learn.processes import Processes
from regard.learn.state import read_state


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Whole runs, by kind and number of processes, each made when it is first asked for."""
    home, made = tmp_path_factory.mktemp("runs"), {}

    def whole(kind, count):
        folder = home / f"{kind}-{count}"
        if folder not in made:
            made[folder] = together(count, train, str(folder), kind)
        assert made[folder] == [0] * count
        return folder

    return whole


def tensors(folder):
    """All that was learnt and kept, without the random numbers, which each process has of its own."""
    found = read_state(folder / "state.safetensors").tensors
    return {name: each for name, each in found.items() if not name.startswith("random")}


def assert_close(folder, other, tolerance=2e-6):
    """The same weights, moments and averages but for the order in which numbers were added."""
    ours, theirs = tensors(folder), tensors(other)
    assert ours.keys() == theirs.keys()
    for name, each in theirs.items():
        assert torch.allclose(ours[name], each, rtol=1e-6, atol=tolerance), name
    one, two = (read_state(each / "state.safetensors").values for each in (folder, other))
    assert all(one[name] == two[name] for name in ("number", "schedule", "stream"))


def assert_same(folder, other):
    """The same state to the last bit, the random numbers of every process included."""
    ours, theirs = (read_state(each / "state.safetensors") for each in (folder, other))
    assert ours.tensors.keys() == theirs.tensors.keys()
    assert [name for name in theirs.tensors if not torch.equal(ours.tensors[name], theirs.tensors[name])] == []
    for name in set(theirs.values) - {"standing", "terms"}:
        assert ours.values[name] == theirs.values[name], name


# --- as one ---------------------------------------------------------------------------------------------------


def test_some_batches_leave_a_process_without_a_pair():
    sizes = [len(batch.rows) for batch in islice(batches().forever(), STEPS * SETTINGS.accumulate)]
    assert min(sizes) == 1
    assert max(sizes) > 3


@pytest.mark.parametrize("kind", ["recurrent", "transformer", "hard", "tied"])
def test_two_processes_make_the_weights_of_one(runs, kind):
    """Hard attention draws its keys, and no two processes draw alike: here it takes the likeliest instead."""
    assert_close(runs(kind, 2), runs(kind, 1))


def test_three_processes_make_the_weights_of_one(runs):
    assert_close(runs("recurrent", 3), runs("recurrent", 1))


def test_only_the_main_process_writes_and_tells(runs):
    main, other = notes(runs("recurrent", 2))
    assert main["told"].count("Step") == STEPS
    assert other["told"] == []
    assert main["weights"] == other["weights"], "the processes have drifted apart"
    lines = (runs("recurrent", 2) / "log.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [json.loads(line)["number"] for line in lines if json.loads(line)["event"] == "step"]
    assert steps == [2, 4]
    for name in ("last", "best"):
        assert regard.model.load(runs("recurrent", 2) / name)


def test_each_process_draws_its_own_numbers(runs):
    kept = read_state(runs("dropout", 2) / "state.safetensors")
    assert not torch.equal(kept.tensors["random.torch"], kept.tensors["random-1.torch"])
    main, other = notes(runs("dropout", 2))
    assert main["weights"] == other["weights"]


# --- stopped, killed, resumed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dropout", "drawn, bf16", "guided, bf16"])
def test_a_killed_group_resumes_to_the_same_weights(runs, tmp_path, kind):
    codes = ended(start(2, dying, str(tmp_path / "run"), kind, number=4), kill_rest=True)
    assert codes[0] == -signal.SIGKILL
    assert read_state(tmp_path / "run" / "state.safetensors").values["number"] < 4
    assert together(2, train, str(tmp_path / "run"), kind, resume=True) == [0, 0]
    assert_same(tmp_path / "run", runs(kind, 2))


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_a_run_goes_on_with_another_number_of_processes(runs, tmp_path, first, second):
    assert together(first, train, str(tmp_path / "run"), steps=3) == [0] * first
    assert together(second, train, str(tmp_path / "run"), resume=True) == [0] * second
    assert_close(tmp_path / "run", runs("recurrent", 1))


@pytest.mark.parametrize(("rank", "number"), [(0, signal.SIGINT), (1, signal.SIGTERM)])
def test_a_signal_to_one_process_stops_all(tmp_path, rank, number):
    assert together(2, signalled, str(tmp_path / "run"), rank=rank, number=number) == [130, 130]
    assert all(f"{number.name}: stopped after update 3" in each["error"] for each in notes(tmp_path / "run"))
    assert read_state(tmp_path / "run" / "state.safetensors").values["number"] == 3


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_dies_ends_the_others(tmp_path, rank):
    codes = together(2, dying, str(tmp_path / "run"), rank=rank, number=2)
    assert codes[rank] == -signal.SIGKILL
    assert codes[1 - rank] == 1
    told = json.loads((tmp_path / f"run.{1 - rank}.json").read_text(encoding="utf-8"))["error"]
    assert f"process {1 - rank} of 2: another process of this training has died" in told


def test_what_the_main_process_cannot_write_ends_all(tmp_path):
    assert together(2, full_disk, str(tmp_path / "run")) == [1, 1]
    main, other = notes(tmp_path / "run")
    assert (main["kind"], other["kind"]) == ("TrainingError", "Elsewhere")
    assert "could not be saved: [Errno 28]" in main["error"]
    assert other["error"].startswith(f"process 0 has failed: {tmp_path / 'run'}: update 2 could not be saved")


def test_what_is_asked_wrongly_ends_all(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("mine")
    assert together(2, train, str(tmp_path / "run")) == [2, 2]
    assert all("is there already, and is not empty" in each["error"] for each in notes(tmp_path / "run"))


def test_patience_ends_all_at_once(tmp_path):
    assert together(2, losing_patience, str(tmp_path / "run")) == [0, 0]
    assert [(each["number"], each["reason"]) for each in notes(tmp_path / "run")] == [(3, "patience")] * 2


def test_a_budget_of_minutes_is_one_clocks(tmp_path):
    """Rates that follow the clock are the same in all processes, and so are the weights."""
    assert together(2, unequal_clocks, str(tmp_path / "run")) == [0, 0]
    main, other = notes(tmp_path / "run")
    assert main == other
    assert main["reason"] == "minutes"
    assert main["number"] > 1


# --- divided --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["recurrent", "tied"])
def test_a_divided_model_trains_as_a_whole_one(runs, tmp_path, kind):
    assert together(2, train, str(tmp_path / "run"), kind, shard=True) == [0, 0]
    assert_close(tmp_path / "run", runs(kind, 1))
    for name in ("last", "best"):
        ours, theirs = (load_file(each / name / "weights.safetensors") for each in (tmp_path / "run", runs(kind, 1)))
        assert all(torch.allclose(ours[key], theirs[key], rtol=0, atol=2e-6) for key in theirs)
        assert regard.model.load(tmp_path / "run" / name)


def test_a_divided_model_resumes_divided_or_whole(runs, tmp_path):
    assert together(2, train, str(tmp_path / "whole"), "dropout", shard=True) == [0, 0]
    ended(start(2, dying, str(tmp_path / "run"), "dropout", number=4, shard=True), kill_rest=True)
    assert together(2, train, str(tmp_path / "run"), "dropout", resume=True, shard=True) == [0, 0]
    assert_same(tmp_path / "run", tmp_path / "whole")
    assert together(2, train, str(tmp_path / "other"), steps=3, shard=True) == [0, 0]
    assert together(1, train, str(tmp_path / "other"), resume=True) == [0]
    assert_close(tmp_path / "other", runs("recurrent", 1))


# --- by itself ------------------------------------------------------------------------------------------------


def test_a_process_by_itself_is_a_team():
    processes = Processes()
    assert (processes.count, processes.place, processes.main) == (1, 0, True)
    assert (processes.agree("a"), processes.gather("a"), processes.total(3.0), processes.greatest(3.0)) == (
        "a",
        ["a"],
        3.0,
        3.0,
    )
    assert (processes.each(lambda: 2), processes.alone(lambda: 3), processes.first(lambda: 5)) == (2, 3, 5)
    values = torch.tensor([2.0, 7.0])
    processes.add_up(values)
    assert values.tolist() == [2.0, 7.0]
    with pytest.raises(RuntimeError, match="gloo"), processes.linked():
        raise RuntimeError("gloo is a word, and nobody is lost")


def test_processes_are_started_once(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert needs_launch(2)
    assert not needs_launch(1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert not needs_launch(2)
    with pytest.raises(UsageError, match="--processes 3: a launcher has started 2 already"):
        needs_launch(3)
