"""caption, show, evaluate and data check on images with captions, as a person would type them."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from answering import trained
from regard.cli import app
from regard.errors import MissingData, UsageError

SHORT = ("--max-length", 11)


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captions")
    trained(folder, "scenes")
    return folder


@pytest.fixture(autouse=True)
def _cache(home, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(home / "cache"))


@pytest.fixture
def images(home, tmp_path):
    found = sorted((home / "cache" / "images").rglob("*.png"))[:3]
    (tmp_path / "photos").mkdir()
    for number, path in enumerate(found):
        shutil.copy(path, tmp_path / "photos" / f"{number}.png")
    (tmp_path / "photos" / "notes.txt").write_text("no image")
    return tmp_path / "photos"


def rows(done):
    return [line.split("\t") for line in done.stdout.split("\n")[:-1]]


def test_images_a_folder_and_standard_input_are_the_same(home, images):
    paths = [images / f"{number}.png" for number in range(3)]
    given = call("caption", home / "scenes", *paths, *SHORT)
    assert given.exit_code == 0 and [path for path, _ in rows(given)] == [str(path) for path in paths]
    assert all(text for _, text in rows(given))
    assert call("caption", home / "scenes", images, *SHORT).stdout == given.stdout
    piped = call("caption", home / "scenes", *SHORT, text="".join(f"{path}\n" for path in paths))
    assert piped.stdout == given.stdout


def test_several_captions_and_drawn_ones(home, images):
    several = rows(call("caption", home / "scenes", images / "0.png", "--nbest", 3, "--beam", 3, *SHORT))
    assert len(several) == 3 and len({text for _, text in several}) == 3
    drawn = ["caption", home / "scenes", images / "0.png", "--sample", "--seed", 3, "--nbest", 2, *SHORT]
    assert call(*drawn).stdout == call(*drawn).stdout and len(rows(call(*drawn))) == 2
    short = rows(call("caption", home / "scenes", images / "0.png", "--max-length", 2))
    assert len(short[0][1].split()) <= 2
    refused = call("caption", home / "scenes", images / "0.png", "--seed", 3)
    assert isinstance(refused.exception, UsageError) and "--seed is for drawn" in str(refused.exception)


def test_everything_as_json(home, images):
    done = call("caption", home / "scenes", images, "--format", "jsonl", *SHORT)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["image"] for each in found] == [str(images / f"{number}.png") for number in range(3)]
    first = found[0]
    assert first["text"].split() == first["words"] and first["likelihood"] < 0
    grid = np.array(first["grid"])
    assert grid.shape == (len(first["words"]), 5, 7) and grid.sum((1, 2)) == pytest.approx(1, abs=0.01)
    assert len(first["boxes"]) == len(first["words"])
    for cells, (left, top, right, bottom) in zip(grid, first["boxes"], strict=True):
        assert (right - left, bottom - top) == pytest.approx((1 / 7, 1 / 5), abs=2e-4)
        assert cells[round(5 * top), round(7 * left)] == cells.max()


def test_attention_is_saved_for_each_image(home, images, tmp_path):
    (tmp_path / "more").mkdir()
    shutil.copy(images / "0.png", tmp_path / "more" / "0.png")
    out = tmp_path / "seen"
    done = call(
        "caption", home / "scenes", images / "0.png", tmp_path / "more" / "0.png", "--save-attention", out, *SHORT
    )
    assert done.exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["0-2.npz", "0-2.png", "0.npz", "0.png"]
    with np.load(out / "0.npz") as file:
        kept = dict(file)
    assert kept["grid"].shape == (len(kept["words"]), 5, 7)
    assert kept["layer_1"].shape == (2, len(kept["words"]) + 1, 35)
    assert " ".join(kept["words"]) == rows(done)[0][1]


def test_a_broken_image_is_named_and_the_others_are_captioned(home, images):
    (images / "1.png").write_bytes((images / "1.png").read_bytes()[:40])
    done = call("caption", home / "scenes", images, images / "nowhere.png", *SHORT)
    assert done.exit_code == 1
    assert [path for path, _ in rows(done)] == [str(images / "0.png"), str(images / "2.png")]
    assert "1.png: the image cannot be read" in done.stderr and "nowhere.png" in done.stderr
    assert "Traceback" not in done.output


def test_what_cannot_be_captioned_is_told(home, tmp_path):
    (tmp_path / "empty").mkdir()
    done = call("caption", home / "scenes", tmp_path / "empty")
    assert isinstance(done.exception, MissingData) and "found none" in str(done.exception)
    for verb, words in (("classify", ()), ("tag", ())):
        wrong = call(verb, home / "scenes", *words, text="x\n")
        assert isinstance(wrong.exception, UsageError) and "regard caption" in str(wrong.exception), verb


@pytest.mark.parametrize("words", [("translate",), ("align",), ("export", "--to", "torch", "--out", "x")])
def test_what_translators_do_is_refused_by_name(home, tmp_path, words):
    (tmp_path / "in.txt").write_text("a\n")
    files = [tmp_path / "in.txt"] * {"translate": 1, "align": 2, "export": 0}[words[0]]
    done = call(words[0], home / "scenes", *files, *words[1:])
    assert isinstance(done.exception, UsageError), done.exception
    assert "made to caption" in str(done.exception)


def test_show_draws_what_each_word_looked_at(home, images, tmp_path):
    done = call("show", home / "scenes", images / "0.png", "--right", "a red square")
    assert done.exit_code == 0 and "right: a red square" in done.stdout and "█" in done.stdout
    for name in ("x.png", "x.html"):
        assert call("show", home / "scenes", images / "0.png", "--out", tmp_path / name).exit_code == 0
        assert (tmp_path / name).stat().st_size > 1000
    refused = call("show", home / "scenes", images / "0.png", "--kind", "cross")
    assert isinstance(refused.exception, UsageError) and "--kind is for models that translate" in str(refused.exception)


def test_evaluate_shows_a_page_of_a_split(home, tmp_path):
    data = tmp_path / "data"
    call("data", "make", "scenes", "--size", 7, "--gold", "--out", data)
    done = call("evaluate", home / "scenes", "--data", data, "--beam", 1, "--by-length", "--json")
    report = json.loads(done.stdout)
    assert [each["name"] for each in report["scores"]][-1] == "pointing accuracy" and "lengths" not in report
    page = call("show", home / "scenes", "--data", data, "--answers", 5, "--out", tmp_path / "page.html")
    assert page.exit_code == 0, page.exception
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "pointing accuracy" in text and text.count('<div data-regard="captioned"') == 5
    refused = call("show", home / "scenes", data / "x.png", "--answers", 5)
    assert isinstance(refused.exception, UsageError) and "--answers" in str(refused.exception)


def test_data_is_made_and_checked(tmp_path):
    made = call("data", "make", "scenes", "--size", 11, "--gold", "--out", tmp_path / "out")
    assert made.exit_code == 0 and len(made.stdout.splitlines()) == 3
    assert call("data", "check", tmp_path / "out").exit_code == 0
    assert call("data", "check", tmp_path / "out", "--task", "caption").exit_code == 0
    assert "scenes" in call("data", "list").stdout
