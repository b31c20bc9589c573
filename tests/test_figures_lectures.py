"""Short versions of the lectures' figures (`python benchmarks/figures.py`): what docs/lectures.md claims must hold."""

import json
import re
import sys
from pathlib import Path

import pytest
import torch

from regard.align.alignment import Alignment
from regard.attend import Attention
from regard.evaluate import Bucket, Score
from regard.show.canvas import new_figure
from regard.show.matrix import plot_matrix

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import cost
import figures
import gradients

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def measured():
    """What layers cost on short sequences."""
    return cost.measure(**cost.QUICK)


@pytest.fixture
def places(tmp_path):
    return figures.Places(tmp_path / "models", tmp_path / "pictures", tmp_path / "numbers", quick=True)


def head(path):
    """Is this file a picture that can be seen?"""
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size > 5000


# --- cost --------------------------------------------------------------------------------------------------


def test_the_bytes_of_self_attention_grow_with_the_square_and_of_the_others_with_the_length(measured):
    found = {name: kind["exponents"]["memory"] for name, kind in measured["kinds"].items()}
    assert found["self-attention"] == pytest.approx(2.0, abs=0.15)
    assert found[cost.FUSED] < found["self-attention"]
    for name in ("recurrent", "convolution", "local self-attention"):
        assert found[name] == pytest.approx(1.0, abs=0.15), name


def test_the_fused_kernel_and_the_window_hold_less_than_all_the_weights(measured):
    longest = {name: kind["costs"][-1]["peak"] for name, kind in measured["kinds"].items()}
    assert longest[cost.FUSED] < longest["self-attention"]
    assert longest["local self-attention"] < longest["self-attention"]


def test_only_self_attention_has_a_path_that_does_not_grow(measured):
    found = {name: kind["exponents"]["path"] for name, kind in measured["kinds"].items()}
    assert found["self-attention"] == 0.0
    for name in ("recurrent", "convolution", "local self-attention"):
        assert found[name] == pytest.approx(1.0, abs=0.05), name


def test_paths_by_hand():
    """Eleven positions: ten steps of one, five of two (a kernel of 5), one of all, two of up to eight."""
    assert (cost.KERNEL, cost.REACH) == (5, 8)
    assert [cost.path(kind, 11) for kind in cost.KINDS.values()] == [10, 5, 1, 2]
    assert [cost.path(kind, 1) for kind in cost.KINDS.values()] == [0, 0, 0, 0]


@pytest.mark.parametrize("name", ["convolution", "self-attention", "local self-attention"])
def test_the_wiring_is_that_of_the_layers(name):
    """As many layers as the path is long carry the first input to the last output, and one fewer does not."""
    length, kind = 23, cost.KINDS[name]
    longest = cost.path(kind, length)
    for count in (longest - 1, longest):
        inputs = torch.randn(1, length, 8, requires_grad=True)
        states, mask = inputs, torch.ones(1, length, dtype=torch.bool)
        for _ in range(count):
            states = kind.make(8)(states, mask)
        (found,) = torch.autograd.grad(states[0, -1].square().sum(), inputs)
        assert bool(found[0, 0].any()) == (count == longest)


def test_a_recurrent_layer_reads_one_way():
    inputs = torch.randn(1, 7, 5, requires_grad=True)
    states, _ = cost.KINDS["recurrent"].make(5)(inputs, torch.ones(1, 7, dtype=torch.bool))
    (found,) = torch.autograd.grad(states[0, 3].sum(), inputs)
    assert found[0].any(1).tolist() == [True] * 4 + [False] * 3


def test_watched_and_fused_are_the_same_layer(fused):
    calls = cost.calls(13, 8)
    watched = calls["self-attention"]()
    assert not fused
    unwatched = calls[cost.FUSED]()
    assert len(fused) == 1
    for one, other in zip(watched, unwatched, strict=True):
        torch.testing.assert_close(one, other)


def test_what_is_measured_as_fused_is_fused_where_the_figure_is_read(kernel_calls):
    """The exponent is taken from the longest lengths; of 32 keys and fewer both ways are the open one."""
    for length in cost.QUICK["lengths"]:
        kernel_calls.clear()
        calls = cost.calls(length, 8)
        calls["self-attention"]()
        assert not kernel_calls
        calls[cost.FUSED]()
        assert len(kernel_calls) == (length > Attention.short)


@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_the_power_of_a_power(exponent):
    assert cost.power([16, 32, 64, 128], [3.0 * n**exponent for n in (16, 32, 64, 128)]) == pytest.approx(exponent)


# --- gradients ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reached():
    """The log slope of the gradient over the distance, for each kind."""
    found = gradients.measure(width=13, draws=5)
    return {name: kind["log slope"] for name, kind in found["kinds"].items()}


def test_gradients_vanish_in_tanh_sooner_than_in_lstm_and_not_through_attention(reached):
    assert reached["tanh"] < -0.1
    assert reached["tanh"] < 2 * reached["lstm"]
    assert reached["tanh"] < reached["gru"] < reached["lstm"] < 0
    assert reached["attention"] == pytest.approx(0.0, abs=0.01)


def test_attention_gives_each_input_its_weight():
    query, inputs = torch.randn(11, dtype=torch.float64), torch.randn(17, 11, dtype=torch.float64)
    found, weights = gradients.through_attention(query, inputs)
    by_hand = torch.softmax(inputs @ query / 11**0.5, 0)
    torch.testing.assert_close(weights, by_hand)
    torch.testing.assert_close(found, by_hand)
    assert float(found.sum()) == pytest.approx(1.0)


