"""Classes told by folders and files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regard.data.corpus import Corpus
from regard.data.sources import plan_for_labels
from regard.errors import BrokenData, MissingData


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def rows(path: Path) -> set[tuple[str, str, str]]:
    plan = plan_for_labels(path)
    found = {(row.split if not plan.cut else "any", row.source, row.target) for row in plan.rows()}
    assert [finding for finding in plan.findings() if finding.level == "error"] == []
    return found


def test_a_folder_a_class(tmp_path):
    write(tmp_path / "pos" / "1.txt", "good\nfilm\n")
    write(tmp_path / "pos" / "2.txt.gz", "  fine film \n")
    write(tmp_path / "very bad" / "1.txt", "dull")
    write(tmp_path / "very bad" / ".hidden.txt", "no")
    write(tmp_path / "__MACOSX" / "1.txt", "no")
    write(tmp_path / "unsup" / "1.txt", "no")  # as a well-known set of film reviews has it
    write(tmp_path / "README.md", "no")
    assert rows(tmp_path) == {("any", "good film", "pos"), ("any", "fine film", "pos"), ("any", "dull", "very bad")}
    assert plan_for_labels(tmp_path).notes[0] == "a folder a class: pos, very bad"


def test_files_that_are_one_text_may_be_called_anything(tmp_path):
    for label in ("neg", "pos"):
        for name in ("test_1.txt", "train_2.txt"):
            write(tmp_path / label / name, f"a {label} text in {name}")
    assert set(plan_for_labels(tmp_path).cut) == {"val", "test"} and len(rows(tmp_path)) == 4


def test_a_folder_a_class_under_splits(tmp_path):
    for split in ("train", "dev", "test"):
        write(tmp_path / split / "pos" / "1.txt", f"good {split}")
        write(tmp_path / split / "neg" / "1.txt", f"bad {split}")
    corpus = Corpus.open(tmp_path, wants="label")
    assert list(corpus.splits) == ["train", "val", "test"] and corpus.cut == {}
    assert corpus.split("val")[:] == {"source": ["bad dev", "good dev"], "target": ["neg", "pos"]}


def test_a_table_under_splits(tmp_path):
    write(tmp_path / "train" / "part.csv", "text,label\ngood film,pos\nbad film,neg\n")
    write(tmp_path / "test" / "part.csv", "text,label\nfine film,pos\n")
    write(tmp_path / "val" / "part.csv", "text,label\nfine fun,pos\n")
    assert rows(tmp_path) >= {("train", "good film", "pos"), ("test", "fine film", "pos"), ("val", "fine fun", "pos")}
    assert "text is column 1, label is column 2" in plan_for_labels(tmp_path).notes[0]


def test_a_file_a_class(tmp_path):
    write(tmp_path / "pos.txt", "good film\n\nfine film\n")
    write(tmp_path / "neg.txt.gz", "bad film\n")
    write(tmp_path / "readme.txt", "What this is.\n")
    assert rows(tmp_path) == {("any", "good film", "pos"), ("any", "fine film", "pos"), ("any", "bad film", "neg")}
    plan = plan_for_labels(tmp_path)
    list(plan.rows())
    (finding,) = plan.findings()
    assert finding.code == "empty-texts" and finding.examples == (f"{tmp_path / 'pos.txt'}:2",)
    assert plan.notes[0] == "a line a text, a file a class: neg, pos"


def test_classes_as_endings(tmp_path):
    """As rt-polarity.pos and rt-polarity.neg are called; one of them stands for both."""
    write(tmp_path / "rt-polarity.pos", "good film\n")
    file = write(tmp_path / "rt-polarity.neg", "bad film\n")
    write(tmp_path / "rt-polarity.README.1.0.txt", "What this is.\n")
    expected = {("any", "good film", "pos"), ("any", "bad film", "neg")}
    assert rows(tmp_path) == rows(file) == expected


def test_classes_as_endings_with_splits(tmp_path):
    for split in ("train", "val", "test"):
        write(tmp_path / f"{split}.pos", f"good {split}\n")
        write(tmp_path / f"{split}.neg", f"bad {split}\n")
    found = rows(tmp_path)
    assert {split for split, _, _ in found} == {"train", "val", "test"} and ("val", "bad val", "neg") in found


def test_a_file_a_class_under_splits(tmp_path):
    for split in ("train", "val", "test"):
        write(tmp_path / split / "pos.txt", f"good {split}\n")
        write(tmp_path / split / "neg.txt", f"bad {split}\n")
    assert ("test", "good test", "pos") in rows(tmp_path) and len(rows(tmp_path)) == 6


def test_bad_bytes_are_named_by_file(tmp_path):
    write(tmp_path / "neg" / "1.txt", "dull")
    for number in range(5):
        (tmp_path / "pos").mkdir(exist_ok=True)
        (tmp_path / "pos" / f"{number}.txt").write_bytes(b"d\xe9j\xe0 vu")
    with pytest.raises(BrokenData, match=r"3 errors:\n  .*pos/0.txt:1: expected UTF-8"):
        Corpus.open(tmp_path, wants="label")


def test_folders_come_before_a_stray_table(tmp_path):
    for label in ("pos", "neg"):
        write(tmp_path / "train" / label / "1.txt", f"a {label} text")
    write(tmp_path / "counts.csv", "word,count\nfilm,7\n")
    assert len(rows(tmp_path)) == 2
    write(tmp_path / "train.csv", "text,label\ngood film,pos\n")
    assert {text for _, text, _ in rows(tmp_path)} == {"good film"}


def test_an_empty_text_is_left_out_with_a_word(tmp_path):
    write(tmp_path / "neg" / "1.txt", "dull\r\nand long\r\n")
    write(tmp_path / "neg" / "2.txt", "")
    write(tmp_path / "pos" / "1.txt", "good")
    empty = write(tmp_path / "pos" / "2.txt", " \n")
    plan = plan_for_labels(tmp_path)
    assert [row.source for row in plan.rows()] == ["dull and long", "good"]
    assert [finding.examples for finding in plan.findings()] == [(str(tmp_path / "neg" / "2.txt"), str(empty))]


def test_a_single_file_of_texts_is_no_corpus(tmp_path):
    path = write(tmp_path / "notes.txt", "just some text\n")
    for data in (path, tmp_path):
        with pytest.raises(MissingData, match=r"expected text -> label: .*; found notes.txt"):
            plan_for_labels(data)


def test_nothing_but_empty_texts(tmp_path):
    for label in ("pos", "neg"):
        write(tmp_path / label / "1.txt", " ")
    with pytest.raises(BrokenData, match="expected texts with labels; found none"):
        Corpus.open(tmp_path, wants="label")


def test_a_split_that_is_not_there(tmp_path):
    write(tmp_path / "train.csv", "text,label\n" + "".join(f"text {n},{n % 2}\n" for n in range(53)))
    with pytest.raises(
        MissingData, match=r"expected a split called 'test'; found train, val.\n  Add its texts, or ask"
    ):
        Corpus.open(tmp_path, wants="label").split("test")
