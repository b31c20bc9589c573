"""Tables of texts and labels: which columns are taken, with and without a header, and what is said where none fits."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from regard.data.corpus import Corpus
from regard.data.held_out import HeldOut
from regard.data.labelled.wanted import Columns
from regard.data.sources import plan_for_labels
from regard.errors import BrokenData, DataError, MissingData, UnknownName, UsageError

TEXTS = ["I liked it.", "It was dull.", "A wonderful, slow film.", "Never again.", "Fine.", "No plot, no wit."]
LABELS = ["pos", "neg", "pos", "neg", "pos", "neg"]


def write(path: Path, text: str, coding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(coding)))
    else:
        path.write_bytes(text.encode(coding))
    return path


def pairs(path: Path, **options) -> list[tuple[str, str]]:
    """Every text and its label, as the plan of a file or folder streams them."""
    plan = plan_for_labels(path, held_out=HeldOut(0, 0, insist=False), **options)
    found = [(row.source, row.target) for row in plan.rows()]
    assert [finding for finding in plan.findings() if finding.level == "error"] == []
    return found


def fault(path: Path, **options) -> str:
    with pytest.raises(DataError) as caught:
        pairs(path, **options)
    return str(caught.value)


class TestHeader:
    @pytest.mark.parametrize("text", ["text", "sentence", "Review", "question", "content", "tweet"])
    @pytest.mark.parametrize("label", ["label", "class", "Category", "polarity", "sentiment", "target"])
    def test_usual_names(self, tmp_path, text, label):
        path = write(tmp_path / "a.csv", f"id,{label},{text}\n1,pos,good film\n2,neg,bad film\n")
        assert pairs(path) == [("good film", "pos"), ("bad film", "neg")]

    def test_the_most_usual_name_wins(self, tmp_path):
        path = write(tmp_path / "a.tsv", "title\ttext\tlabel\ttopic\tcontent\nA\tgood\tpos\tx\tc\n")
        assert pairs(path) == [("good", "pos")]

    def test_one_known_name_of_two_is_enough(self, tmp_path):
        path = write(tmp_path / "a.csv", "feedback,label\ngood film,pos\nbad film,neg\n")
        assert pairs(path) == [("good film", "pos"), ("bad film", "neg")]
        path = write(tmp_path / "b.csv", "text,verdict\ngood film,pos\nbad film,neg\n")
        assert pairs(path) == [("good film", "pos"), ("bad film", "neg")]

    def test_names_that_were_asked_for(self, tmp_path):
        path = write(tmp_path / "a.csv", "feedback,stars given,text\ngood film,5,x\nbad film,1,y\n")
        assert pairs(path, columns=Columns("feedback", "stars given")) == [("good film", "5"), ("bad film", "1")]
        assert pairs(path, columns=Columns(label="STARS GIVEN")) == [("x", "5"), ("y", "1")]
        assert pairs(path, columns=Columns("3", "2")) == [("x", "5"), ("y", "1")]

    def test_a_column_that_is_not_there(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,label\ngood film,5\n")
        told = fault(path, columns=Columns(label="stars"))
        assert "expected a column called 'stars'; found text, label." in told
        assert "--text COLUMN --label COLUMN" in told and 'text="...", label="..."' in told

    def test_unknown_columns_are_listed(self, tmp_path):
        path = write(tmp_path / "a.csv", "nr,feedback,verdict\n1,good film,pos\n2,bad film,neg\n")
        told = fault(path)
        assert "found 3 columns parted by commas: nr | feedback | verdict" in told and "--label COLUMN" in told
        path = write(tmp_path / "b.csv", "nr,text,verdict\n1,good film,pos\n2,bad film,neg\n")
        assert "found nr, text, verdict, none of them called like a label." in fault(path)

    def test_ambiguous_columns_are_listed(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,category,sentiment\ngood film,film,pos\n")
        assert "expected one column of labels; found 2: category, sentiment." in fault(path)

    def test_the_same_column_twice(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,label\ngood film,pos\n")
        assert "the column label was asked for twice" in fault(path, columns=Columns("label", "label"))

    def test_header_only(self, tmp_path):
        assert "expected rows below the header; found none" in fault(write(tmp_path / "a.csv", "text,label\n"))

    def test_links_come_along(self, tmp_path):
        path = write(tmp_path / "a.csv", "label,text,links\npos,good film,0-0\nneg,bad film,0-0\n")
        plan = plan_for_labels(path)
        assert [row.links for row in plan.rows()] == ["0-0", "0-0"] and plan.findings() == []


class TestNoHeader:
    def test_label_and_text_by_tabs(self, tmp_path):
        path = write(tmp_path / "a.txt", "".join(f"{b}\t{a}\n" for a, b in zip(TEXTS, LABELS, strict=True)))
        assert pairs(path) == list(zip(TEXTS, LABELS, strict=True))

    @pytest.mark.parametrize("turned", [False, True])
    def test_few_values_are_labels_even_if_they_are_long(self, tmp_path, turned):
        """Of many rows the number of values decides, not their length."""
        rows = [(f"w{number}", f"a long name of class {number % 3}") for number in range(23)]
        lines = "".join("\t".join(row[::-1] if turned else row) + "\n" for row in rows)
        assert pairs(write(tmp_path / "a.tsv", lines)) == rows

    def test_a_label_called_question_is_no_header(self, tmp_path):
        path = write(tmp_path / "a.tsv", "question\tWhere?\nanswer\tThere.\nquestion\tWhen was it?\n")
        assert pairs(path)[0] == ("Where?", "question") and len(pairs(path)) == 3

    def test_a_header_in_other_words(self, tmp_path):
        """Its label stands alone, where all others come again."""
        rows = "gut\tja\nschlecht\tnein\nfein\tja\nlahm\tnein\n"
        assert len(pairs(write(tmp_path / "a.tsv", "Meinung\tUrteil\n" + rows))) == 4
        assert len(pairs(write(tmp_path / "b.tsv", "Ein Satz mit Worten\tvielleicht\n" + rows))) == 5
        assert len(pairs(write(tmp_path / "c.tsv", "Meinung\tvielleicht\n" + rows + "ach\teinmalig\n"))) == 6
        assert len(pairs(write(tmp_path / "d.tsv", rows))) == 4

    def test_two_columns_of_texts(self, tmp_path):
        path = write(tmp_path / "a.tsv", "".join(f"text {n}\tother {n}\n" for n in range(23)))
        assert "few different values; both columns have many: text 0 | other 0" in fault(path)
        path = write(tmp_path / "b.tsv", "".join(f"text {n}\tother {n % 22}\n" for n in range(23)))
        assert "few different values" in fault(path)

    def test_three_columns_by_number(self, tmp_path):
        path = write(tmp_path / "a.csv", "3,Title,Some text\n4,Other,More text\n")
        assert "found 3 columns parted by commas: 3 | Title | Some text" in fault(path)
        assert pairs(path, columns=Columns("3", "1")) == [("Some text", "3"), ("More text", "4")]

    def test_a_column_of_splits(self, tmp_path):
        path = write(tmp_path / "a.tsv", "train\tpos\tgood film\ntest\tneg\tbad film\ndev\tneg\tno fun\n")
        plan = plan_for_labels(path)
        assert [(row.split, row.target) for row in plan.rows()] == [("train", "pos"), ("test", "neg"), ("val", "neg")]


class TestContent:
    def test_a_spreadsheet_with_quoted_newlines(self, tmp_path):
        text = '\ufefftext;label\r\n"good;\r\nreally ""good""";very pos\r\nbad film;very neg\r\n'
        assert pairs(write(tmp_path / "a.csv", text)) == [('good; really "good"', "very pos"), ("bad film", "very neg")]

    def test_arabic_and_japanese(self, tmp_path):
        text = "label\ttext\nإيجابي\tالفيلم رائع جدا\n否定的\tこの映画は退屈だった。\n"  # noqa: RUF001
        assert pairs(write(tmp_path / "a.tsv", text)) == [
            ("الفيلم رائع جدا", "إيجابي"),
            ("この映画は退屈だった。", "否定的"),
        ]

    def test_japanese_without_a_header(self, tmp_path):
        text = "肯定\tとても良い映画だった。\n否定\tこの映画は退屈だった。\n"
        assert pairs(write(tmp_path / "a.tsv", text))[0] == ("とても良い映画だった。", "肯定")

    def test_json_numbers_booleans_and_splits(self, tmp_path):
        rows = [{"text": "a b", "label": 3, "split": "train"}, {"text": "c\nd", "label": True, "split": "dev"}]
        path = write(tmp_path / "a.jsonl.gz", "".join(json.dumps(row) + "\n" for row in rows))
        plan = plan_for_labels(path)
        assert [row[:3] for row in plan.rows()] == [("train", "a b", "3"), ("val", "c d", "true")]

    def test_json_without_a_label(self, tmp_path):
        path = write(tmp_path / "a.jsonl", '{"text": "a", "label": 1}\n{"text": "b", "label": null}\n{"text": "c"}\n')
        with pytest.raises(BrokenData, match=r"a JSON object with 'text' and 'label'; 2 lines differ(.|\n)*line 2"):
            Corpus.open(path, wants="label")
        assert "found text, answer, mark, none of them called like a label" in fault(
            write(tmp_path / "b.jsonl", '{"text": "a", "answer": 1, "mark": 2}\n')
        )
        assert "expected a JSON object a line; found no json" in fault(write(tmp_path / "c.jsonl", "no json\n"))

    def test_windows_coding_is_refused_with_its_line(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,label\ngood,pos\nd\xe9j\xe0 vu,neg\n", "windows-1252")
        with pytest.raises(BrokenData, match=r"a.csv:3: expected UTF-8(.|\n)*iconv -f WINDOWS-1252"):
            Corpus.open(path, wants="label")

    def test_an_empty_label_is_told_with_its_line(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,label\ngood film,pos\nbad film, \n")
        with pytest.raises(
            BrokenData, match=r"a.csv:3: expected a label in every row; one line differs(.|\n)*bad film"
        ):
            Corpus.open(path, wants="label")

    def test_empty_file_and_wrong_path(self, tmp_path):
        assert "the file is empty" in fault(write(tmp_path / "a.csv", ""))
        assert "the file is empty" in fault(write(tmp_path / "a.jsonl", ""))
        with pytest.raises(MissingData, match=r"'nowhere' is neither a file, nor a folder"):
            plan_for_labels("nowhere")
        (tmp_path / "folder").mkdir()
        assert "text -> label: a table (.csv, .tsv, .jsonl) with text and label" in fault(tmp_path / "folder")


class TestSplits:
    def test_files_named_by_split(self, tmp_path):
        write(tmp_path / "train.csv", "text,label\ngood film,pos\nbad film,neg\n")
        write(tmp_path / "dev.tsv", "label\ttext\npos\tfine film\n")
        write(tmp_path / "test.jsonl.gz", '{"text": "poor film", "label": "neg"}\n')
        write(tmp_path / "all.csv", "text,label\nx,pos\n")
        corpus = Corpus.open(tmp_path, reads="text", wants="label")
        assert (corpus.source, corpus.target) == ("text", "label")
        assert {name: split[0]["source"] for name, split in corpus.splits.items()} == {
            "train": "good film",
            "val": "fine film",
            "test": "poor film",
        }
        assert any(note == "left aside: all.csv" for note in corpus.notes)

    def test_text_files_named_by_split(self, tmp_path):
        write(tmp_path / "train.txt", "pos\tgood film\nneg\tbad film\n")
        write(tmp_path / "test.txt", "pos\tfine film\n")
        plan = plan_for_labels(tmp_path)
        assert set(plan.cut) == {"val"}
        assert {row.source for row in plan.rows()} == {"good film", "bad film", "fine film"}

    def test_without_splits_two_are_cut_off(self, tmp_path):
        write(tmp_path / "a.csv", "text,label\n" + "".join(f"text {n},{n % 2}\n" for n in range(211)))
        corpus = Corpus.open(tmp_path, wants="label")
        assert list(corpus.splits) == ["train", "val", "test"] and set(corpus.cut) == {"val", "test"}
        assert 5 < len(corpus.splits["val"]) < 40

    def test_a_split_column_without_val(self, tmp_path):
        """The rows of train are counted, so that a number of rows can be asked for."""
        rows = [f"{'test' if n % 5 == 0 else 'train'},text {n},{n % 2}\n" for n in range(500)]
        path = write(tmp_path / "a.csv", "split,text,label\n" + "".join(rows))
        corpus = Corpus.open(path, wants="label", held_out=HeldOut(validation=40))
        assert set(corpus.cut) == {"val"} and len(corpus.splits["test"]) == 100
        assert 20 < len(corpus.splits["val"]) < 65

    def test_several_tables_and_one_split_twice(self, tmp_path):
        write(tmp_path / "a.csv", "text,label\nx y,pos\n")
        write(tmp_path / "b.csv", "text,label\nx y,pos\n")
        with pytest.raises(UsageError, match="several corpora lie there, and no file is called train: a.csv, b.csv"):
            plan_for_labels(tmp_path)
        for name in ("train.csv", "train.tsv"):
            write(tmp_path / name, "text\tlabel\nx y\tpos\n".replace("\t", "\t" if name.endswith("tsv") else ","))
        assert "expected one file for train; found train.csv, train.tsv" in str(plan_for_labels(tmp_path).findings()[0])

    def test_unknown_split(self, tmp_path):
        path = write(tmp_path / "a.csv", "split,text,label\n" + "train,x,pos\n" * 211 + "later,y,neg\n")
        with pytest.raises(BrokenData, match=r"a.csv:213: expected train, val \(dev, valid\) or test"):
            Corpus.open(path, wants="label")


class TestAsking:
    def test_languages_name_columns_of_labelled_data(self, tmp_path):
        path = write(tmp_path / "a.csv", "id,body text,mark\n1,good film,5\n2,bad film,1\n")
        for columns in ({"source": "body text", "target": "mark"}, {"text": "body text", "label": "mark"}):
            corpus = Corpus.open(path, wants="label", **columns)
            assert (corpus.source, corpus.target) == ("text", "label")
            assert {row["target"] for split in corpus.splits.values() for row in split} == {"5", "1"}
        assert Corpus.open(write(tmp_path / "b.csv", "text,label\na b,c\n" * 1), wants="label", source="text").source

    def test_sides_that_are_none(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,label\nx y,pos\n")
        with pytest.raises(UnknownName, match="no side to read is called 'sound'; there are image, text"):
            Corpus.open(path, reads="sound", wants="label")
        with pytest.raises(UnknownName, match="no side to want is called 'labels'"):
            Corpus.open(path, wants="labels")
        with pytest.raises(UnknownName, match="no option of a corpus is called 'want'"):
            Corpus.open(path, want="label")
        with pytest.raises(UsageError, match="text -> text was asked for"):
            Corpus.open(path, text="text")
        with pytest.raises(BrokenData, match="one image cannot be read"):  # captions, of what is no image
            Corpus.open(path, reads="image")
        with pytest.raises(UsageError, match="an image has a label"):
            Corpus.open(path, reads="image", wants="tags")

    def test_pairs_are_opened_as_before(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,label\n" + "".join(f"text {n},{n % 2}\n" for n in range(211)))
        assert Corpus.open(path, source="text", target="label").notes[0].startswith("a.csv")
        assert Corpus.open("copy", size=7, reads="text", wants="text").source == "source"

    def test_built_in_corpora_of_another_kind(self):
        with pytest.raises(UsageError, match=r"dates is human -> iso; text -> label was asked for.\n.*needle, reviews"):
            plan_for_labels("dates")
        with pytest.raises(UsageError, match="a size can be asked of built-in corpora only"):
            plan_for_labels("nowhere", size=3)

    def test_the_key_depends_on_the_columns(self, tmp_path):
        path = write(
            tmp_path / "a.csv", "text,label,mark\n" + "".join(f"text {n},{n % 2},{n % 3}\n" for n in range(53))
        )
        one, other = (Corpus.open(path, wants="label", label=name) for name in ("label", "mark"))
        assert one.key != other.key and Corpus.open(path, wants="label").key == one.key
