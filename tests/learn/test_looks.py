"""What is kept of each validation: whole files, named for their updates; those that will be made again go."""

import json
from itertools import pairwise

from regard.learn import looks
from regard.learn.looks import drop_looks, keep_looks, numbers_of


def test_looks_are_kept_and_dropped(tmp_path):
    folder = tmp_path / "looks"
    assert numbers_of(folder) == []
    for number in (7, 1_000_003, 53):
        keep_looks(folder, number, [{"title": "é", "number": number}])
    assert numbers_of(folder) == [7, 53, 1_000_003]
    told = json.loads((folder / "000053.json").read_text(encoding="utf-8"))
    assert told == {"format": "regard-looks-1", "number": 53, "figures": [{"title": "é", "number": 53}]}
    (folder / ".half.tmp").write_text("{")
    drop_looks(folder, after=53)
    assert sorted(each.name for each in folder.iterdir()) == ["000007.json", "000053.json"]


def test_looks_of_an_update_are_replaced(tmp_path):
    for title in ("one", "two"):
        keep_looks(tmp_path, 5, [{"title": title}])
    assert [each.name for each in tmp_path.iterdir()] == ["000005.json"]
    assert json.loads((tmp_path / "000005.json").read_text())["figures"] == [{"title": "two"}]


def test_of_many_validations_evenly_spread_ones_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(looks, "MOST", 7)
    for number in range(0, 1000, 10):
        keep_looks(tmp_path, number, [])
        kept = numbers_of(tmp_path)
        assert len(kept) == min(7, number // 10 + 1) and (kept[0], kept[-1]) == (0, number)
        gaps = [later - before for before, later in pairwise(kept)]
        assert not gaps or max(gaps) <= max(20, 2 * number / 6)  # twice what even ones would be
