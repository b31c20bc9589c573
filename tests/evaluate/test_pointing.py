"""Pointing accuracy, by hand."""

import numpy as np
import pytest

from regard.data.places import Place
from regard.errors import UsageError
from regard.evaluate.metrics import METRICS, is_higher_better
from regard.evaluate.pointing import count_pointing, peak

LEFT, RIGHT = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)


def maps(*cells):
    """A map of 3 x 5 cells for each word, with its weight on one of them."""
    found = np.zeros((len(cells), 3, 5), np.float32)
    for word, (row, column) in enumerate(cells):
        found[word, row, column] = 1
    return found


def test_the_peak_is_the_middle_of_a_cell():
    assert peak(maps((1, 3))[0]) == pytest.approx((0.7, 0.5))
    assert peak(np.full((3, 5), 1 / 15)) == pytest.approx((0.1, 1 / 6)), "of equal ones the first"


def test_hits_are_counted_image_by_image():
    looked = [maps((0, 0), (2, 4), (1, 1)), maps((1, 0))]
    places = [[Place(0, LEFT), Place(1, LEFT), Place(2, LEFT)], [Place(0, RIGHT)]]
    counted = count_pointing(looked, places)
    assert counted.rows.tolist() == [[2, 3], [0, 1]]
    assert counted.value() == pytest.approx(50)
    assert counted.score().name == METRICS["pointing"].label and is_higher_better("pointing")


def test_a_word_without_a_map_is_missed_and_none_counts_for_nothing():
    counted = count_pointing([maps((0, 0)), maps()], [[Place(0, LEFT), Place(7, LEFT)], []])
    assert counted.rows.tolist() == [[1, 2], [0, 0]]


def test_lists_of_unequal_length():
    with pytest.raises(UsageError, match="one length"):
        count_pointing([maps((0, 0))], [])
