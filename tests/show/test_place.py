"""Files that are written whole or not at all, and places that cannot be written."""

import os

import pytest

from regard.errors import UsageError
from regard.show.place import fresh_file
from show.pairs import ALIGNMENT

ENDINGS = (".html", ".png", ".svg", ".json", ".csv", ".txt")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_place_that_cannot_be_written_is_told(tmp_path, ending):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match=rf"file/a\{ending} cannot be written: "):
        ALIGNMENT.save(tmp_path / "file" / f"a{ending}")
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        ALIGNMENT.save(tmp_path / f"folder{ending}")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", f"folder{ending}"], "no draft is left"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(UsageError, match="Permission denied"):
        ALIGNMENT.save(tmp_path / "a.png")


def test_what_was_there_stays_until_the_new_file_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half(draft):
        draft.write_text("ha")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), fresh_file(path) as draft:
        half(draft)
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "old"
    with fresh_file(path) as draft:
        draft.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o644
