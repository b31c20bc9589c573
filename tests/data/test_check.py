"""The checks: each fault has a test with the words a person would see."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.make import plan_of_builtin
from regard.data.report import Finding, Report
from regard.data.tokenizer import Tokenizer
from regard.errors import BrokenData, MissingData, UsageError

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

# Words of two invented languages: no list of little words can know them.
LEFT = [f"ba{letter}o" for letter in "bdfgklmnprstvz"]
RIGHT = [f"xu{letter}i" for letter in "bdfgklmnprstvz"]


def sentences(words: list[str], count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(words, k=7)) for _ in range(count)]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound corpus of invented languages."""
    for number, (split, count) in enumerate({"train": 211, "val": 23, "test": 29}.items()):
        write(tmp_path / f"{split}.aa1", sentences(LEFT, count, number))
        write(tmp_path / f"{split}.bb1", sentences(RIGHT, count, number))
    return tmp_path


def look(folder: Path) -> Report:
    return check(folder, source="aa1", target="bb1")


def change(path: Path, line: int, text: str) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[line - 1] = text
    path.write_text("\n".join(lines), encoding="utf-8")


def the(report: Report, code: str) -> Finding:
    found = [finding for finding in report.findings if finding.code == code]
    assert len(found) == 1, [str(finding) for finding in report.findings]
    return found[0]


def test_a_sound_corpus(folder):
    report = look(folder)
    assert report.findings == ()
    assert str(report) == f"{folder}: aa1 -> bb1: train 211, val 23, test 29\nno errors, no warnings"
    report.stop_on_errors()


