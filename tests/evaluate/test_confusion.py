"""Which classes are taken for which, how sure a model was, and both in a report."""

import json

import numpy as np
import pytest
from rich.cells import cell_len

from regard.errors import UsageError
from regard.evaluate import (
    Confusion,
    Report,
    by_length,
    calibration,
    calibration_of,
    confusion,
    count_accuracy,
    count_ece,
    count_macro_f1,
    draw_lengths,
    scores_of,
    values_of,
)

ANSWERS = ["cat", "cat", "dog", "cow", "dog", "cat", "dog"]
RIGHT = ["cat", "dog", "dog", "cow", "cat", "cat", "cow"]
SURE = [0.9, 0.8, 0.7, 0.95, 0.5, 1.0, 0.3]


def test_by_hand():
    found = confusion(ANSWERS, RIGHT)
    assert found.classes == ("cat", "cow", "dog")
    assert found.counts.tolist() == [[2, 0, 1], [0, 1, 1], [1, 0, 1]], "rows are right answers"
    assert found.accuracy == pytest.approx(4 / 7)
    cat, cow, dog = found.by_class()
    assert (cat.occurs, cat.answered, cat.precision, cat.recall, cat.f1) == pytest.approx((3, 3, 2 / 3, 2 / 3, 2 / 3))
    assert (cow.precision, cow.recall, cow.f1) == pytest.approx((1, 1 / 2, 2 / 3))
    assert (dog.precision, dog.recall, dog.f1) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert 100 * np.mean([each.f1 for each in found.by_class()]) == pytest.approx(
        count_macro_f1(ANSWERS, RIGHT).value()
    )


def test_classes_in_an_order_of_ones_own():
    found = confusion(ANSWERS, RIGHT, ["dog", "bee", "cat", "cow"])
    assert found.counts.tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 2, 0], [1, 0, 0, 1]]
    bee = found.by_class()[1]
    assert (bee.occurs, bee.answered, bee.precision, bee.recall, bee.f1) == (0, 0, 0, 0, 0)
    assert "mean of the classes                          66.7    55.6   57.8" in found.as_text(), (
        "of three, not of four"
    )


def test_text_by_hand():
    assert confusion(ANSWERS, RIGHT).as_text().split("\n") == [
        "class                 occurs  answered  precision  recall     F1",
        "1 cat                      3         3       66.7    66.7   66.7",
        "2 cow                      2         1      100.0    50.0   66.7",
        "3 dog                      2         3       33.3    50.0   40.0",
        "mean of the classes                          66.7    55.6   57.8",
        "",
        "right answer, below; answered:  1  2  3",
        "1 cat                           2  .  1",
        "2 cow                           .  1  1",
        "3 dog                           1  .  1",
    ]


def test_where_the_table_is_too_wide_the_most_frequent_confusions_stand():
    names = [f"class {number}" for number in range(53)]
    right, answers = names * 3, [*names * 2, *names[1:], names[0]]
    text = confusion(answers + ["class 7"] * 2, right + ["class 5"] * 2).as_text()
    assert "class 5 was called class 7: 2" in text
    assert "answered:" not in text
    assert "no class is taken for another" in confusion(names, names).as_text()


def test_odd_names_keep_their_columns():
    names = ["猫" * 30, "a\x1b[2Jb", "two\nlines", ""]
    lines = confusion(names, names).as_text().split("\n")
    assert "\x1b" not in "".join(lines)
    assert len({cell_len(line) for line in lines[:6]}) == 1
    assert "…" in lines[1] + lines[2] + lines[3] + lines[4]


def test_plain_values_and_back():
    found = confusion(ANSWERS, RIGHT, ["dog", "bee", "cat", "cow"])
    told = json.loads(json.dumps(found.as_dict()))
    assert told["classes"] == ["dog", "bee", "cat", "cow"]
    assert [2, 2, 2] in told["cells"] and [0, 2, 1] in told["cells"]
    back = Confusion.from_dict(told)
    assert back.classes == found.classes
    assert np.array_equal(back.counts, found.counts)


