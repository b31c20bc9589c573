"""The one table of metrics: directions, how values are printed, older names."""

import pytest

from regard.errors import UnknownName, UsageError
from regard.evaluate import METRICS, count_bleu
from regard.evaluate.metrics import LABELLED, RENAMED, TAGGED, WRITTEN, counting, is_higher_better, metric
from regard.learn.events import Validation

LOWER = {
    *("ece", "nll", "perplexity", "piece_perplexity", "bits_per_byte", "aer", "loss"),
    *("frechet", "symmetry_error", "mse", "noise_left"),
}


def test_every_metric_knows_which_way_is_better():
    assert {name for name, each in METRICS.items() if not each.higher} == LOWER
    for name, each in METRICS.items():
        assert each.name == name
        assert each.better(3.0) == (-3.0 if name in LOWER else 3.0)
        assert is_higher_better(name) == each.higher
        assert (each.count is not None) == (each.needs == "answers")
        assert (each.count_sure is not None) == (each.needs == "probabilities")
    assert is_higher_better("something of a user's own")


def test_values_are_printed_as_people_write_them():
    told = {name: each.told(0.25) for name, each in METRICS.items()}
    assert told == {
        "bleu": "0.2", "chrf": "0.2", "exact_match": "0.2 %", "accuracy": "0.2 %", "macro_f1": "0.2 %",
        "tag_accuracy": "0.2 %", "ece": "0.2 %", "nll": "0.250", "perplexity": "0.25",
        "piece_perplexity": "0.25", "bits_per_byte": "0.250", "aer": "25.0%",
        "loss": "0.250", "fill_accuracy": "0.2 %", "pointing": "0.2 %",
        "token_bleu": "0.2", "edit_accuracy": "0.2 %", "token_match": "0.2 %", "image_match": "0.2 %",
        "image_near": "0.2 %", "dice": "0.2 %", "iou": "0.2 %", "pixel_recall": "0.2 %", "pixel_precision": "0.2 %",
        "boundary_f1": "0.2 %", "frechet": "0.25", "diversity": "0.2 %", "symmetry_error": "0.2 %", "mse": "0.2500",
        "psnr": "0.25 dB", "noise_left": "0.2 %",
    }  # fmt: skip
    assert METRICS["aer"].told(None) == "-"


def test_what_text_is_measured_by_counts_answers():
    for name in WRITTEN:
        assert counting(name)(["a b c d"], ["a b c d"]).value() == pytest.approx(100)
    assert counting(count_bleu) is count_bleu


def test_what_labels_and_tags_are_measured_by_counts_answers():
    for name in (*LABELLED, *TAGGED):
        counted = counting(name, [1.0, 1.0])(["a", "b"], ["a", "b"])
        assert counted.value() == pytest.approx(100 if METRICS[name].higher else 0)
        assert counted.name == METRICS[name].label, "a score is found by its label"


def test_an_unknown_metric_is_told_and_one_that_counts_nothing_too():
    with pytest.raises(UnknownName, match="bleu"):
        metric("blue")
    with pytest.raises(UnknownName, match="metric of outputs"):
        counting("nll")
    with pytest.raises(UsageError, match="ECE needs the probability of each answer; none were given"):
        counting("ece")


def test_older_names_mean_what_they_meant():
    assert {old: metric(old).name for old in RENAMED} == {"exact": "exact_match", "surprise": "nll"}
    assert Validation({"bleu": 1.0, "nll": 2.0}).score("surprise") == ("nll", -2.0)
