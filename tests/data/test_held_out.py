"""What is cut off for validation and test: as much as was asked for, the same pairs each time, and never in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.compare.plan import Plan
from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.held_out import FILE, HeldOut, read_amount, recorded
from regard.errors import ModelError, UsageError

PAIRS = 3001


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("held") / "pairs.tsv"
    path.write_text("".join(f"satz {number}\tline {number}\n" for number in range(PAIRS)), encoding="utf-8")
    return path


def opened(path: Path, *asked, **firm) -> Corpus:
    return Corpus.open(path, source="de", target="en", cache=path.parent / "cache", held_out=HeldOut(*asked, **firm))


def sizes(corpus: Corpus) -> dict[str, int]:
    return {split: len(rows) for split, rows in corpus.splits.items()}


def test_so_many_pairs(table):
    found = sizes(opened(table, 500, 100))
    assert sum(found.values()) == PAIRS
    assert found["val"] == pytest.approx(500, abs=70)  # the hash of a line decides, so it is about as many
    assert found["test"] == pytest.approx(100, abs=35)


def test_a_share(table):
    found = sizes(opened(table, 0.25, 0.5))
    assert found["val"] == pytest.approx(PAIRS / 4, abs=80)
    assert found["test"] == pytest.approx(PAIRS / 2, abs=90)


def test_one_of_them_leaves_the_other_as_usual(table):
    usual, asked = opened(table), opened(table, test=101)
    assert set(asked.split("val")["source"]) == set(usual.split("val")["source"])
    assert set(asked.split("test")["source"]) < set(usual.split("test")["source"])


def test_none(table):
    assert sizes(opened(table, 0, 0)) == {"train": PAIRS}
    assert list(opened(table, test=0).splits) == ["train", "val"]


def test_what_is_cut_is_said(table):
    assert any("for val, 0.05 of all for test)" in note for note in opened(table, 1000, 0.05).notes)
    report = check(table, held_out=HeldOut(500))
    assert any("about 500 pairs for val, about 2,000 pairs, at most a tenth, for test" in note for note in report.notes)
    assert report.pairs["val"] == pytest.approx(500, abs=70)


def test_something_must_be_left(table):
    with pytest.raises(
        UsageError, match=r"of about 3,001 pairs, about 3,000 pairs for val and 0.1 of all for test leave"
    ):
        opened(table, 3000, 0.1)


@pytest.fixture
def parted(tmp_path) -> Path:
    """A corpus with a test split, and none for validation."""
    for split in ("train", "test"):
        for language in ("de", "en"):
            lines = "".join(f"{split} {language} {number}\n" for number in range(211))
            (tmp_path / f"{split}.{language}").write_text(lines, encoding="utf-8")
    return tmp_path


def test_a_split_that_is_there_is_not_cut_off(parted):
    assert sizes(opened(parted, 0.3))["test"] == 211
    with pytest.raises(UsageError, match="test cannot be cut off: it has a split of its own"):
        opened(parted, test=7)
    assert sizes(opened(parted, 0.3, 7, insist=False)) == sizes(opened(parted, 0.3))


def test_a_test_is_cut_off_beside_a_validation_split(parted):
    for language in ("de", "en"):
        (parted / f"test.{language}").rename(parted / f"val.{language}")
    assert list(opened(parted).splits) == ["train", "val"]
    assert sizes(opened(parted, test=0.4))["test"] == pytest.approx(84, abs=25)


@pytest.mark.parametrize(("data", "why"), [("copy", "of its own"), ("table", "of its own"), ("gold", "no train split")])
def test_where_nothing_can_be_cut_off(tmp_path, data, why):
    (tmp_path / "table.tsv").write_text("train\tja\tyes\nval\tnein\tno\n")
    (tmp_path / "gold.tsv").write_text("ja\tyes\t0-0\n")
    with pytest.raises(UsageError, match=f"val cannot be cut off: it has .*{why}"):
        Corpus.open(data if data == "copy" else tmp_path / f"{data}.tsv", held_out=HeldOut(10), cache=tmp_path)


def test_other_amounts_are_other_corpora_in_the_store(table):
    assert len({opened(table, *asked).key for asked in ((), (100,), (100, 100), (0.1, 100))}) == 4


@pytest.mark.parametrize(("text", "amount"), [("1000", 1000), ("0.05", 0.05), ("5%", 0.05), ("0", 0)])
def test_amounts_as_people_write_them(text, amount):
    assert read_amount(text) == amount
    assert type(read_amount(text)) is type(amount)


@pytest.mark.parametrize("text", ["many", "1.5", "-3", "110%", "", "nan"])
def test_what_is_no_amount(text):
    with pytest.raises(UsageError, match=r"Write 1000 for a thousand pairs"):
        HeldOut(read_amount(text))


def test_a_model_folder_keeps_it(tmp_path):
    for name, content in HeldOut(100, 0.05).files.items():
        (tmp_path / name).write_text(content)
    assert recorded(tmp_path) == HeldOut(100, 0.05, insist=False)
    assert not HeldOut().files
    assert not recorded(tmp_path / "elsewhere")
    (tmp_path / FILE).write_text(json.dumps([1]))
    with pytest.raises(ModelError, match="expected how much was held out"):
        recorded(tmp_path)


def test_all_arms_of_a_comparison_have_the_same():
    from regard.compare.arms import read_arms

    (arm,) = read_arms(["rnnsearch"], ())
    plan = Plan("mydata", steps=2_000_003, validation=1000, test=0.05)
    for words in (plan.train(arm, Path("run")), plan.evaluate(arm, Path("run"))):
        assert " --validation 1000 --test 0.05" in " ".join(words)
    assert "--steps 2000003" in " ".join(plan.train(arm, Path("run")))
