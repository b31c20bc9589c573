"""Folders that are there whole, or not at all."""

from pathlib import Path

import pytest

from regard.engine import MANIFEST
from regard.engine.place import fresh_folder
from regard.errors import UsageError


@pytest.fixture
def source(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "recipe.toml").write_text("")
    return tmp_path / "model"


def left(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_it_appears_when_all_is_well(tmp_path, source):
    with fresh_folder(tmp_path / "deep" / "out", source=source) as fresh:
        (fresh / "a").write_text("1")
        assert not (tmp_path / "deep" / "out").exists()
    assert left(tmp_path / "deep") == ["out"]
    assert left(tmp_path / "deep" / "out") == ["a"]


def test_a_failure_leaves_nothing(tmp_path, source):
    with pytest.raises(RuntimeError), fresh_folder(tmp_path / "out", source=source) as fresh:
        (fresh / "a").write_text("1")
        raise RuntimeError
    assert left(tmp_path) == ["model"]


def test_an_earlier_export_is_replaced_whole_or_kept_whole(tmp_path, source):
    out = tmp_path / "out"
    out.mkdir()
    for name in (MANIFEST, "old"):
        (out / name).write_text("{}")
    with pytest.raises(RuntimeError), fresh_folder(out, source=source):
        raise RuntimeError
    assert left(out) == [MANIFEST, "old"]
    with fresh_folder(out, source=source) as fresh:
        (fresh / "new").write_text("1")
    assert left(out) == ["new"]
    assert left(tmp_path) == ["model", "out"]


def test_other_folders_only_by_force(tmp_path, source):
    out = tmp_path / "out"
    out.mkdir()
    with fresh_folder(out, source=source):  # an empty folder is nobody's
        pass
    (out / "letters").write_text("dear")
    with pytest.raises(UsageError, match="not empty, and no export of ours"), fresh_folder(out, source=source):
        pass
    assert left(out) == ["letters"]
    with fresh_folder(out, source=source, force=True):
        pass
    assert left(out) == []


@pytest.mark.parametrize("force", [True, False])
def test_the_model_itself_is_never_written_over(tmp_path, source, force):
    for out in (source, tmp_path, source.parent / "model"):
        with pytest.raises(UsageError, match="holds the model"), fresh_folder(out, source=source, force=force):
            pass
    with pytest.raises(UsageError, match="is a file"), fresh_folder(source / "recipe.toml", source=tmp_path / "x"):
        pass


@pytest.mark.parametrize("before", [True, False])
def test_what_stood_there_stays_where_the_new_folder_cannot_take_its_place(before, tmp_path, monkeypatch):
    place, rename = tmp_path / "out", Path.rename
    if before:
        place.mkdir()
        (place / MANIFEST).write_text("old")

    def failing(path, target):
        if path.name.startswith(".out-"):
            raise OSError("no more room")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no more room"), fresh_folder(place, source=tmp_path / "model") as fresh:
        (fresh / MANIFEST).write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == (["out"] if before else [])
    assert not before or (place / MANIFEST).read_text() == "old"