def test_the_gradient_of_a_tanh_layer_by_hand():
    """h_T = tanh(W x_T + U h): one step back is D W, two steps back D U D' W, D the derivatives of tanh."""
    layer, inputs = gradients.recurrent("tanh", 3), torch.randn(2, 3, dtype=torch.float64)
    into, over = layer.network.weight_ih_l0, layer.network.weight_hh_l0
    first = torch.tanh(into @ inputs[0])
    second = torch.tanh(into @ inputs[1] + over @ first)
    near = torch.diag(1 - second**2) @ into
    far = torch.diag(1 - second**2) @ over @ torch.diag(1 - first**2) @ into
    wanted = torch.stack([far.norm(), near.norm()]) / 3**0.5
    torch.testing.assert_close(gradients.through_states(layer, inputs), wanted)


def test_layers_are_as_the_figure_says():
    radius = torch.linalg.eigvals(gradients.recurrent("tanh", 7).network.weight_hh_l0).abs().max()
    assert radius.item() == pytest.approx(0.9)
    forget = gradients.recurrent("lstm", 7).network.bias_ih_l0.chunk(4)[1]
    assert forget.tolist() == [1.0] * 7


# --- pictures ----------------------------------------------------------------------------------------------


def test_what_is_measured_is_written_and_drawn(places, measured, monkeypatch, capsys):
    monkeypatch.setattr(cost, "measure", lambda **asked: measured)
    (drawn,) = figures.cost(places)
    assert drawn.name == "lecture-cost.png"
    assert head(drawn)
    assert json.loads((places.numbers / "cost.json").read_text())["lengths"] == [32, 64, 128, 256]
    assert capsys.readouterr().out.count("| local self-attention |") == 3


def test_gradients_are_written_and_drawn(places):
    (drawn,) = figures.gradients(places)
    assert head(drawn)
    kept = json.loads((places.numbers / "gradients.json").read_text())
    assert len(kept["kinds"]["lstm"]["sizes"]) == gradients.QUICK["steps"]


def test_white_is_one():
    alignment = Alignment(torch.tensor([[1.0, 0.0], [0.3, 0.7]]), ("a", "</s>"), ("b", "</s>"))
    for white, shades in ((True, (1.0, 0.0)), (False, (0.0, 1.0))):
        ax = plot_matrix(alignment, new_figure(3.0, 3.0).subplots(), numbers=True, white=white)
        image = ax.images[0]
        one, nothing = (image.to_rgba([weight])[0][0] for weight in (1.0, 0.0))
        assert (one, nothing) == pytest.approx(shades)
        written = {text.get_text(): text.get_color() for text in ax.texts}
        light, dark = ("0.70", "0.30") if white else ("0.30", "0.70")
        assert (written[light], written[dark]) == ("black", "white")


def report(data, labels):
    """What `regard compare` writes, as far as lengths go."""
    score = {"name": "BLEU", "value": 31.0, "signature": "s", "low": 29.0, "high": 33.0}
    buckets = [
        {"low": 3, "high": 7, "count": 113, "score": score},
        {"low": 8, "high": 19, "count": 101, "score": score},
    ]
    return {"plan": {"data": data}, "arms": [{"arm": {"label": label}, "lengths": buckets} for label in labels]}


def test_every_report_is_drawn(places):
    for name in ("phrasebook", "multi30k"):
        folder = places.models / name
        folder.mkdir(parents=True)
        told = report(f"data/{name}", ["rnnsearch", "seq2seq"])
        (folder / "report.json").write_text(json.dumps(told), encoding="utf-8")
    drawn = figures.lengths(places)
    assert [path.name for path in drawn] == ["lecture-lengths-phrasebook.png", "lecture-lengths-multi30k.png"]
    assert all(map(head, drawn))
    assert figures._bucket(told["arms"][0]["lengths"][0]) == Bucket(3, 7, 113, Score("BLEU", 31.0, "s", 29.0, 33.0))


def test_what_is_not_there_is_left_out_in_words(tmp_path, capsys):
    for name in ("lengths", "alignment", "order"):
        figures.main(["--only", name, "--models", str(tmp_path), "--pictures", str(tmp_path)])
        told = capsys.readouterr().out
        assert told.startswith(f"{name}: left out: no ")
        assert str(tmp_path) in told
        assert "make proof-phrasebook" in told
    assert list(tmp_path.iterdir()) == []


class Reader:
    """A stand-in for a translator: surer of what is written as the phrasebook writes."""

    name = "stand-in"

    def __init__(self, attends=True):
        self.attends = attends

    def translate(self, lines):
        return [self.one((*line.split(), "</s>")) for line in lines]

    def one(self, words):
        found = Alignment(torch.eye(len(words)), words, words) if self.attends else None
        score = -0.1 if words[-2] == "." else -3.0
        return type("Translation", (), {"text": " ".join(words), "score": score, "alignment": found})


def test_the_sentence_is_read_as_the_model_knows_it(places, monkeypatch, capsys):
    monkeypatch.setattr(figures.Places, "model", lambda self, *names: Reader())
    assert head(figures.alignment(places)[0])
    assert capsys.readouterr().out.startswith("the agreement on the European Economic Area was signed")
    assert head(figures.order(places)[0])


def test_a_model_that_does_not_attend_has_nothing_to_draw(places, monkeypatch):
    monkeypatch.setattr(figures.Places, "model", lambda self, *names: Reader(attends=False))
    with pytest.raises(figures.MissingData, match="'stand-in' does not attend"):
        figures.alignment(places)


def test_pictures_of_the_page_are_there_and_every_figure_is_on_it():
    page = (DOCS / "lectures.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]+\]\((pictures/[\w.-]+)\)", page)
    assert shown
    assert [name for name in shown if not (DOCS / name).is_file()] == []
    for name in figures.FIGURES:
        assert f"pictures/lecture-{name}" in page
        assert f"--only {name}" in page
