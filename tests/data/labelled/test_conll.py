"""Texts with a tag for every word: a word a line, and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.data.corpus import Corpus
from regard.data.held_out import HeldOut
from regard.data.labelled.wanted import Columns
from regard.data.sources import plan_for_labels
from regard.errors import BrokenData, DataError, MissingData


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def rows(path: Path, **options) -> list[tuple[str, str]]:
    plan = plan_for_labels(path, target="tags", held_out=HeldOut(0, 0, insist=False), **options)
    found = [(row.source, row.target) for row in plan.rows()]
    assert plan.findings() == []
    return found


EXPECTED = [("she can fish", "PRON AUX VERB"), ("her can", "DET NOUN")]


@pytest.mark.parametrize("between", ["\t", " ", "  "])
@pytest.mark.parametrize("name", ["a.conll", "a.txt", "a.tsv", "a.bio"])
def test_two_columns(tmp_path, between, name):
    lines = [f"{word}{between}{tag}" for word, tag in zip(["she", "can", "fish"], ["PRON", "AUX", "VERB"], strict=True)]
    lines += ["", "", f"her{between}DET", f"can{between}NOUN"]
    if name == "a.tsv" and between != "\t":
        pytest.skip("a .tsv has tabs")
    assert rows(write(tmp_path / name, "\n".join(lines) + "\n")) == EXPECTED
    assert rows(write(tmp_path / name, "\n".join(lines))) == EXPECTED  # no line feed at the end


def test_documents_and_remarks(tmp_path):
    text = "-DOCSTART-\tO\n\n# text = she can fish\nshe\tPRON\ncan\tAUX\nfish\tVERB\n\n#\tSYM\n"
    assert rows(write(tmp_path / "a.conll", text)) == [EXPECTED[0], ("#", "SYM")]


def test_more_columns_are_named_by_number(tmp_path):
    path = write(tmp_path / "a.conll", "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n")
    with pytest.raises(MissingData, match=r"found 4 columns: EU NNP B-NP B-ORG\n.*--text 1 --label 4"):
        rows(path)
    assert rows(path, columns=Columns(label="4")) == [("EU rejects", "B-ORG O")]
    with pytest.raises(MissingData, match="expected a column from 1 to 4; '5' was asked for"):
        rows(path, columns=Columns(label="5"))


def test_tables(tmp_path):
    assert rows(write(tmp_path / "a.csv", "text,tags\nshe can fish,PRON AUX VERB\nher can,DET NOUN\n")) == EXPECTED
    assert rows(write(tmp_path / "b.tsv", "she can fish\tPRON AUX VERB\nher can\tDET NOUN\n")) == EXPECTED
    lines = '{"tokens": ["she", "can"], "ner_tags": [0, 3]}\n{"tokens": ["her"], "ner_tags": [1]}\n'
    assert rows(write(tmp_path / "c.jsonl", lines)) == [("she can", "0 3"), ("her", "1")]


def test_splits_and_japanese(tmp_path):
    write(tmp_path / "train.conll", "私\tPRON\nは\tADP\n")
    write(tmp_path / "dev.conll", "猫\tNOUN\n")
    write(tmp_path / "test.conll", "قطة\tNOUN\n")
    corpus = Corpus.open(tmp_path, wants="tags")
    assert (corpus.source, corpus.target) == ("text", "tags")
    assert corpus.split("train")[0] == {"source": "私 は", "target": "PRON ADP"}
    assert list(corpus.splits) == ["train", "val", "test"]


def test_another_number_of_tags_is_told_with_its_line(tmp_path):
    path = write(tmp_path / "a.csv", "text,tags\nshe can fish,PRON AUX VERB\nher can,DET\n")
    with pytest.raises(BrokenData, match=r"a.csv:3: expected as many tags as words(.|\n)*2 words, 1 tags: her can"):
        Corpus.open(path, wants="tags")


def test_a_line_without_a_tag(tmp_path):
    path = write(tmp_path / "a.conll", "she\tPRON\ncan\nfish\tVERB\tX\nto \tPART\n\tX\n")
    with pytest.raises(
        BrokenData, match=r"a.conll:2: expected 2 columns parted by tabs(.|\n)*3 lines differ(.|\n)*line 5"
    ):
        Corpus.open(path, wants="tags")


def test_nothing_there(tmp_path):
    with pytest.raises(BrokenData, match="found an empty file"):
        rows(write(tmp_path / "a.conll", "\n\n"))
    with pytest.raises(MissingData, match="found one column: she"):
        rows(write(tmp_path / "b.conll", "she\ncan\n"))
    with pytest.raises(DataError, match=r"expected text -> tags: files of a word and its tag a line"):
        rows(write(tmp_path / "folder" / "a.md", "x").parent)
