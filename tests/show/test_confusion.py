"""Confusions and calibration as pictures: the right cell dark, the right words at the axes, files of every kind."""

import re

import numpy as np
import pytest

from regard.errors import UsageError
from regard.evaluate import Calibration, Confusion, calibration, confusion
from regard.show.confusion import MOST, confusion_html, draw_confusion, plot_confusion
from regard.show.reliability import draw_reliability, plot_reliability, reliability_html
from show.markup import Reader, fingerprint

TABLE = Confusion(("cat", "cow", "<dog>"), np.array([[3, 0, 1], [0, 0, 0], [2, 0, 11]]))
SURE = calibration(["a"] * 5, ["a", "b", "a", "a", "b"], [0.9, 0.9, 0.3, 0.95, 0.2], bins=5)


def large(count):
    return Confusion(tuple(f"class {number}" for number in range(count)), np.eye(count, dtype=np.int64) * 7)


def test_rows_are_right_answers_and_shares_of_them_are_dark():
    axes = plot_confusion(TABLE)
    image = np.asarray(axes.images[0].get_array()) ** 2
    assert image.tolist() == pytest.approx(np.array([[0.75, 0, 0.25], [0, 0, 0], [2 / 13, 0, 11 / 13]]))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cat", "cow", "<dog>"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["cat", "cow", "<dog>"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("answered", "right answer")
    assert {text.get_position(): text.get_text() for text in axes.texts} == {
        (0, 0): "3", (2, 0): "1", (0, 2): "2", (2, 2): "11",
    }  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 23, 50, 211])
def test_any_number_of_classes_has_a_size_that_a_screen_shows(count):
    axes = plot_confusion(large(count))
    assert max(axes.figure.get_size_inches()) < 20
    assert bool(axes.texts) == (count <= 30), "counts are written where they have room"
    if count <= 50:
        assert len(axes.get_yticklabels()) == count


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_are_written_and_the_same_again(tmp_path, ending, start):
    for draw, what in ((draw_confusion, TABLE), (draw_reliability, SURE)):
        first = draw(what, tmp_path / f"a.{ending}", "t").read_bytes()
        assert first.startswith(start)
        assert draw(what, tmp_path / f"b.{ending}", "t").read_bytes() == first


def test_text_and_names(tmp_path):
    assert draw_confusion(TABLE, tmp_path / "a.txt", "t").read_text("utf-8") == f"t\n{TABLE.as_text()}\n"
    told = draw_reliability(SURE, tmp_path / "b.txt").read_text("utf-8")
    assert told == f"{SURE.as_text()}\nexpected calibration error {SURE.ece:.1f} %, 5 bins, 5 answers\n"
    for draw, what in ((draw_confusion, TABLE), (draw_reliability, SURE)):
        with pytest.raises(UsageError, match=r"ends in \.html, \.png"):
            draw(what, tmp_path / "a.gif")


def test_pages_are_safe_and_hold_every_number(tmp_path):
    for text in (confusion_html(TABLE, "<t>"), reliability_html(SURE, "<t>")):
        read = Reader(text)
        assert all(fingerprint(inside) in read.policy for _, inside in read.of("style"))
        assert read.values("style", "src", "href") == []
        assert read.of("dog") == read.of("t") == []
    page = confusion_html(TABLE)
    grid = re.findall(
        r"<td(?: class=\"([^\"]*)\")?>([\d,]*)</td>", page.partition("</table>")[0].partition("<tbody>")[2]
    )
    assert [count for _, count in grid] == ["3", "", "1", "", "", "", "2", "", "11"]
    assert [kind.endswith("right") for kind, _ in grid] == [True, False, False, False, True, False, False, False, True]
    assert "&lt;dog&gt;" in page
    assert "accuracy 82.4 %, 17 answers" in page
    assert 'class="grid"' not in confusion_html(large(MOST + 1)), "too wide: only the scores of each class"
    assert draw_confusion(TABLE, tmp_path / "a.html").read_text("utf-8") == page
    assert draw_reliability(SURE, tmp_path / "b.html").read_text("utf-8") == reliability_html(SURE)


def test_a_reliability_diagram():
    upper, lower = plot_reliability(SURE)
    bars = {round(patch.get_x(), 6): patch.get_height() for patch in upper.containers[0]}
    assert bars == {0.0: 0.0, 0.2: 1.0, 0.8: pytest.approx(2 / 3)}, "0.2 belongs to the first bin"
    gaps = [(patch.get_y(), patch.get_height()) for patch in upper.containers[1]]
    assert gaps[2] == (pytest.approx(2 / 3), pytest.approx(2.75 / 3 - 2 / 3))
    assert [patch.get_height() for patch in lower.patches] == [1, 1, 3]
    assert upper.get_ylabel() == "share of right answers"


def test_nothing_cannot_be_drawn():
    with pytest.raises(UsageError, match="at least one class"):
        plot_confusion(Confusion((), np.zeros((0, 0), np.int64)))
    with pytest.raises(UsageError, match="at least one answer"):
        plot_reliability(Calibration(()))


def test_odd_names_are_drawn(tmp_path):
    names = ["$x^{$", "a" * 99, ""]
    drawn = draw_confusion(confusion(names, names), tmp_path / "a.png", "$")
    assert drawn.read_bytes().startswith(b"\x89PNG")
