"""Formulas drawn by mathtext: what is drawn, what is not, and what is rewritten for it."""

import numpy as np
import pytest

from regard.data.mathtext import draw_formula, drawable


def test_ink_on_white_cut_to_the_ink():
    image = draw_formula("x")
    assert image.dtype == np.uint8 and image.ndim == 2
    assert image.min() < 60 and image.max() == 255
    for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
        assert edge.min() < 255


def test_more_dots_are_a_larger_image():
    small, large = draw_formula("x + y", dots=100.0), draw_formula("x + y", dots=200.0)
    assert large.shape[1] / small.shape[1] == pytest.approx(2, rel=0.1)


def test_scripts_are_small_and_stand_apart():
    plain, upper, lower = (draw_formula(each) for each in ("x 2", "x ^ { 2 }", "x _ { 2 }"))
    assert upper.shape != lower.shape or not np.array_equal(upper, lower)
    assert upper.shape != plain.shape and lower.shape != plain.shape
    assert lower.shape[0] > draw_formula("x").shape[0]


@pytest.mark.parametrize(
    "formula", [r"\nosuchcommand", "{ a", "x ^", r"\frac { a }", "", "$", "x _ 1 _ 2", r"\begin{matrix} a"]
)
def test_what_cannot_be_drawn(formula):
    assert draw_formula(formula) is None


def test_nothing_but_space_is_nothing():
    assert draw_formula("~ ~") is None


@pytest.mark.parametrize(
    ("formula", "given"),
    [
        (r"\begin{matrix} a & b \\ c & d \end{matrix}", r"\substack{a\\c}\;\substack{b\\d}"),
        (r"\begin{pmatrix} a \\ b \end{pmatrix}", r"\left(\substack{a\\b}\right)"),
        (r"\begin{bmatrix} a & b \\ c \\ \end{bmatrix}", r"\left[\substack{a\\c}\;\substack{b\\~}\right]"),
        (
            r"\begin{vmatrix} \frac { a } { b } & \begin{matrix} c \end{matrix} \end{vmatrix}",
            r"\left|\substack{\frac{a}{b}}\;\substack{\substack{c}}\right|",
        ),
        (r"\stackrel { a } { b }", r"\overset{a}{b}"),
        (r"\alpha x", r"\alpha x"),
    ],
)
def test_what_mathtext_is_given(formula, given):
    assert drawable(formula) == given
    assert draw_formula(formula) is not None


def test_matrices_that_do_not_match_are_left_alone():
    assert draw_formula(r"\begin{matrix} a \end{pmatrix}") is None


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r"\frac a b", r"\dfrac{a}{b}"),
        (r"\frac{\frac a b}{c} + \frac d{\frac e f}", r"\dfrac{\frac{a}{b}}{c}+\dfrac{d}{\frac{e}{f}}"),
        (r"x^{\frac a b}_{\frac c d} \frac e f", r"x_{\frac{c}{d}}^{\frac{a}{b}}\dfrac{e}{f}"),
        (r"\sqrt{\frac a b} {\frac c d}", r"\sqrt{\dfrac{a}{b}}{\dfrac{c}{d}}"),
        ("x } y", "x}y"),
    ],
)
def test_displayed_fractions_are_large_unless_they_stand_in_something_small(formula, expected):
    assert drawable(formula, display=True) == expected
    assert "dfrac" not in drawable(formula)


def test_a_displayed_fraction_is_taller():
    small, large = (draw_formula(r"\frac { a } { b }", display=each) for each in (False, True))
    assert len(large) > 1.2 * len(small)