def test_mistakes_are_told():
    with pytest.raises(UsageError, match="1 are missing, first 'cow'"):
        confusion(ANSWERS, RIGHT, ["cat", "dog"])
    with pytest.raises(UsageError, match="each class once"):
        confusion(ANSWERS, RIGHT, ["cat", "dog", "cow", "cat"])


# --- calibration -------------------------------------------------------------------------------------------


def test_bins_by_hand():
    found = calibration(ANSWERS, RIGHT, SURE, bins=2)
    low, high = found.bins
    assert (low.low, low.high, low.count, low.accuracy) == (0, 0.5, 2, 0), "a half belongs to the lower bin"
    assert low.confidence == pytest.approx(0.4, abs=1e-8)
    assert (high.count, high.accuracy) == (5, 0.8)
    assert high.confidence == pytest.approx(4.35 / 5, abs=1e-8)
    assert found.ece == pytest.approx(count_ece(ANSWERS, RIGHT, SURE, bins=2).value(), abs=1e-6)


def test_fifteen_bins_and_the_empty_ones():
    found = calibration_of(count_ece(ANSWERS, RIGHT, SURE))
    assert len(found.bins) == 15
    assert sum(each.count for each in found.bins) == 7
    assert (found.bins[0].confidence, found.bins[0].accuracy) == (None, None)
    assert found.bins[-1].count == 2, "0.95 and 1"
    assert found.ece == pytest.approx(count_ece(ANSWERS, RIGHT, SURE).value(), abs=1e-6)
    assert json.loads(json.dumps(found.as_dict()))["bins"][0]["accuracy"] is None


def test_bins_as_text():
    lines = calibration(ANSWERS, RIGHT, SURE, bins=2).as_text().split("\n")
    assert lines[1] == "       0-50 %        2     0 %  " + " " * 16 + "|"
    assert lines[2] == "     50-100 %        5    80 %  " + "█" * 32 + "  " + " |"
    assert len(lines) == 3


# --- in a report -------------------------------------------------------------------------------------------


def test_a_report_of_a_classifier():
    found = Report(
        "c", confusion=confusion(ANSWERS, RIGHT), calibration=calibration(ANSWERS, RIGHT, SURE),
        lengths=tuple(by_length(["a"] * 7, ANSWERS, RIGHT, metric="accuracy")),
    )  # fmt: skip
    text = found.as_text()
    assert "by class\n  class  " in text
    assert "how sure, and how often right\n  " in text
    assert "accuracy by source length" in text
    body = json.loads(found.as_json())
    assert body["confusion"] == found.confusion.as_dict()
    assert body["calibration"]["ece"] == found.calibration.ece
    assert body["lengths"][0]["score"]["name"] == "accuracy"


def test_the_scores_that_a_task_names():
    scores = scores_of(["accuracy", "macro_f1", "ece"], ANSWERS, RIGHT, SURE, seed=7)
    assert scores == (count_accuracy(ANSWERS, RIGHT).score(7), count_macro_f1(ANSWERS, RIGHT).score(7),
                      count_ece(ANSWERS, RIGHT, SURE).score(7))  # fmt: skip
    found = Report("c", scores=scores)
    assert found.by_metric() == dict(zip(("accuracy", "macro_f1", "ece"), scores, strict=True))
    assert values_of(found.as_dict()) == {name: score.value for name, score in found.by_metric().items()}


def test_accuracy_over_length_is_drawn_and_named(tmp_path):
    buckets = by_length(["a", "a b"] * 3 + ["a"], ANSWERS, RIGHT, edges=[1], metric="accuracy")
    text = draw_lengths({"c": buckets}, tmp_path / "a.svg").read_text("utf-8")
    assert "<!-- accuracy (95 % interval) -->" in text
    other = by_length(["a", "a b"] * 3 + ["a"], ANSWERS, RIGHT, edges=[1], metric="macro_f1")
    with pytest.raises(UsageError, match="one metric for all; found accuracy, macro F1"):
        draw_lengths({"a": buckets, "b": other}, tmp_path / "b.svg")
