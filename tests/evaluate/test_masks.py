"""Metrics of masks, by hand."""

import math

import numpy as np
import pytest

from regard.data.masks import mask_text
from regard.errors import UsageError
from regard.evaluate import scores_of
from regard.evaluate.masks import count_boundary, count_dice, count_iou, count_precision, count_recall
from regard.evaluate.metrics import METRICS, SEGMENTED


def text(*rows, classes=2):
    return mask_text(np.array(rows, np.uint8), classes)


RIGHT = text([0, 1, 1, 0], [0, 1, 1, 0])
FOUND = text([0, 0, 1, 0], [0, 0, 1, 1])


def test_a_case_by_hand():
    """Two of four are found, and one too many: overlap 2, found 3, right 4."""
    assert count_dice([FOUND], [RIGHT]).value() == pytest.approx(100 * 4 / 7, abs=1e-3)
    assert count_iou([FOUND], [RIGHT]).value() == pytest.approx(100 * 2 / 5, abs=1e-3)
    assert count_recall([FOUND], [RIGHT]).value() == pytest.approx(50)
    assert count_precision([FOUND], [RIGHT]).value() == pytest.approx(100 * 2 / 3, abs=1e-3)


def test_empty_masks():
    nothing = text([0, 0], [0, 0])
    some = text([0, 1], [0, 0])
    assert count_dice([nothing], [nothing]).value() == count_iou([nothing], [nothing]).value() == 100
    assert count_boundary([nothing], [nothing]).value() == 100
    assert count_dice([some], [nothing]).value() == count_dice([nothing], [some]).value() == 0
    assert count_boundary([some], [nothing]).value() == 0
    # Where nothing is to be found there is no recall: the mean is over the other image.
    assert count_recall([some, some], [nothing, some]).value() == 100
    assert count_precision([nothing, some], [some, some]).value() == 100


def test_the_mean_is_over_images_and_over_the_classes_that_are_there():
    both = text([1, 2, 0, 0], classes=4)
    half = text([1, 0, 0, 0], classes=4)
    assert count_dice([half], [both]).value() == pytest.approx(50)  # class 1 whole, class 2 not at all; class 3 nowhere
    assert count_dice([half, both], [both, both]).value() == pytest.approx(75)


def test_pixels_without_a_class_are_not_looked_at():
    right = mask_text(np.array([[0, 1, 255, 255]], np.uint8), 2)
    assert count_dice([text([0, 1, 1, 0])], [right]).value() == 100
    assert count_boundary([text([0, 1, 1, 0])], [right]).value() == 100


def test_boundaries_within_a_tolerance():
    """A square moved by two pixels: its boundary is wholly near at 2 pixels, and at 1 only where it runs along."""
    right, found = np.zeros((20, 20), np.uint8), np.zeros((20, 20), np.uint8)
    right[5:11, 5:11] = 1
    found[5:11, 7:13] = 1
    texts = [mask_text(found, 2)], [mask_text(right, 2)]
    assert count_boundary(*texts, tolerance=2.0).value() == 100
    near = count_boundary(*texts, tolerance=1.0).value()
    # Of 20 pixels of either boundary above and below share 2 x 4 and have 2 x 1 beside them; 2 stand below a corner.
    assert near == pytest.approx(100 * 12 / 20)
    assert count_boundary(*texts, tolerance=0.5).value() == pytest.approx(100 * 8 / 20)
    assert "tolerance:0.75%" in count_boundary(*texts).sign(1) and "tolerance:2px" in count_boundary(*texts, 2.0).sign(
        1
    )


def test_the_tolerance_grows_with_the_diagonal():
    right, found = np.zeros((300, 400), np.uint8), np.zeros((300, 400), np.uint8)
    right[100:200, 100:200] = 1
    found[100:200, 103:203] = 1
    assert math.hypot(300, 400) * 0.0075 == 3.75
    assert count_boundary([mask_text(found, 2)], [mask_text(right, 2)]).value() == 100


def test_every_metric_has_an_interval_in_the_one_table():
    found = scores_of(SEGMENTED, [FOUND, RIGHT, FOUND], [RIGHT, RIGHT, RIGHT])
    assert [each.name for each in found] == ["Dice", "IoU", "pixel recall", "pixel precision", "boundary F1"]
    assert all(0 <= each.low <= each.value <= each.high <= 100 for each in found)
    assert all(METRICS[name].higher for name in SEGMENTED)


def test_what_cannot_be_compared_is_told():
    with pytest.raises(UsageError, match=r"image 1: expected a mask of 2 x 4 pixels; found one of 1 x 4"):
        count_dice([text([0, 0, 0, 1])], [RIGHT])
    with pytest.raises(UsageError, match="image 1: expected a mask such as"):
        count_dice(["a cat"], [RIGHT])
