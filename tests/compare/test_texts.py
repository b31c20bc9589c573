"""Comparisons of models that learn from text alone: what fillers are asked depends on their pieces."""

import json

import pytest
from typer.testing import CliRunner

from regard.cli import app

FEW = ("train.tokens=512", "train.tensorboard=false", "train.precision=fp32")
TINY = {
    "fill": ("embed.width=8", "encode.layers=1", "encode.feed=11", "encode.attend.heads=2", "task.examples.length=32"),
    "generate": ("predict.embed.width=8", "predict.layers=1", "task.examples.length=13"),
}


def compared(verb, arms, out):
    settings = [word for each in (*FEW, *TINY[verb]) for word in ("-s", each)]
    asked = ["compare", *arms, "--data", "stories", "--size", "60", "--steps", "2", "--out", str(out), *settings]
    found = CliRunner().invoke(app, asked)
    assert found.exit_code == 0, found.output
    return json.loads((out / "report.json").read_text()), (out / "report.html").read_text()


def test_fillers_are_each_measured_by_their_own_questions(tmp_path):
    arms = ("words: bert task.source.pieces=words", "letters: bert task.source.pieces=characters")
    found, page = compared("fill", arms, tmp_path / "report")
    assert found["main"] == "fill accuracy"
    for arm in found["arms"]:
        score, (trial,) = arm["scores"]["fill accuracy"], arm["trials"]
        assert score["value"] == pytest.approx(trial["scores"]["fill accuracy"]["value"])
        assert score["low"] <= score["value"] <= score["high"]
        assert "asked" not in trial
    assert "What each arm found for hidden words" in page and "[MASK]" in page and "(hidden: " in page


def test_language_models(tmp_path):
    arms = ("gpt2: gpt2 predict.feed=11 predict.self_attend.heads=2", "state: lstm-lm predict.hidden=8")
    found, page = compared("generate", arms, tmp_path / "report")
    assert found["main"] == "perplexity" and "What each arm writes, and looked back at" in page
    assert page.count('class="samples"') == 3 and page.count('<div data-regard="figures"') == 3
    assert "perplexity over the number of weights" in page and (tmp_path / "report/figures/sizes.png").is_file()
    for arm in found["arms"]:
        score = arm["scores"]["perplexity"]
        assert score["value"] == pytest.approx(arm["trials"][0]["scores"]["perplexity"]["value"])
        assert score["low"] < score["value"] < score["high"]
    head = (tmp_path / "report/report.md").read_text().split("\n| ---")[0]
    assert head.count("perplexity") == 2 and "parameters" in head, "by word and by piece, once each"
    card = (tmp_path / "report/arms/gpt2/run/best/README.md").read_text()
    assert "## What it writes" in card and "Temperature 1.5:" in card
    assert [arm["arm"]["label"] for arm in found["arms"]] == ["gpt2", "state"]
