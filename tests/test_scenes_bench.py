"""The bench of captioners of scenes, on models that are made up, so that it is known what they look at."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from regard.data.places import read_places
from regard.errors import MissingData
from regard.evaluate.pointing import count_pointing

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import scenes

RIGHT = ["a red square", "a red square left of a blue cross above a red cross", "a blue circle"]
PLACES = ["0,0,0.5,0.5-2", "0,0,0.5,0.5-2 0.5,0,1,0.5-7 0,0.5,0.5,1-11", "0.5,0.5,1,1-2"]


class Made:
    """Knows the captions but the last, and always looks at the upper left of 2 x 2 cells; or at nothing."""

    def __init__(self, looks=True):
        self.looks = looks

    def answer(self, images):
        return [SimpleNamespace(text=text) for text in (*RIGHT[:-1], "a black circle")]

    def force(self, images, captions):
        grids = [np.tile([[[0.7, 0.1], [0.1, 0.1]]], (len(each.split()) + 1, 1, 1)) for each in captions]
        return [SimpleNamespace(grid=grid) for grid in grids]

    def count_pointing(self, images, captions, places):
        if not self.looks:
            return None
        return count_pointing([each.grid for each in self.force(images, captions)], list(map(read_places, places)))


def test_the_imbalance_by_hand():
    found, least = scenes.imbalance(np.array([[[1.0, 0.0]], [[0.5, 0.5]], [[0.0, 1.0]]]))
    assert (found, least) == (0.5, 0.5), "each cell 1.5 times: evenly"
    found, least = scenes.imbalance(np.array([[[1.0, 0.0, 0.0, 0.0]]] * 2))
    assert (found, least) == (1 + 3, 1)
    assert found - least == (1 / 2 - 2) ** 2 + 3 * (1 / 2) ** 2, "of steps / cells"


def test_a_made_up_captioner_is_scored():
    scored = scenes.score(Made(), ["x", "y", "z"], RIGHT, PLACES)
    assert scored.exact == pytest.approx(200 / 3) and scored.many == 100
    assert scored.pointing == pytest.approx(100 * 2 / 5)
    steps = np.array([4, 13, 4])
    expected = (1 - 0.7 * steps) ** 2 + 3 * (1 - 0.1 * steps) ** 2
    assert scored.imbalance == pytest.approx(expected.mean())
    assert scored.least == pytest.approx(((4 - steps) ** 2 / 4).mean())
    assert str(scored).startswith(
        "exact 66.7, 3 and more objects 100.0, pointing 40.0, imbalance 24.8 (least 6.8, 18.1 above it)"
    )
    blind = scenes.score(Made(looks=False), ["x", "y", "z"], RIGHT, PLACES)
    assert (blind.pointing, blind.imbalance) == (None, None) and str(blind).endswith("100.0")
    both = scenes.mean([scored, scenes.Scored(0.0, 50.0, 0.0, 1.0, 0.0)])
    assert both.many == 75 and both.pointing == pytest.approx(20)
    assert scenes.mean([blind, blind]) == blind


def test_the_runs_of_a_comparison_are_found(tmp_path):
    for folder in ("soft/run", "soft/seed-1/run", "mean/run"):
        (tmp_path / "arms" / folder).mkdir(parents=True)
    found = scenes.arms_of(tmp_path)
    assert {label: len(runs) for label, runs in found.items()} == {"soft": 2, "mean": 1}
    with pytest.raises(MissingData, match="holds no runs"):
        scenes.arms_of(tmp_path / "arms")
