"""The benches of formulas: scores by length by hand, and im2latex's layout made of a packed form that is made up."""

import gzip
import sys
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image

from regard.data.corpus import Corpus
from regard.data.mathtext import draw_formula
from regard.errors import MissingData

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import formulas
import im2latex

SHORT, LONG = "x _ { i }", " ".join(["x", "+"] * 15 + ["y"])
ROWS = [("train", SHORT), ("train", r"\frac { a } { b }"), ("train", LONG), ("val", "z + 1"), ("test", LONG)]


def test_scores_by_length():
    found = formulas.score(["x _ { i }", "x", LONG], [SHORT, "a + b", LONG])
    assert list(found) == ["all", "<= 10", "> 30"]
    assert [row["formulas"] for row in found.values()] == [3, 2, 1]
    assert [round(row["token_match"]) for row in found.values()] == [67, 50, 100]
    assert found["<= 10"]["edit_accuracy"] == pytest.approx(100 * 5 / 8)
    assert found["> 30"]["image_match"] == 100 and found["> 30"]["token_bleu"] == pytest.approx(100)
    assert found["> 30"]["low"] == found["> 30"]["high"] == 100 and found["all"]["low"] < 67 < found["all"]["high"]
    lines = formulas.table(found).splitlines()
    assert len(lines) == 4 and lines[2].split()[:4] == ["<=", "10", "2", "50.0"]


def test_other_edges():
    found = formulas.buckets(["a", "a + b", SHORT, LONG], edges=(1, 3))
    assert {label: each.tolist() for label, each in found.items()} == {
        "all": [0, 1, 2, 3],
        "<= 1": [0],
        "2-3": [1],
        "> 3": [2, 3],
    }


def test_outputs_that_were_kept(tmp_path):
    (tmp_path / "outputs.txt").write_text("x\ny\n")
    assert formulas.kept(tmp_path / "run", 2) == ["x", "y"]
    for run in (tmp_path / "run", tmp_path):
        with pytest.raises(MissingData, match="expected 3 outputs"):
            formulas.kept(run, 3)


def test_the_mean_of_seeds():
    rows = [{"all": {"formulas": 3.0, "token_match": each, "low": 0.0, "high": 90.0}} for each in (10.0, 30.0)]
    assert formulas.mean(rows) == {"all": {"formulas": 3.0, "token_match": 20.0}}


def test_a_run_is_its_own_arm(tmp_path):
    (tmp_path / "one" / "best").mkdir(parents=True)
    assert formulas.runs_of(tmp_path / "one") == {"one": [tmp_path / "one"]}
    (tmp_path / "arms" / "flat" / "run").mkdir(parents=True)
    assert formulas.runs_of(tmp_path) == {"flat": [tmp_path / "arms" / "flat" / "run"]}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    with gzip.open(folder / "formulas.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("split\tsource\timage_id\tformula\n")
        file.writelines(f"{split}\tmade\t{number}\t{text}\n" for number, (split, text) in enumerate(ROWS))
    png = BytesIO()
    Image.fromarray(draw_formula(SHORT)).save(png, "PNG")
    data = np.frombuffer(png.getvalue() * 2, np.uint8)
    offsets = np.array([0, len(data) // 2, len(data)])
    np.savez(folder / "real_official_test.npz", png=data, offsets=offsets, formula=np.array([SHORT, "y"]))
    return folder


def test_a_folder_of_its_own_layout(packed, tmp_path):
    for _ in range(2):  # written anew, not added to
        counts = im2latex.unpack(packed, tmp_path, im2latex.Asked(longest=10, tests=5))
    assert [counts[name] for name in ("train", "val", "test", "real")] == [2, 1, 1, 2]
    corpus = Corpus.open(tmp_path / "drawn", reads="image", wants="text")
    assert list(corpus.split("train")["target"]) == [SHORT, r"\frac { a } { b }"]
    assert list(corpus.split("test")["target"]) == [LONG], "as long as it is"
    real = Corpus.open(tmp_path / "real", reads="image", wants="text").split("test")
    assert list(real["target"]) == [SHORT, "y"]
    with Image.open(real[0]["source"]) as image:
        assert np.array_equal(np.array(image), draw_formula(SHORT))


def test_images_of_training_differ_and_stay_the_same():
    plain = im2latex.image_of(SHORT, None)
    assert np.array_equal(np.array(plain), draw_formula(SHORT))
    found = [np.array(im2latex.image_of(SHORT, Random(seed))) for seed in (3, 5, 3)]
    assert found[0].shape != found[1].shape and np.array_equal(found[0], found[2])
    assert im2latex.image_of(r"\nosuchcommand", None) is None


def test_a_sample_keeps_the_order():
    assert im2latex.sample(["a", "b", "c"], 7) == ["a", "b", "c"]
    assert im2latex.sample(list("abcdefgh"), 3) == sorted(im2latex.sample(list("abcdefgh"), 3))
