"""Metrics of formulas: cases by hand, and what cannot be drawn."""

import pytest

from regard.evaluate.formulas import (
    count_edits,
    count_image_match,
    count_image_near,
    count_token_bleu,
    count_token_match,
    edit_distance,
    look_equal,
    look_near,
)
from regard.evaluate.metrics import DRAWN, METRICS, measured
from regard.evaluate.scores import scores_of


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "abc", 0), ("abcd", "acd", 1), ("ab", "ba", 2), ("", "", 0)],
)
def test_edit_distance(one, other, edits):
    assert edit_distance(one, other) == edit_distance(other, one) == edits


def test_edits_by_hand():
    """x _ { i } is five tokens, of which one is another; a b against a b c d: two of four; nothing against nothing."""
    counted = count_edits(["x_j", "a b"], ["x_{i}", "a b c d"])
    assert counted.rows.tolist() == [[4, 5], [2, 4]]
    assert counted.value() == pytest.approx(100 * 6 / 9)


def test_the_nearest_of_several_references_counts():
    assert count_edits(["a b"], [["c d", "a c"]]).rows.tolist() == [[1, 2]]
    assert count_token_match(["x^2_i"], [["y", "x_i^2"]]).value() == 100


def test_tokens_match_whatever_their_spaces():
    assert count_token_match(["x^2_i", "a+b"], ["x _ { i } ^ { 2 }", "a + c"]).rows.tolist() == [[1, 1], [0, 1]]
    assert count_token_bleu([r"\frac12 + x"], [r"\frac { 1 } { 2 } + x"]).value() == pytest.approx(100)
    assert 0 < count_token_bleu([r"\frac12 + y"], [r"\frac { 1 } { 2 } + x"]).value() < 100


def test_formulas_that_look_the_same_are_the_same():
    assert look_equal(r"\{ x \}", r"\lbrace x \rbrace")
    assert look_equal("{ x } + y", "x + y") or look_near("{ x } + y", "x + y")
    assert not look_equal("x", "y") and not look_near("x", "y")
    for slim, other in (("1", "l"), (".", ","), ("i", "j"), (":", ";"), ("|", "/")):
        assert not look_near(f"a {slim} b", f"a {other} b"), (slim, other)


def test_white_space_aside():
    """A thin space makes another image, with the same columns of ink."""
    assert not look_equal(r"a \, b", "a b")
    assert look_near(r"a \, b", "a b")
    assert not look_near("a b", "b a")
    assert not look_near("a b", "a b c")


def test_what_cannot_be_drawn_is_wrong():
    for count in (count_image_match, count_image_near):
        counted = count([r"\nosuch", "x", "x ^"], [r"\nosuch", r"\nosuch", "x ^ 2"])
        assert counted.rows.tolist() == [[0, 1]] * 3
    assert count_image_match(["x", ""], ["x", "x"]).rows.tolist() == [[1, 1], [0, 1]]


def test_all_stand_in_the_table_with_intervals():
    outputs, references = ["x + y", "a", r"\sqrt{x}"], ["x + y", "b", r"\sqrt x"]
    for score in scores_of(DRAWN, outputs, references):
        assert 0 <= score.low <= score.value <= score.high <= 100 + 1e-9
        assert "version" in score.signature
    assert [METRICS[name].higher for name in DRAWN] == [True] * 5

    class Answer:
        def __init__(self, text):
            self.text = text

    values = measured(DRAWN, [Answer(each) for each in outputs], references)
    assert values["token_match"] == values["image_match"] == pytest.approx(200 / 3)
