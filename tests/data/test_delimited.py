"""Delimited text: what programs write is read as they meant it; quotation marks of a text stay where they are."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.delimited import look_at_delimited
from regard.data.files import Lines
from regard.errors import BrokenData, UsageError

# What spreadsheets must quote: delimiters of every kind, quotes, line breaks; and what they need not.
ROWS = [
    ("ja, gut", "yes, good"),
    ('er sagte "ja"', 'he said "yes"'),
    ("zwei\nzeilen", "two\nlines"),
    ("a;b", "c\td"),
    ('"', '""'),
    ("", "nothing"),
    ("so", "thus"),
]
# How programs write: the delimiter, which fields are quoted, how a line ends, how the file begins.
WRITERS = {
    "Python": ("csv", ",", csv.QUOTE_MINIMAL, "\r\n", ""),
    "Excel in Germany": ("csv", ";", csv.QUOTE_MINIMAL, "\r\n", "\ufeff"),
    "LibreOffice, text quoted": ("csv", ",", csv.QUOTE_ALL, "\n", ""),
    "tabs, minimal": ("tsv", "\t", csv.QUOTE_MINIMAL, "\r\n", "\ufeff"),
    "tabs, all": ("tsv", "\t", csv.QUOTE_ALL, "\n", ""),
    "tabs in a .csv": ("csv", "\t", csv.QUOTE_MINIMAL, "\n", ""),
}


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def written(rows: list[tuple[str, ...]], delimiter: str, quoting: int, ending: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=ending).writerows(rows)
    return out.getvalue()


def cells_of(path: Path) -> list[tuple[str, ...]]:
    return [tuple(record.cells) for record in look_at_delimited(path).records(Lines(path))]


class TestWhatProgramsWrite:
    @pytest.mark.parametrize("writer", WRITERS)
    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_comes_back(self, tmp_path, writer, packed):
        ending, delimiter, quoting, line, mark = WRITERS[writer]
        text = mark + written([("German", "English"), *ROWS], delimiter, quoting, line)
        path = write(tmp_path / f"table.{ending}{packed}", text)
        sheet = look_at_delimited(path)
        assert (sheet.delimiter, sheet.quoted, sheet.width) == (delimiter, True, 2)
        assert cells_of(path) == [("German", "English"), *ROWS]

    def test_one_row_of_delimiters(self, tmp_path):
        path = write(tmp_path / "table.csv", written([(",", ",", ",")], ",", csv.QUOTE_ALL, "\n"))
        assert cells_of(path) == [(",", ",", ",")]

    def test_rows_know_their_lines(self, tmp_path):
        path = write(tmp_path / "table.csv", 'a,b\n"c\nd\n",e\n\nf,"g"\n')
        records = list(look_at_delimited(path).records(Lines(path)))
        assert [(record.line, record.cells) for record in records] == [
            (1, ["a", "b"]),
            (2, ["c\nd\n", "e"]),
            (6, ["f", "g"]),
        ]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_the_delimiter_is_the_one_that_makes_columns(self, tmp_path, delimiter):
        rows = [("ja, ja; so", "x"), ("nein; nein", "a, b"), ("gut", "c"), ("1,5", "2,5")]
        path = write(tmp_path / "table.csv", written(rows, delimiter, csv.QUOTE_MINIMAL, "\n"))
        assert look_at_delimited(path).delimiter == delimiter
        assert cells_of(path) == rows

    def test_a_header_is_left_out_and_remembered(self, tmp_path):
        sheet = look_at_delimited(write(tmp_path / "table.csv", "text, label\nsome text,1\n")).named()
        assert sheet.header == ("text", "label")
        assert [record.cells for record in sheet.records(Lines(sheet.path))] == [["some text", "1"]]
        assert str(sheet) == "2 columns parted by commas, without quoting, named by the first line"
        assert (sheet.called(1), look_at_delimited(sheet.path).called(1)) == ("label", "column 2")

    @given(st.lists(st.tuples(*[st.text(st.characters(exclude_characters="\r\0", codec="utf-8"))] * 3), min_size=1))
    def test_whatever_is_quoted_everywhere(self, tmp_path_factory, rows):
        path = tmp_path_factory.mktemp("any") / "table.csv"
        write(path, written(rows, ",", csv.QUOTE_ALL, "\n"))
        assert cells_of(path) == rows


class TestQuotationMarks:
    @pytest.mark.parametrize(
        "rows",
        [
            [("ja", "yes"), ('"Nein', "No"), ("so", "thus"), ('er sagte: "Gut', "he"), ("aber", "but")],
            [('"Ja', "Yes"), ("nein", "no"), ('gut"', "good"), ("so", "thus")],
            [('"Nein," sagte er.', '"No," he said.'), ("so", "thus")],
            [("ja", "yes"), ('"Gut."', '"Good."'), ("nein", "no")],
            [('5" lang', '5" long'), ('"Gut."', '"Good."')],
            [("", '"Yes."'), ("", "no")],
            [('"', "x"), ("y", "z"), ("w", '"')],
        ],
    )
    def test_of_a_plain_text_stay(self, tmp_path, rows):
        """No writer of quoted fields leaves such a file; read with quotes, lines would be lost or changed."""
        path = write(tmp_path / "table.tsv", "".join(f"{source}\t{target}\n" for source, target in rows))
        assert not look_at_delimited(path).quoted
        assert cells_of(path) == rows

    def test_one_broken_row_does_not_change_how_the_others_are_read(self, tmp_path):
        quoted = write(tmp_path / "quoted.tsv", '"de"\t"en"\n"ja"\t"yes"\n"nein"\n"so"\t"thus"\n')
        assert cells_of(quoted) == [("de", "en"), ("ja", "yes"), ("nein",), ("so", "thus")]
        plain = write(tmp_path / "plain.tsv", 'ja\tyes\n"Gut."\n"Gut."\t"Good."\n')
        assert cells_of(plain) == [("ja", "yes"), ('"Gut."',), ('"Gut."', '"Good."')]

    def test_a_quote_that_is_not_closed_is_told_and_swallows_no_more_than_it_must(self, tmp_path):
        rows = [("de", "en"), *[("x, y", f"z{number}") for number in range(7)]]
        text = written(rows, ",", csv.QUOTE_MINIMAL, "\n") + '"ja,yes\nnein,no\n"so","thus"\ngut,good\n'
        path = write(tmp_path / "table.csv", text)
        with pytest.raises(BrokenData) as caught:
            Corpus.open(path, cache=tmp_path / "cache")
        assert f"{path}:9: expected 2 columns parted by commas; one line differs." in str(caught.value)
        assert "line 9: quotes that do not close as they should" in str(caught.value)
        assert cells_of(path)[-1] == ("gut", "good")

    def test_commas_in_a_csv_without_quotes_are_told(self, tmp_path):
        path = write(tmp_path / "table.csv", "de,en\nja,yes\nja, gut,yes, good\n")
        with pytest.raises(BrokenData, match=r"table.csv:3: expected 2 columns parted by commas; one line differs"):
            Corpus.open(path, cache=tmp_path / "cache")


class TestPairs:
    """Tables of pairs: which columns are texts, what is said about it, and what is never taken for a language."""

    def told(self, path: Path, **asked: str) -> str:
        return "\n".join(check(path, **asked).notes)

    def pairs(self, path: Path, **asked: str) -> set[tuple[str, str]]:
        corpus = Corpus.open(path, cache=path.parent / "cache", **asked)
        return {pair for split in corpus.splits.values() for pair in zip(split["source"], split["target"], strict=True)}

    @pytest.mark.parametrize("writer", WRITERS)
    def test_a_spreadsheet(self, tmp_path, writer):
        ending, delimiter, quoting, line, mark = WRITERS[writer]
        text = mark + written([("German", "English"), *ROWS], delimiter, quoting, line)
        path = write(tmp_path / f"table.{ending}", text)
        found = self.pairs(path, source="de", target="en")
        assert found == {(source.replace("\n", " "), target.replace("\n", " ")) for source, target in ROWS}
        names = {",": "commas", ";": "semicolons", "\t": "tabs"}
        assert (
            f"2 columns parted by {names[delimiter]}, fields in quotes, named by the first line; "
            "German is column 1, English is column 2"
        ) in self.told(path)
        findings = check(path).findings
        assert ending == "tsv" or not any(finding.code == "line-endings" for finding in findings)

    @pytest.mark.parametrize(
        "header", ["de,en", "English (UK),German", "source,target", "Source,Target", "src,tgt", "text,summary"]
    )
    def test_headers(self, tmp_path, header):
        path = write(tmp_path / "train.csv", f"{header}\na b,c d\n" + "e f,g h\n" * 5)
        assert self.pairs(path) == {("a b", "c d"), ("e f", "g h")}
        assert "named by the first line" in self.told(path)

    @pytest.mark.parametrize("first", ["ja,yes", "no,ja doch", "Yes it is,Ja so ist es", "text,text"])
    def test_no_headers(self, tmp_path, first):
        path = write(tmp_path / "train.csv", f"{first}\na b,c d\n")
        assert tuple(first.split(",")) in self.pairs(path, source="de", target="en")
        assert "no header; source is column 1, target is column 2" in self.told(path)

    def test_source_and_target_are_whatever_is_asked_for(self, tmp_path):
        path = write(tmp_path / "train.csv", "Src,TGT,note\na b,c d,x\n")
        corpus = Corpus.open(path, source="de", target="en", cache=tmp_path / "cache")
        assert (corpus.source, corpus.target) == ("de", "en")
        assert self.pairs(path, source="de", target="en") == {("a b", "c d")}

    @pytest.mark.parametrize("header", ["id", "no", "ID", "nr", ""])
    def test_an_identifier_is_no_language(self, tmp_path, header):
        """`id` is also Indonesian, `no` Norwegian and `nr` South Ndebele."""
        path = write(tmp_path / "train.csv", f"{header},de,en\n1,ja,yes\ns2,nein,no\n")
        assert self.pairs(path) == {("ja", "yes"), ("nein", "no")}
        assert f"de is column 2, en is column 3, not used: {header or 'column 1'}" in self.told(path)

    def test_indonesian_is_a_language(self, tmp_path):
        path = write(tmp_path / "train.tsv", "id\ten\tde\nini buku 1\tthis is book 1\tdies\n2\t2\t2\n")
        with pytest.raises(UsageError, match="expected two languages; found 3: id, en, de"):
            Corpus.open(path, cache=tmp_path / "cache")
        numbers = write(tmp_path / "dev.tsv", "id\ten\n1\tone\n2\ttwo\n")
        assert self.pairs(numbers, source="id", target="en") == {("1", "one"), ("2", "two")}

    def test_a_language_that_nobody_knows_beside_one_that_all_know(self, tmp_path):
        path = write(tmp_path / "train.tsv", "id\ten\tKlingon\n1\tyes\thija\n")
        assert self.pairs(path) == {("yes", "hija")}

    def test_columns_of_numbers_without_a_header(self, tmp_path):
        path = write(tmp_path / "de-en.tsv", "12\tja\t77\tyes\n13\tnein\t78\tno\n")
        assert self.pairs(path) == {("ja", "yes"), ("nein", "no")}
        assert "de is column 2, en is column 4, not used: column 1, column 3" in self.told(path)
        only = write(tmp_path / "numbers.tsv", "12\ttwelve\n13\tthirteen\n")
        assert self.pairs(only) == {("12", "twelve"), ("13", "thirteen")}

    def test_splits_and_links(self, tmp_path):
        path = write(tmp_path / "all.csv", 'split,de,en,links\ntrain,"ja, ja",yes,0-0 1?0\ntest,nein,no,0-0\n')
        corpus = Corpus.open(path, source="en", target="de", cache=tmp_path / "cache")
        assert corpus.split("train")[0] == {"source": "yes", "target": "ja, ja", "links": "0-0 0?1"}
        assert "split is column 1, links is column 4" in "\n".join(corpus.notes)

    def test_a_table_beside_those_that_name_their_split_is_left_aside(self, tmp_path):
        for split in ("train", "dev"):
            write(tmp_path / f"{split}.csv", "de,en\nja,yes\n")
        write(tmp_path / "statistics.csv", "file,rows\ntrain,2\n")
        notes = Corpus.open(tmp_path, cache=tmp_path / "cache").notes
        assert "left aside: statistics.csv" in notes
        assert any(note.startswith("train.csv, dev.csv: 2 columns parted by commas") for note in notes)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("de\ten\nja\tyes\n".encode("utf-16"), "It looks like UTF-16: `iconv -f UTF-16 -t UTF-8"),
            (b"\n\n", "expected rows; found only empty lines"),
            (b"", "the file is empty"),
            (b"only one column\n", r"expected two columns of text parted by tabs; found 1"),
        ],
    )
    def test_what_cannot_be_read_is_told(self, tmp_path, content, message):
        path = tmp_path / "train.tsv"
        path.write_bytes(content)
        with pytest.raises(BrokenData, match=message):
            Corpus.open(path, cache=tmp_path / "cache")
