"""Comparisons of classifiers: intervals of calibration, and which classes are taken for which, over all seeds."""

from pathlib import Path

import numpy as np
import pytest

from regard.compare import Arm, ArmResult, Measures, Outcome, Pairs, Plan, Result, Section, Trial, write_report
from regard.evaluate import METRICS, Score
from regard.evaluate.metrics import counting

RIGHT = ["good", "bad", "good", "bad", "good"]
ANSWERS = (["good", "bad", "bad", "bad", "good"], ["good", "good", "bad", "bad", "good"])
SURE = ((0.9, 0.8, 0.55, 0.7, 1.0), (0.6, 0.65, 0.7, 0.75, 0.8))


def trial(seed, probabilities=True):
    """One seed of an arm, with the scores that its answers have."""
    answers, sure = ANSWERS[seed], SURE[seed]
    ece = counting("ece", sure)(answers, RIGHT).value()
    accuracy = counting("accuracy")(answers, RIGHT).value()
    scores = {"accuracy": Score("accuracy", accuracy, "", 0.0, 1.0), "ECE": Score("ECE", ece, "", 0.0, 1.0)}
    arm = Trial(Arm("soft", "classify"), seed, seed, alone=False)
    kept = sure if probabilities else None
    return Result(arm, Path("soft"), 1009, scores, (), None, 7.0, tuple(answers), probabilities=kept)


def measures(probabilities=True):
    arms = [ArmResult(Arm("soft", "classify"), tuple(trial(seed, probabilities) for seed in range(2)))]
    return Measures(arms, Pairs(["a b"] * 5, RIGHT))


def test_the_calibration_error_has_an_interval():
    found = measures().estimate(METRICS["ece"], 0)
    values = [counting("ece", sure)(answers, RIGHT).value() for answers, sure in zip(ANSWERS, SURE, strict=True)]
    assert found.value == pytest.approx(np.mean(values))
    assert measures().counted(METRICS["ece"], 0) is not None
    assert found.low < found.value < found.high


def test_without_probabilities_it_cannot_be_counted_again():
    assert measures(probabilities=False).counted(METRICS["ece"], 0) is None
    assert measures(probabilities=False).counted(METRICS["accuracy"], 0) is not None


def test_confusions_are_of_all_seeds():
    (table,) = measures().confusions().values()
    assert table.classes == ("bad", "good")
    # Of 2 x 2 bad ones, three were called bad; of 2 x 3 good ones, four were called good.
    assert table.counts.tolist() == [[3, 1], [2, 4]]


def test_what_is_no_class_has_no_confusions():
    arm = ArmResult(Arm("soft", "classify"), (trial(0),))
    arm.first.scores.pop("accuracy")
    assert Measures([arm], Pairs(["a b"] * 5, RIGHT)).confusions() == {}


def test_the_report_draws_them(tmp_path):
    found = measures()
    outcomes = [Outcome(each.trial, tmp_path) for each in found.arms[0].trials]
    page = write_report(Plan("reviews", steps=3, seeds=2), outcomes, found, Section("Answers", []), tmp_path)
    assert (tmp_path / "figures" / "confusion-1.png").is_file()
    assert (tmp_path / "figures" / "confusion-1.svg").is_file()
    assert "Which classes soft takes for which" in page.read_text(encoding="utf-8")
