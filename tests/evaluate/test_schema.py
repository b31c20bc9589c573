"""The one form of scores.json, and the older ones that are read into it."""

import json

import pytest

from regard.errors import BrokenData
from regard.evaluate import Report, Score, exact_match, read_scores, validation_scores, values_of


def test_a_report_is_read_as_it_was_written():
    report = Report("r", scores=(exact_match(["x", "y"], ["x", "z"]),))
    told = read_scores(report.as_json())
    assert told == report.as_dict()
    assert Score(**told["scores"][0]) == report.scores[0]
    assert values_of(told) == {"exact_match": 50.0}


def test_a_report_of_before_it_named_its_format():
    old = {"title": "r", "scores": [{"name": "BLEU", "value": 3.0, "signature": "s", "low": 2.0, "high": 5.0}]}
    assert read_scores(json.dumps(old)) == {"format": "regard-scores-1", **old}


def test_a_validation():
    told = validation_scores({"bleu": 17.5, "nll": 2.25, "mine": 3.0}, 500, seconds=7.5, metric="bleu")
    assert told == {
        "format": "regard-scores-1",
        "title": "validation",
        "scores": [{"name": "BLEU", "value": 17.5}, {"name": "nll", "value": 2.25}, {"name": "mine", "value": 3.0}],
        "training": {"updates": 500, "seconds": 7.5, "metric": "bleu"},
    }
    assert read_scores(json.dumps(told)) == told
    assert values_of(told) == {"bleu": 17.5, "nll": 2.25, "mine": 3.0}


def test_what_validations_once_wrote():
    told = read_scores('{"number": 500, "bleu": 1.5, "exact": 7.0, "surprise": 3.0}')
    assert told == validation_scores({"bleu": 1.5, "exact_match": 7.0, "nll": 3.0}, 500)
    assert values_of(told) == {"bleu": 1.5, "exact_match": 7.0, "nll": 3.0}
    assert read_scores('{"number": 3}')["scores"] == []


def test_what_trainings_once_wrote():
    told = read_scores('{"metric": "bleu", "best": 1.5, "updates": 300, "seconds": 61.5}')
    assert told == validation_scores({"bleu": 1.5}, 300, seconds=61.5, metric="bleu")
    bare = read_scores('{"metric": null, "best": null, "updates": 300, "seconds": 61.5}')
    assert (bare["scores"], bare["training"]) == ([], {"updates": 300, "seconds": 61.5})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{\n1", "model/scores.json:2: expected JSON"),
        ("[1]", "expected a JSON object of scores; found a list"),
        ('{"format": "regard-scores-2"}', "expected the format 'regard-scores-1'; found 'regard-scores-2'"),
        ('{"bleu": 3}', "expected the keys 'title' and 'scores'; found 'bleu'"),
        ("{}", "found none"),
    ],
)
def test_what_cannot_be_read(text, told):
    with pytest.raises(BrokenData, match=told):
        read_scores(text, "model/scores.json")