class TestErrors:
    def test_missing_file(self, folder):
        (folder / "val.bb1").unlink()
        report = look(folder)
        assert "expected val.bb1 (or .gz) beside val.aa1; there is no such file." in str(the(report, "missing-file"))
        with pytest.raises(MissingData, match="1 error"):
            report.stop_on_errors()

    def test_missing_corpus(self, tmp_path):
        report = check(tmp_path / "nowhere")
        assert "is neither a file, nor a folder, nor a corpus we know" in the(report, "missing-corpus").message
        assert not report.ok

    def test_asked_wrongly_is_no_finding(self, folder):
        write(folder / "train.cc1", ["x"])
        with pytest.raises(UsageError, match="Choose with --from and --to"):
            check(folder)

    def test_empty_file(self, folder):
        (folder / "val.aa1").write_bytes(b"")
        assert str(the(look(folder), "empty-file")) == (
            f"{folder / 'val.aa1'}: the file is empty; expected one sentence a line."
        )

    def test_unequal_line_counts(self, folder):
        write(folder / "train.bb1", sentences(RIGHT, 209, 0))
        finding = the(look(folder), "unequal-lines")
        assert finding.message == "expected as many lines in each file; train.aa1 has 211, train.bb1 has 209."
        assert "one is missing or cut in two" in finding.advice

    def test_invalid_utf8_names_file_and_line(self, folder):
        lines = [line.encode() for line in sentences(LEFT, 23, 1)]
        lines[6] = "sch\u00f6n und gut".encode("latin-1")
        lines[10] = "20 \u20ac".encode("cp1252")
        (folder / "val.aa1").write_bytes(b"\n".join(lines) + b"\n")
        finding = the(look(folder), "invalid-utf8")
        assert finding.where == f"{folder / 'val.aa1'}:7"
        assert finding.message == "expected UTF-8; found 2 lines that are not."
        assert finding.examples == ("line 7: sch\\xf6n und gut", "line 11: 20 \\x80")
        assert "iconv -f WINDOWS-1252 -t UTF-8" in finding.advice  # the euro sign tells

    @pytest.mark.parametrize(
        ("text", "coding"), [("20 \u20ac", "cp1252"), ("sch\u00f6n", "latin-1"), ("wide", "utf-16")]
    )
    def test_the_coding_is_guessed(self, folder, text, coding):
        (folder / "val.aa1").write_bytes("\n".join([text] * 23).encode(coding))
        advice = the(look(folder), "invalid-utf8").advice
        assert {"cp1252": "WINDOWS-1252", "latin-1": "ISO-8859-1", "utf-16": "UTF-16"}[coding] in advice

    def test_the_coding_is_guessed_from_every_bad_line(self, folder):
        """Converted as ISO-8859-1, the quotes of the last line would become control characters."""
        (folder / "val.aa1").write_bytes("\n".join(["sch\u00f6n"] * 22 + ["\u201eja\u201c"]).encode("cp1252"))
        advice = the(look(folder), "invalid-utf8").advice
        assert advice == "It looks like WINDOWS-1252: `iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW` converts it."

    def test_one_bad_line_in_a_file_of_utf8_is_not_converted(self, folder):
        lines = ["sch\u00f6n".encode()] * 22 + ["sch\u00f6n".encode("latin-1")]
        (folder / "val.aa1").write_bytes(b"\n".join(lines))
        finding = the(look(folder), "invalid-utf8")
        assert finding.where.endswith("val.aa1:23")
        assert finding.advice.startswith("The rest is UTF-8, and converting the file would spoil it")

    def test_truncated_gzip(self, folder):
        whole = gzip.compress((folder / "val.aa1").read_bytes())
        (folder / "val.aa1").unlink()
        (folder / "val.aa1.gz").write_bytes(whole[: len(whole) // 2])
        finding = the(look(folder), "unreadable")
        assert finding.where == str(folder / "val.aa1.gz")
        assert finding.message.startswith("the file cannot be read beyond line ")
        assert "`gzip -t` tells whether a .gz file is whole" in finding.advice

    def test_not_gzip_at_all(self, folder):
        (folder / "val.aa1").rename(folder / "val.aa1.gz")
        assert "Not a gzipped file" in the(look(folder), "unreadable").message

    def test_truncated_gzip_table(self, tmp_path):
        whole = gzip.compress(b"ja\tyes\n" * 1000)
        (tmp_path / "train.tsv.gz").write_bytes(whole[:12])
        assert "the file cannot be read beyond line 0" in the(check(tmp_path), "missing-corpus").message

    def test_one_broken_table_among_others(self, tmp_path):
        write(tmp_path / "train.tsv", ["ja\tyes"] * 3)
        (tmp_path / "dev.tsv").write_bytes(b"")
        write(tmp_path / "test.tsv", ["only one column"])
        report = check(tmp_path, source="de", target="en")
        messages = [finding.message for finding in report.errors]
        assert any("dev.tsv: the file is empty" in message for message in messages)
        assert any("test.tsv:1: expected two columns of text" in message for message in messages)
        assert report.pairs == {"train": 3}

    def test_every_pair_has_an_empty_side(self, folder):
        write(folder / "val.bb1", [""] * 23)
        finding = the(look(folder), "empty-lines")
        assert (finding.level, finding.where, finding.message) == (
            "error",
            "val",
            "every pair has an empty side.",
        )

    def test_all_errors_at_once(self, folder):
        (folder / "val.aa1").write_bytes(b"")
        write(folder / "test.bb1", sentences(RIGHT, 28, 1))
        (folder / "train.aa1").write_bytes((folder / "train.aa1").read_bytes().replace(b"babo", b"bab\xf6"))
        report = look(folder)
        assert {finding.code for finding in report.errors} == {"empty-file", "unequal-lines", "invalid-utf8"}
        with pytest.raises(BrokenData) as caught:
            report.stop_on_errors()
        assert "cannot be used as it is: 3 errors:" in str(caught.value)
        assert f"{folder / 'val.aa1'}: the file is empty" in str(caught.value)

    def test_no_pairs(self, tmp_path):
        write(tmp_path / "all.tsv", ["de\ten"])
        assert the(check(tmp_path), "no-pairs").message == "expected pairs of sentences; found none."


class TestSwapped:
    def test_a_split_against_train_in_any_language(self, folder):
        (folder / "test.aa1").rename(folder / "test.tmp")
        (folder / "test.bb1").rename(folder / "test.aa1")
        (folder / "test.tmp").rename(folder / "test.bb1")
        finding = the(look(folder), "swapped-languages")
        assert (finding.level, finding.where) == ("error", "test")
        assert "100% of its words stand in train the other way round, 0% as it is" in finding.message
        assert finding.advice == "Exchange the names of its aa1 and bb1 files."

    def test_both_sides_alike_is_no_swap(self):
        assert check(plan_of_builtin("copy", size=307)).findings == ()

    def test_known_languages_by_their_little_words(self, tmp_path):
        german = ["der mann ist nicht auf der straße", "die frau und das kind sind mit dem hund da"]
        english = ["the man is not on the street", "the woman and the child are there with the dog"]
        write(tmp_path / "test.de", english)
        write(tmp_path / "test.en", german)
        finding = the(check(tmp_path, source="de", target="en"), "swapped-languages")
        assert finding.level == "error"
        assert finding.message == ("expected de -> en; the source reads like 'en', the target like 'de'.")

    def test_one_wrong_language_is_a_doubt(self, tmp_path):
        write(tmp_path / "test.de", ["the man is not on the street", "the dog and the child"])
        write(tmp_path / "test.en", ["the man is not on the street", "the dog and the child"])
        finding = the(check(tmp_path, source="de", target="en"), "wrong-language")
        assert (finding.level, finding.message) == ("warning", "expected de; the text reads like 'en'.")


class TestDoubts:
    def test_empty_lines(self, folder):
        change(folder / "train.aa1", 5, "")
        change(folder / "train.bb1", 9, "   ")
        finding = the(look(folder), "empty-lines")
        assert (finding.level, finding.where) == ("warning", "train")
        assert finding.message == "2 of 211 pairs (0.9%) have an empty side."
        assert finding.examples[0].startswith("line 5 (0 and ")
        assert finding.examples[1].startswith("line 9 (")

    def test_too_long(self, folder):
        change(folder / "train.aa1", 3, " ".join(LEFT * 20))
        change(folder / "train.bb1", 3, " ".join(RIGHT * 20))
        finding = the(look(folder), "too-long")
        assert finding.message == "1 of 211 pairs (0.5%) are longer than 500 characters (up to 1,399)."
        assert finding.examples[0].startswith("line 3 (1399 and 1399 characters): babo bado")
        assert finding.examples[0].endswith("…")

    def test_uneven_lengths(self, folder):
        change(folder / "train.aa1", 17, "babo")
        finding = the(look(folder), "uneven-lengths")
        assert finding.message == (
            "1 of 211 pairs (0.5%) part more than 3-fold from the usual ratio of lengths "
            "(1.00 target characters to one of the source)."
        )
        assert finding.examples[0].startswith("line 17 (4 and 34 characters): babo | ")

    def test_duplicates(self, folder):
        for side in ("aa1", "bb1"):
            change(folder / f"train.{side}", 20, (folder / f"train.{side}").read_text().split("\n")[1])
        finding = the(look(folder), "duplicates")
        assert finding.message == "1 of 211 pairs (0.5%) were there before, word for word."
        assert finding.examples[0].startswith("line 20 (")

    def test_the_same_source_with_another_target_is_no_duplicate(self, folder):
        change(folder / "train.aa1", 20, (folder / "train.aa1").read_text().split("\n")[1])
        assert look(folder).findings == ()

    def test_overlap_of_train_and_test(self, folder):
        for side in ("aa1", "bb1"):
            change(folder / f"test.{side}", 4, (folder / f"train.{side}").read_text().split("\n")[1])
        change(folder / "test.aa1", 6, (folder / "train.aa1").read_text().split("\n")[2])
        finding = the(look(folder), "overlap")
        assert (finding.level, finding.where) == ("warning", "test")
        assert finding.message == ("2 of 29 source lines (6.9%) also stand in train, 1 of them with the same target.")
        assert finding.examples[0].startswith("line 4 (")

    def test_unknown_words(self, folder):
        write(folder / "test.aa1", [line.replace("babo", "babuk").replace("bado", "baduk")
                                    .replace("bafo", "bafuk").replace("bago", "baguk")
                                    for line in sentences(LEFT, 29, 2)])  # fmt: skip
        finding = the(look(folder), "unknown-words")
        assert finding.where == "test"
        assert "of the aa1 words never stand in train." in finding.message
        assert "baguk" in finding.examples[0]

    def test_unknown_characters(self, folder):
        change(folder / "test.aa1", 1, "babo ↯↯ bado bafo bago bako balo")
        finding = the(look(folder), "unknown-characters")
        assert finding.message.endswith("of the aa1 characters never stand in train: ↯ (U+21AF)")

    def test_unknown_pieces(self, folder):
        words = Tokenizer.train(sentences(LEFT[:10], 97, 5), kind="words")
        report = check(folder, source="aa1", target="bb1", tokenizers=(words, words))
        found = {finding.where: finding for finding in report.findings}
        assert set(found) == {"train", "val", "test"}
        assert {finding.code for finding in report.findings} == {"unknown-pieces"}
        assert "of the bb1 pieces are unknown to the tokenizer." in found["val"].message
        letters = Tokenizer.train(sentences(LEFT + RIGHT, 97, 5), kind="characters")
        assert check(folder, source="aa1", target="bb1", tokenizers=(letters, letters)).findings == ()

    def test_targets_of_one_word_need_not_be_known(self, folder):
        for split, count in {"train": 211, "val": 23, "test": 29}.items():
            write(folder / f"{split}.bb1", [f"xu{split}{number}" for number in range(count)])
        assert "unknown-words" not in {finding.code for finding in look(folder).findings}

    def test_control_characters(self, folder):
        change(folder / "train.aa1", 8, "babo bado bafo \x07 bago bako balo bamo")
        change(folder / "train.bb1", 9, "xubi xudi xufi \ufffd xugi xuki xuli xumi")
        finding = the(look(folder), "odd-characters")
        assert finding.message.startswith("2 of 211 pairs (0.9%) hold control characters")
        assert "bafo \\x07 bago" in finding.examples[0]

    def test_line_endings_and_byte_order_mark(self, folder):
        text = (folder / "val.aa1").read_bytes()
        (folder / "val.aa1").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n", 3))
        finding = the(look(folder), "line-endings")
        assert finding.message == (
            "the file starts with a byte order mark and ends 3 of 23 lines with a carriage return; "
            "they are left out on reading."
        )

    def test_no_train_and_no_val(self, folder):
        for path in folder.glob("val.*"):
            path.rename(path.with_name(path.name.replace("val", "test2")))
        for path in folder.glob("train.*"):
            path.unlink()
        assert the(look(folder), "no-train").message == ("there is no train split: one can evaluate on it, not train.")

    def test_units_that_lack_a_language(self, tmp_path):
        unit = "<tu><tuv xml:lang='{}'><seg>a</seg></tuv><tuv xml:lang='{}'><seg>b</seg></tuv></tu>"
        body = unit.format("en", "fr") + unit.format("en", "de")
        write(tmp_path / "test.tmx", [f"<tmx><body>{body}</body></tmx>"])
        finding = the(check(tmp_path, source="en", target="fr"), "lacking-language")
        assert finding.message == "1 of 2 units lack en or fr."

    def test_doubts_do_not_stop(self, folder):
        change(folder / "train.aa1", 5, "")
        report = look(folder)
        assert report.ok
        report.stop_on_errors()


class TestReport:
    def test_notes_are_shown(self, folder):
        assert "note: languages: from aa1 to bb1, the only two there" in str(check(folder))

    def test_for_machines(self, folder):
        change(folder / "train.aa1", 5, "")
        (folder / "val.aa1").write_bytes(b"")
        body = json.loads(look(folder).as_json())
        assert body["ok"] is False
        assert body["pairs"] == {"train": 211, "test": 29}
        assert [error["code"] for error in body["errors"]] == ["empty-file"]
        assert [warning["code"] for warning in body["warnings"]] == ["empty-lines"]
        assert set(body["errors"][0]) == {"level", "code", "message", "where", "examples", "advice"}

    def test_an_open_corpus_is_checked_alike(self, folder, tmp_path):
        change(folder / "train.aa1", 5, "")
        corpus = Corpus.open(folder, source="aa1", target="bb1", cache=tmp_path / "cache")
        report = check(corpus)
        assert report.pairs == {"train": 211, "val": 23, "test": 29}
        assert [finding.code for finding in report.findings] == ["empty-lines"]
        assert report.findings == look(folder).findings


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")
def test_real_text_has_no_errors():
    report = check(SHARED / "multi30k", source="de", target="en")
    assert report.ok
    assert report.pairs == {"train": 29000, "val": 1014, "test_2016_flickr": 1000}
    assert [finding.code for finding in report.warnings] == ["uneven-lengths", "duplicates", "overlap"]
    assert report.warnings[0].examples[0].startswith("line 16664 (2 and 53 characters): @@ | ")


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")
def test_real_text_swapped(tmp_path):
    for split in ("train", "val"):
        for name, real in (("de", "en"), ("en", "de")):
            text = gzip.decompress((SHARED / "multi30k" / f"{split}.{real}.gz").read_bytes())
            write(tmp_path / f"{split}.{name}", text.decode().split("\n")[:1009])
    report = check(tmp_path, source="de", target="en")
    assert {finding.code for finding in report.errors} == {"swapped-languages"}
