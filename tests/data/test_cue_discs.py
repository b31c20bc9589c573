"""Cue-discs: what the mark says is what the mask has."""

import numpy as np
import pytest

from regard.data import cue_discs
from regard.data.make import plan_of_builtin, write_files


@pytest.mark.parametrize("side", [32, 64, 97])
def test_the_mark_says_which_quarter(side):
    seen = set()
    for number in range(40):
        image, mask = cue_discs.draw("train", 0, number, side)
        assert image.shape == mask.shape == (side, side)
        assert set(np.unique(mask)) == {0, cue_discs.TARGET}
        half = max(2, round(8 * side / 64) // 2)
        corner = image[: 2 * half, : 2 * half].astype(float)
        means = [corner[r : r + half, c : c + half].mean() for r in (0, half) for c in (0, half)]
        rows, columns = np.nonzero(mask)
        quarter = 2 * int(rows.mean() > side / 2) + int(columns.mean() > side / 2)
        assert int(np.argmax(means)) == quarter
        seen.add(quarter)
    assert seen == {0, 1, 2, 3}


def test_discs_look_alike():
    """Neither place, size nor brightness tells which disc is meant."""
    bright = {True: [], False: []}
    for number in range(60):
        image, mask = cue_discs.draw("train", 1, number)
        bright[True].append(image[mask > 0].mean())
        rest = image[8:, 8:][mask[8:, 8:] == 0]
        bright[False].append(rest[rest > 140].mean())
    assert abs(np.mean(bright[True]) - np.mean(bright[False])) < 8


def test_every_image_is_decided_by_seed_split_and_number():
    one = cue_discs.draw("train", 0, 3)
    assert all(np.array_equal(a, b) for a, b in zip(one, cue_discs.draw("train", 0, 3), strict=True))
    for other in (("val", 0, 3), ("train", 1, 3), ("train", 0, 4)):
        assert not np.array_equal(one[0], cue_discs.draw(*other)[0])


def test_it_is_written_as_it_is_read(tmp_path):
    write_files(plan_of_builtin("cue-discs", size=3, cache=tmp_path), tmp_path / "out")
    names = sorted(each.name for each in (tmp_path / "out" / "train" / "masks").iterdir())
    assert names == sorted(each.name for each in (tmp_path / "out" / "train" / "images").iterdir())
    assert len(names) == 3
