"""The folder of a run: what can go wrong with it is told before the first step."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from learn.child import small_model, train
from regard.errors import ModelError, TrainingError, UsageError
from regard.learn.events import Step
from regard.learn.folder import SPARE, RunFolder, needed_bytes
from regard.learn.state import write_state
from regard.model import load

Usage = namedtuple("Usage", "total used free")


def no_step(event):
    assert not isinstance(event, Step), "a step was made first"


def test_a_folder_that_is_there_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    train(tmp_path / "run", steps=1)  # empty: nothing can be lost
    with pytest.raises(UsageError, match=r"run is there already, and is not empty.\n.*--resume"):
        train(tmp_path / "run", tell=no_step)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="file is a file; a run needs a folder"):
        train(tmp_path / "file", tell=no_step)


def test_a_folder_that_cannot_be_written_is_told_before_training(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(TrainingError, match=r"expected a folder that can be written to; Not a directory.\n  Choose"):
        train(tmp_path / "file" / "run", tell=no_step)

    def refuse(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("regard.learn.folder.TemporaryFile", refuse)
    with pytest.raises(TrainingError, match="written to; Permission denied"):
        train(tmp_path / "run", tell=no_step)


def test_a_kill_while_a_folder_is_tried_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "unlink", lambda path: None)  # which a killed process does not come to
    assert not RunFolder(tmp_path / "run").prepare(0)
    assert list((tmp_path / "run").iterdir()) == []


def test_a_full_disk_is_told_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(100, 100, 5 * 2**20))
    with pytest.raises(TrainingError, match=r"needs 16 MiB of disk; 5 MiB are free.\n  Make room"):
        train(tmp_path / "run", tell=no_step)


def test_a_folder_is_for_one_run_at_a_time(tmp_path):
    train(tmp_path / "run", steps=1)
    place = RunFolder(tmp_path / "run", resume=True)
    with place.held():
        draft = tmp_path / "run" / ".last-half"
        draft.mkdir()
        with pytest.raises(TrainingError, match=r"another process is training in this folder.\n  Wait"):
            train(tmp_path / "run", resume=True, steps=2, tell=no_step)
        assert draft.exists(), "what the other process is writing was taken away"
    assert train(tmp_path / "run", resume=True, steps=2).number == 2
    assert not draft.exists()


def test_the_disk_that_a_run_needs(tmp_path):
    model = small_model()
    weights = sum(each.nbytes for each in model.state_dict().values())
    assert needed_bytes(weights, 3) == 12 * weights + SPARE  # twice: weights, Adam's two, an average; last, best
    train(tmp_path / "run", steps=2)
    used = sum(each.stat().st_size for each in (tmp_path / "run").rglob("*.safetensors"))
    overhead = 40_000  # headers and random numbers
    assert used <= 6 * weights + overhead


def test_a_disk_that_fills_up_later_leaves_the_last_state_whole(tmp_path, monkeypatch):
    def full(path, state):
        if state.values["number"] == 7:  # three after the save that follows the validation
            raise OSError(28, "No space left on device")
        write_state(path, state)

    monkeypatch.setattr("regard.learn.run.write_state", full)
    with pytest.raises(TrainingError, match=r"update 7 could not be saved: .*No space left"):
        train(tmp_path / "run")
    monkeypatch.undo()
    assert train(tmp_path / "run", resume=True, steps=5).number == 5  # from the state of update 4


def test_what_a_run_leaves(tmp_path):
    train(tmp_path / "run", steps=4)
    names = sorted(str(each.relative_to(tmp_path / "run")) for each in (tmp_path / "run").rglob("*") if each.is_file())
    model = ["recipe.toml", "source.tokenizer.json", "weights.safetensors"]
    assert names == sorted(
        ["log.jsonl", "state.safetensors", "best/scores.json"]
        + [f"{folder}/{name}" for folder in ("best", "last") for name in model]
    )
    assert load(tmp_path / "run" / "best").sizes == small_model().sizes


def test_a_state_that_is_broken_is_told(tmp_path):
    train(tmp_path / "run", steps=1)
    state = RunFolder(tmp_path / "run").state
    state.write_bytes(state.read_bytes()[:-7])
    with pytest.raises(ModelError, match=r"state.safetensors: expected the state of a run; .*\n  The file was changed"):
        train(tmp_path / "run", resume=True)


def test_a_state_of_another_kind_is_told(tmp_path):
    train(tmp_path / "run", steps=1)
    state = RunFolder(tmp_path / "run").state
    for found, metadata in (("none", None), ("99", {"regard": '{"format": 99}'})):
        save_file({"weight": torch.zeros(2)}, state, metadata=metadata)
        with pytest.raises(
            ModelError, match=rf"expected a state of format 1; found {found}.\n  Resume with the version"
        ):
            train(tmp_path / "run", resume=True)
