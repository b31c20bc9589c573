"""The settings of a training: where they are written, and what may change when a run is resumed."""

import json

import pytest

from learn.child import small_model, stream
from regard.errors import UsageError
from regard.learn.folder import RunFolder
from regard.learn.run import Budget
from regard.learn.settings import FREE, TrainSettings, check_same
from regard.learn.state import read_state, write_state
from regard.learn.train import run
from regard.registry import Maker, build, find, maker, settings


def test_they_are_a_part():
    assert find("train", "standard") is TrainSettings
    assert build("train", "standard", rate=0.5).rate == 0.5
    found = settings(TrainSettings)
    assert {name for name, each in found.items() if each.kind} == {"optimiser", "schedule", "average"}
    assert set(FREE) < set(found)


def test_flat_has_every_default_of_every_part():
    flat = TrainSettings(schedule=maker("schedule", "cosine", warmup=3)).flat()
    assert (flat["rate"], flat["optimiser.betas"], flat["average"]) == (1e-3, [0.9, 0.999], None)
    assert {key: flat[key] for key in flat if key.startswith("schedule")} == {
        "schedule.part": "cosine", "schedule.warmup": 3, "schedule.floor": 0.0
    }  # fmt: skip
    assert flat == TrainSettings(schedule=Maker("schedule", "cosine", {"warmup": 3, "floor": 0.0})).flat()
    assert json.loads(json.dumps(flat)) == flat


def test_a_setting_of_a_part_that_is_younger_than_the_run_had_its_default(tmp_path):
    """A run that began before `scaled` was there goes on; one that says otherwise now does not."""
    built = small_model(["attend.score=general"])
    lessons = TrainSettings(precision="fp32", tensorboard=False)
    run(built, stream(), lessons, RunFolder(tmp_path / "run"), budget=Budget(steps=1))
    state = read_state(tmp_path / "run" / "state.safetensors")
    assert state.values["terms"].pop("attend.score.scaled") is True
    write_state(tmp_path / "run" / "state.safetensors", state)
    again = RunFolder(tmp_path / "run", resume=True)
    assert run(small_model(["attend.score=general"]), stream(), lessons, again, budget=Budget(steps=2)).number == 2
    other = small_model(["attend.score=general", "attend.score.scaled=false"])
    with pytest.raises(UsageError, match="attend.score.scaled: was true, is false"):
        run(other, stream(), lessons, again, budget=Budget(steps=3))


def test_a_difference_is_refused_and_shown():
    before, now = {"a": 1, "b": [1, 2], "c": "x", "gone": 1}, {"a": 2, "b": [1, 2], "c": "y", "new": None, "more": 0}
    with pytest.raises(UsageError) as told:
        check_same(before, now, ("c",))
    assert "a: was 1, is 2\n  gone: was 1, is not there\n  more: was not there, is 0" in told.value.message
    assert "May differ: minutes, steps, c." in told.value.hint
    check_same(before, before | {"c": "z"}, ("c",))


def trained(folder, *, resume, steps, seed=0, overrides=(), batches=None, **changed):
    quick = {"rate": 0.01, "tensorboard": False, "validate_steps": 0, "save_minutes": 0.0, "precision": "fp32"}
    settings = TrainSettings(**quick | changed)
    place, budget = RunFolder(folder / "run", resume=resume), Budget(steps=steps)
    return run(small_model(overrides), batches or stream(), settings, place, budget=budget, seed=seed)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rate": 0.02}, "train.rate: was 0.01, is 0.02"),
        ({"average": maker("average", "ema")}, 'train.average.part: was not there, is "ema"'),
        ({"schedule": maker("schedule", "constant", warmup=2)}, "train.schedule.warmup: was 0, is 2"),
        ({"seed": 1}, "seed: was 0, is 1"),
        ({"overrides": ["predict.dropout=0.5"]}, "predict.dropout: was 0.0, is 0.5"),
        ({"batches": stream(tokens=97)}, "tokens is 97, was 211"),
    ],
)
def test_a_run_goes_on_only_as_it_began(tmp_path, changed, told):
    trained(tmp_path, resume=False, steps=1)
    state = (tmp_path / "run" / "state.safetensors").read_bytes()
    with pytest.raises(UsageError) as error:
        trained(tmp_path, resume=True, steps=2, **changed)
    assert told in error.value.message
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == state


def test_what_may_differ_on_resume(tmp_path):
    trained(tmp_path, resume=False, steps=1)
    free = {"metric": "bleu", "validate_steps": 3, "validate_minutes": 9.0, "save_steps": 7, "save_minutes": 2.0}
    assert trained(tmp_path, resume=True, steps=3, log=1, **free).number == 3
