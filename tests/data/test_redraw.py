"""Formulas laid over an image: the right one fits in any size, a like one does not, and what fits nothing stays."""

import numpy as np
import pytest

from regard.data.formulas import draw_image
from regard.data.mathtext import draw_formula
from regard.data.redraw import ALIKE, SAME, cut_to_ink, fit, likeness, most_alike
from regard.data.sides.formula import FormulaImage

RIGHT = r"f ( m _ { d } ) + \hat { u }"
LIKE = [r"f ( m _ { v } ) + \hat { u }", r"f ( n _ { d } ) + \hat { u }", r"f ( m _ { d } ) + \tilde { u }"]


def read(image):
    """As a model is given it."""
    return FormulaImage("source").pixels(image)[0].numpy()


def test_ink_is_cut_out_and_dark_is_one():
    image = np.full((7, 11), 255, np.uint8)
    image[2, 3], image[4, 8], image[0, 0] = 0, 51, 204
    found = cut_to_ink(image)
    assert found.shape == (3, 6) and found[0, 0] == 1 and found[2, 5] == pytest.approx(0.8)
    assert cut_to_ink(np.full((5, 3), 255, np.uint8)) is None


@pytest.mark.parametrize("seed", [2, 3, 5, 7, 11])
def test_the_right_formula_is_found_in_any_size_shade_and_noise(seed):
    image = read(draw_image(RIGHT, seed))
    for place in range(4):
        formulas = [*LIKE[:place], RIGHT, *LIKE[place:]]
        rest = [each for each in range(4) if each != place]
        assert most_alike(image, formulas) == [place, *rest]
    assert likeness(cut_to_ink(image), RIGHT) > max(likeness(cut_to_ink(image), each) for each in LIKE)


def test_the_likeness_of_a_formula_to_itself_is_one():
    ink = cut_to_ink(draw_formula(RIGHT))
    assert likeness(ink, RIGHT) == pytest.approx(1, abs=1e-5)
    moved = np.pad(ink, ((1, 0), (0, 1)))
    assert likeness(moved, RIGHT) == pytest.approx(1, abs=1e-5), "a pixel away is the same"
    assert likeness(0.5 * ink, RIGHT) == pytest.approx(1, abs=1e-5), "half as dark as well"


def test_a_known_size_is_looked_around():
    ink = cut_to_ink(read(draw_image(RIGHT, 5)))
    found = fit(ink, RIGHT)
    assert found.likeness > 0.99 and 90 < found.dots < 120
    assert fit(ink, RIGHT, found.dots) == found
    assert fit(ink, RIGHT, found.dots * 0.9).likeness < found.likeness, "no size near it fits"
    assert fit(ink, LIKE[0], found.dots).likeness < SAME < 1


@pytest.mark.parametrize("display", [True, False])
def test_fractions_of_either_size_are_known(display):
    right, wrong = r"\frac { x _ { a } } { \beta } - y", r"\frac { x _ { e } } { \beta } - y"
    image = read(draw_image(right, 3, display=display))
    assert most_alike(image, [wrong, right]) == [1, 0]
    assert likeness(cut_to_ink(image), right) > 0.9


def test_what_looks_like_nothing_leaves_the_order():
    image = read(draw_image(RIGHT, 3))
    others = [r"\sum _ { i = 1 } ^ { n } i", r"\nosuch", "x", RIGHT.replace("f", "{")]
    assert all(likeness(cut_to_ink(image), each) < ALIKE < SAME for each in others)
    assert most_alike(image, others) == [0, 1, 2, 3]
    assert most_alike(np.full((16, 24), 255, np.uint8), LIKE) == [0, 1, 2]
    assert most_alike(image, []) == []
