"""Tables, curves and pages of arms that were trained several times, of whatever task."""

import json
from dataclasses import replace

import numpy as np
import pytest

from compare.made import arm_result, blind, report, result
from regard.compare import Arm, ArmResult, Measures, Pairs, Plan, Trial, draw_examples
from regard.compare.examples import choose
from regard.compare.figure import curve_metric, curve_of
from regard.compare.measures import count_links, metric_called
from regard.compare.report import _by_length
from regard.compare.tables import length_table, main_table, metric_table, seed_table, signed
from regard.compare.trials import trials_of
from regard.evaluate import METRICS, Bucket, Gold, Score, aer

SOURCES, LABELS = ["one two three", "four", "five six", "seven eight nine ten"], ["good", "bad", "bad", "good"]


def scored(trial, outputs, main="exact match"):
    """A trial that answered with labels: its first metric is not BLEU."""
    value = 100 * sum(map(str.__eq__, outputs, LABELS)) / len(LABELS)
    lengths = (
        Bucket(1, 2, 2, Score(main, value, "s", value, value)),
        Bucket(3, 4, 2, Score(main, value, "s", 0.0, 100.0)),
    )
    made = result(trial.arm.label)
    scores = {main: Score(main, value, "nrefs:1", value - 3, value + 5), "tempo": Score("tempo", 7.0, "", 5.0, 11.0)}
    return replace(made, trial=trial, scores=scores, lengths=lengths, outputs=tuple(outputs))


@pytest.fixture
def measures():
    """Two arms of a task that answers with labels, two seeds each; the second gets one more right in each."""
    first, second = Arm("plain", "luong", task="reconstruct"), Arm("better", "luong", task="reconstruct")
    wrong = [["bad", "bad", "good", "bad"], ["good", "good", "good", "bad"]]
    right = [["good", "bad", "good", "bad"], ["good", "bad", "good", "bad"]]
    arms = [
        ArmResult(arm, tuple(scored(Trial(arm, n, 3 + n, alone=False), each) for n, each in enumerate(outputs)))
        for arm, outputs in ((first, wrong), (second, right))
    ]
    return Measures(arms, Pairs(SOURCES, LABELS))


def test_the_first_metric_is_the_main_one_whatever_it_is(measures):
    assert [each.label for each in measures.metrics] == ["exact match", "tempo"]
    head, first, second = main_table(measures)
    assert head[1:6] == ["exact match", "against the first", "all seeds agree", "tempo", "parameters"]
    assert first[1].startswith("25.0 % ± 0.0 % [")
    assert first[2:4] == ["-", "-"]
    assert second[2].startswith("+25.0 % [") and second[3] == "yes"
    assert second[4] == "7.0 ± 0.0", "a metric that nobody knows is told as it is"
    assert _by_length(measures) == "exact match by source length"


def test_every_metric_has_its_interval(measures):
    head, *rows = metric_table(measures)
    assert head == [
        "arm",
        "metric",
        "mean",
        "standard deviation",
        "95 % interval",
        "against the first",
        "all seeds agree",
    ]
    assert [row[:4] for row in rows[:2]] == [
        ["plain", "exact match", "25.0 %", "0.0 %"],
        ["better", "exact match", "50.0 %", "0.0 %"],
    ]
    assert rows[2][1:5] == ["tempo", "7.0", "0.0", "[7.0, 7.0]"]
    assert rows[3][5] == "+0.0 (rounded to none)"


def test_seeds_and_lengths(measures):
    assert [row[:3] for row in seed_table(measures)[1:]] == [
        ["plain", "3", "25.0 %"], ["plain", "4", "25.0 %"], ["better", "3", "50.0 %"], ["better", "4", "50.0 %"],
    ]  # fmt: skip
    rows = length_table(measures)
    assert rows[0] == ["words", "sentences", "plain", "better", "lead of the first"]
    assert rows[1] == ["1-2", "2", "25.0 % ± 0.0 %", "50.0 % ± 0.0 %", "-25.0 %"]
    low, high = measures.buckets(1)
    assert (low.score.low, low.score.high) == (0.0, 100.0), "its two sentences, one of them right, are drawn"
    assert low.count == high.count == 2


def test_a_task_without_a_drawing_shows_its_answers(measures):
    section = draw_examples(measures.arms, measures.pairs, Plan("reviews"))
    assert section.heading == "What each arm answered"
    assert [part.count("<dt") for part in section.parts] == [4, 4, 4]
    assert '<dt dir="auto">better</dt><dd dir="auto">bad</dd>' in section.parts[0]


def test_short_middling_and_longer_sentences_are_chosen():
    lines = [" " * number + "x" * number for number in range(12)]  # the first is empty
    assert [each.row for each in choose(Pairs(lines, lines))] == [2, 6, 10]
    assert choose(Pairs(["", " "], ["", ""])) == []


