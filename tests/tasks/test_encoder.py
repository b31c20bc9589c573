"""Encoders: a vector by hand, what it is made of, what is seen and measured of it, and the command."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.data.sides.segments import Segments
from regard.errors import UnknownName, UsageError
from regard.model import save
from regard.predict.vector import vector_of
from regard.recipe import resolve
from regard.tasks.encoder import Encoder
from regard.types import Memory

LINES = ["the cat sleeps", "a dog barks at the cat", "the dog sleeps", "", "two cats\tone dog"]
TINY = (
    *("embed.width=12", "encode.layers=2", "encode.feed=17", "encode.attend.heads=3", "embed.position.longest=19"),
    *("task.verb=encode", "task.target=nothing", "task.goal=encode", "task.source.length=19", "predict.part=vector"),
)


def made(folder, *settings):
    side = Segments("source", pieces="words")
    side.fit(LINES * 9)
    torch.manual_seed(5)
    model = resolve("bert-classify", [*TINY, *settings]).build(len(side.tokenizer), 0)
    for weight in model.parameters():
        weight.data.add_(torch.randn_like(weight) * 0.3)
    save(model, folder, side.files())
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("encoder") / "model")


def test_vectors_by_hand():
    values = torch.tensor([[[3.0, -1.0], [0.0, 5.0], [9.0, 9.0]], [[-4.0, 3.0], [7.0, 7.0], [7.0, 7.0]]])
    mask = torch.tensor([[True, True, False], [True, False, False]])
    memory = Memory(values, values, mask, values[:, 0])
    assert vector_of(memory, "mean", False).tolist() == [[1.5, 2.0], [-4.0, 3.0]]
    assert vector_of(memory, "first", False).tolist() == [[3.0, -1.0], [-4.0, 3.0]]
    assert vector_of(memory, "max", False).tolist() == [[3.0, 5.0], [-4.0, 3.0]]
    assert torch.allclose(vector_of(memory, "mean", True), torch.tensor([[0.6, 0.8], [-0.8, 0.6]]))
    with pytest.raises(UnknownName, match="pooling"):
        vector_of(memory, "median", False)


def test_a_vector_is_of_the_text_alone(folder):
    model = regard.load(folder)
    assert isinstance(model, Encoder) and model.verb == "encode"
    together = model.encode(LINES)
    assert together.shape == (5, 12) and together.dtype == np.float32
    assert np.allclose(together, np.stack([model.encode(line) for line in LINES]), atol=1e-5)
    assert model.encode([]).shape == (0, 12)
    unit = model.encode(LINES, normalise=True)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-5)
    assert np.allclose(unit, together / np.linalg.norm(together, axis=1, keepdims=True), atol=1e-5)
    memory = model.model.read(model.source.collate(model.source.encode(LINES)))
    assert np.allclose(model.encode(LINES, pool="first"), memory.values[:, 0].detach(), atol=1e-5)


def test_settings_of_the_recipe_are_kept(tmp_path, folder):
    other = regard.load(made(tmp_path / "other", "predict.pool=max", "predict.normalise=true"))
    same = regard.load(folder).encode(LINES, pool="max", normalise=True)
    assert np.allclose(other.encode(LINES), same, atol=1e-6)


def test_what_was_looked_at(folder):
    model = regard.load(folder)
    found = model.answer(LINES[:2])
    each = found[1]
    assert each.words == ("[CLS]", "a", "dog", "barks", "at", "the", "cat", "[SEP]")
    assert [layer.shape for layer in each.attention] == [(3, 8, 8)] * 2
    assert each.weights.shape == (1, 8) and each.weights.sum() == pytest.approx(1, abs=1e-5)
    assert np.allclose(each.weights[0], each.attention[-1].mean((0, 1)), atol=1e-6)
    first = model.answer(LINES[1], pool="first")[0]
    assert np.allclose(first.weights[0], first.attention[-1].mean(0)[0], atol=1e-6)
    assert each.alignment.matrix.shape == (8, 8)
    assert each.seen.words == each.words and each.drawn().endswith("12 numbers")
    assert list(map(float, each.numbers)) == pytest.approx(each.vector.tolist())
    quiet = model.answer(LINES[1], record=False)[0]
    assert quiet.attention == () and quiet.weights.shape == (0, 8) and quiet.alignment is None


def test_the_nearest_is_at_the_smallest_angle(folder):
    model = regard.load(folder)
    vectors = np.array([[2.0, 0.0], [9.0, 1.0], [0.0, 1.0], [-1.0, 7.0]], np.float32)
    assert model.nearest(vectors) == [1, 0, 3, 2]
    with pytest.raises(UsageError, match="at least two texts"):
        model.neighbours(["one"], ["x"])


def test_it_is_measured_by_the_label_of_the_nearest(folder, tmp_path):
    rows = "".join(f"{line}\t{label}\n" for line, label in zip(LINES[:3] * 2, "cdccdc", strict=True))
    (tmp_path / "test.tsv").write_text("text\tlabel\n" + rows)
    (tmp_path / "train.tsv").write_text("text\tlabel\n" + rows)
    report = regard.evaluate(str(folder), data=str(tmp_path))
    assert report.scores[0].name == "accuracy" and report.scores[0].value == 100  # each text is there twice
    assert "nearest other text" in report.title


def asked(*words, given=None):
    done = CliRunner().invoke(app, [str(word) for word in ("encode", *words)], input=given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_the_command_is_a_filter(folder, tmp_path):
    model, text = regard.load(folder), "".join(f"{line}\n" for line in LINES)
    wanted = model.encode(LINES)
    found = [list(map(float, line.split("\t"))) for line in asked(folder, given=text).splitlines()]
    assert np.allclose(found, wanted, atol=1e-6)
    path = tmp_path / "lines.txt"
    path.write_text(text)
    told = [json.loads(line) for line in asked(folder, path, "--format", "jsonl", "--normalise").splitlines()]
    assert np.allclose([each["vector"] for each in told], model.encode(LINES, normalise=True), atol=1e-6)
    assert told[0]["words"][1:-1] == LINES[0].split() and sum(told[0]["weights"][0]) == pytest.approx(1, abs=1e-4)
    for name in ("all.csv", "all.npy"):
        assert asked(folder, path, "--out", tmp_path / name) == ""
    rows = [list(map(float, line.split(","))) for line in (tmp_path / "all.csv").read_text().splitlines()]
    assert np.allclose(rows, wanted, atol=1e-6)
    assert np.array_equal(np.lib.format.open_memmap(tmp_path / "all.npy", mode="r"), wanted)
    path.write_text("")
    assert asked(folder, path) == ""
    asked(folder, path, "--out", tmp_path / "none.npy")
    assert np.lib.format.open_memmap(tmp_path / "none.npy", mode="r").shape == (0, 12)


def test_what_cannot_be_is_told(folder, tmp_path):
    with pytest.raises(UsageError, match=r"\.npy or \.csv; found \.txt"):
        asked(folder, "--out", tmp_path / "all.txt")
    with pytest.raises(UsageError, match="Leave one out"):
        asked(folder, "--out", tmp_path / "all.npy", "--format", "jsonl")
    with pytest.raises(UsageError, match="cannot be written"):
        asked(folder, "--out", tmp_path / "nowhere" / "all.npy", given="a\n")
    with pytest.raises(AttributeError, match="an? Encoder cannot classify: it was trained to encode"):
        regard.load(folder).classify("a")
    assert list(tmp_path.iterdir()) == []