def test_alignment_errors_are_counted_by_sentence():
    found, sure, possible = (((0, 0), (1, 2)), ((0, 1),)), [((0, 0),), ((0, 1), (1, 1))], [((1, 2),), ()]
    error = aer(found, sure, possible).aer
    gold = Gold(sure, possible)
    counted = count_links(replace(result("a"), links=found, aer=error), gold)
    assert counted.rows.tolist() == [[2, 2, 1, 1], [1, 1, 1, 2]]
    assert counted.value() == pytest.approx(error)
    assert count_links(replace(result("a"), links=found, aer=error + 0.01), gold) is None, "links of other words"
    assert count_links(replace(result("a"), links=None, aer=error), gold) is None
    assert count_links(replace(result("a"), links=found, aer=error), None) is None


def test_curves_of_seeds_are_read_at_the_times_that_all_have():
    one, two = (replace(result("a", seed), curve=curve) for seed, curve in enumerate([
        ((60.0, {"bleu": 10.0}), (180.0, {"bleu": 30.0})),
        ((120.0, {"bleu": 40.0}), (240.0, {"bleu": 60.0})),
    ]))  # fmt: skip
    minutes, values = curve_of(ArmResult(one.trial.arm, (one, two)), "bleu")
    assert minutes.tolist() == [2.0, 3.0]
    assert values.tolist() == [[20.0, 30.0], [40.0, 50.0]]
    assert curve_of(ArmResult(one.trial.arm, (one, two)), "chrf") is None
    single = ArmResult(one.trial.arm, (one,))
    assert curve_of(single, "bleu")[0].tolist() == [1.0, 3.0], "of one seed as it was validated"
    late = replace(two, curve=((600.0, {"bleu": 7.0}),))  # one had ended before another was first validated
    assert len(curve_of(ArmResult(one.trial.arm, (one, late)), "bleu")[0]) == 1


def test_the_curve_is_of_the_main_metric_if_it_was_validated():
    arm = arm_result("a")
    assert curve_metric([arm], METRICS["bleu"]).name == "bleu"
    assert curve_metric([arm], metric_called("accuracy of nobody")).name == "bleu"


def test_whole_seeds_are_finished_first():
    arms = [Arm("a", "luong"), Arm("b", "luong"), Arm("c", "x", finished=True, others=("y",))]
    order = [(each.arm.label, each.name) for each in trials_of(Plan("copy", seed=7, seeds=3), arms)]
    assert order == [
        ("a", "seed 7"), ("b", "seed 7"), ("c", "x"), ("a", "seed 8"), ("b", "seed 8"), ("c", "y"),
        ("a", "seed 9"), ("b", "seed 9"),
    ]  # fmt: skip


def test_signs():
    assert signed(METRICS["bleu"], -0.04) == "+0.0"
    assert signed(METRICS["aer"], -0.012) == "-1.2%"
    assert signed(METRICS["exact_match"], 3.0) == "+3.0 %"


def test_a_report_of_seeds(tmp_path):
    page = report(tmp_path, ["one", "two"], [(["a", "b"], [blind(["c"]), blind(["d"])])], seeds=3)
    told = page.read_text(encoding="utf-8")
    for heading in ("Every metric", "Seed by seed", "BLEU by source length"):
        assert f"<h3>{heading}</h3>" in told
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# copy, 3 updates each, 3 seeds\n")
    assert "--seed 2" in text and str(tmp_path / "arms" / "two" / "seed-2" / "run") in text
    numbers = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    first, second = numbers["arms"]
    assert first["differences"] == {} and first["scores"]["BLEU"]["seeds"] == {f"seed {n}": 31.0 for n in range(3)}
    assert second["differences"]["BLEU"]["agree"] is False and second["differences"]["BLEU"]["value"] == 0.0
    assert [each["seed"] for each in second["trials"]] == [0, 1, 2]
    assert np.isfinite(second["scores"]["chrF2"]["low"])


def test_a_bucket_draws_its_own_sentences():
    """All short sources are answered rightly and all long ones wrongly, by both seeds: no draw moves either bucket."""
    outputs = ["bad", "bad", "bad", "bad"]
    trials = [scored(Trial(Arm("a", "luong"), seed, seed, alone=False), outputs) for seed in (0, 1)]
    short, long = (replace(trials[0].lengths[place].score, value=value) for place, value in ((0, 100.0), (1, 0.0)))
    lengths = tuple(replace(each, score=score) for each, score in zip(trials[0].lengths, (short, long), strict=True))
    arm = ArmResult(trials[0].trial.arm, tuple(replace(each, lengths=lengths) for each in trials))
    found = Measures([arm], Pairs(SOURCES, LABELS)).buckets(0)
    assert [(each.score.low, each.score.high) for each in found] == [(100.0, 100.0), (0.0, 0.0)]


def test_a_single_sentence_is_no_choice():
    """Every draw would repeat it, and the interval say that other sentences do not matter."""
    made = scored(Trial(Arm("a", "luong"), 0, 0), LABELS[:1])
    found = Measures([ArmResult(made.trial.arm, (made,))], Pairs(SOURCES[:1], LABELS[:1]))
    assert found.estimate(found.main, 0).low is None
