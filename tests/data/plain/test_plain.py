"""Plain text as data: what is found, how it is cut into splits, what is the matter with it."""

import gzip

import pytest

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.labelled.detect import sides_for, sides_of
from regard.data.make import plan_of_builtin, write_files
from regard.errors import MissingData, UsageError

PLAIN = {"reads": "nothing", "wants": "text"}


def lines(count, start=0):
    return [f"line {start + number} of the text , which says {number % 7} things" for number in range(count)]


def write(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def texts(corpus, split="train"):
    return list(corpus.split(split)["target"])


def test_files_named_by_split(tmp_path):
    for name, count in (("ptb.train.txt", 11), ("ptb.valid.txt", 5), ("ptb.test.txt", 3)):
        write(tmp_path / name, lines(count))
    corpus = Corpus.open(tmp_path, **PLAIN)
    assert (corpus.source, corpus.target) == ("nothing", "text")
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {"train": 11, "val": 5, "ptb.test": 3}
    assert texts(corpus) == lines(11)
    assert set(corpus.split("train")["source"]) == {""}
    assert not corpus.cut


def test_a_file_of_lines_is_cut_by_the_line(tmp_path):
    path = write(tmp_path / "all.txt", [*lines(500), *lines(500)])
    corpus = Corpus.open(path, **PLAIN)
    assert set(corpus.splits) == {"train", "val", "test"}
    seen = [set(texts(corpus, split)) for split in corpus.splits]
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]
    assert sum(len(rows) for rows in corpus.splits.values()) == 1000
    assert any("by a hash of the line" in note for note in corpus.notes)
    assert any("a text a line" in note for note in corpus.notes)


def test_an_empty_line_makes_a_document_that_keeps_its_line_feeds(tmp_path):
    rows = ["One.", "", "", "Two,", "  indented", "three.", ""]
    path = write(tmp_path / "train.txt", rows)
    write(tmp_path / "val.txt", ["a", "", "b"])
    corpus = Corpus.open(tmp_path, **PLAIN)
    assert texts(corpus) == ["One.\n", "\n", "\n", "Two,\n", "  indented\n", "three."]
    assert "".join(texts(corpus)) == path.read_text().rstrip("\n")
    forced = Corpus.open(tmp_path, target="lines", **PLAIN)
    assert texts(forced) == ["One.", "Two,", "  indented", "three."]
    assert texts(Corpus.open(tmp_path, target="documents", **PLAIN), "val") == ["a\n", "\n", "b"]


def test_a_book_is_held_out_in_stretches(tmp_path):
    path = write(tmp_path / "book.txt", [text if number % 10 else "" for number, text in enumerate(lines(3000))])
    corpus = Corpus.open(path, **PLAIN)
    assert set(corpus.splits) == {"train", "val", "test"}
    held = texts(corpus, "val")
    whole = path.read_text()
    first = "".join(held[:40])
    assert first in whole, "lines that are held out stand together"
    assert any("stretch of 64 lines" in note for note in corpus.notes)


def test_a_folder_of_documents(tmp_path):
    for number in range(41):
        write(tmp_path / f"letter {number:02}.txt", [f"letter {number}", "yours"])
    (tmp_path / "README.txt").write_text("about the letters")
    corpus = Corpus.open(tmp_path, **PLAIN)
    found = {split: "".join(f"{text}|" for text in texts(corpus, split)) for split in corpus.splits}
    assert sum(text.count("letter ") for text in found.values()) == 41
    assert "letter 0\n|yours|" in "".join(found.values()), "a document ends without a line feed"
    assert "about" not in "".join(found.values())
    assert any("hash of the file" in note for note in corpus.notes)
    nested = tmp_path / "nested"
    write(nested / "train" / "a.txt", ["one", "two"])
    write(nested / "test" / "b.txt", ["three"])
    opened = Corpus.open(nested, **PLAIN)
    assert texts(opened, "test") == ["three"] and set(opened.splits) >= {"train", "test"}


def test_one_language_of_a_corpus_of_pairs(tmp_path):
    for split in ("train", "val"):
        write(tmp_path / f"{split}.de", ["eins", "zwei"])
        write(tmp_path / f"{split}.en", ["one", "two"])
    assert texts(Corpus.open(tmp_path, target="de", **PLAIN)) == ["eins", "zwei"]
    with pytest.raises(MissingData, match="expected plain text.*found train.de"):
        Corpus.open(tmp_path, **PLAIN)


def test_packed_files_and_text_that_is_read(tmp_path):
    with gzip.open(tmp_path / "train.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines(7)))
    write(tmp_path / "val.txt", lines(3))
    assert texts(Corpus.open(tmp_path, **PLAIN)) == lines(7)
    read = Corpus.open(tmp_path, reads="text", wants="nothing")
    assert list(read.split("train")["source"]) == lines(7) and set(read.split("train")["target"]) == {""}


def test_what_is_wrong_is_told(tmp_path):
    with pytest.raises(MissingData, match="no files at all"):
        Corpus.open(tmp_path, **PLAIN)
    (tmp_path / "train.txt").write_bytes(b"gut\nsch\xf6n\n")
    report = check(tmp_path, **PLAIN)
    assert [each.code for each in report.errors] == ["invalid-utf8"]
    with pytest.raises(UsageError, match="copy is source -> target; nothing -> text was asked for"):
        Corpus.open("copy", **PLAIN)


def test_the_check_knows_plain_text(tmp_path):
    write(tmp_path / "train.txt", [*lines(29), *lines(29)])
    write(tmp_path / "val.txt", ["Ωμέγα ist unbekannt", *lines(2)])
    report = check(tmp_path)
    assert (report.source, report.target, report.ok) == ("nothing", "text", True)
    assert {each.code for each in report.warnings} == {"duplicates", "little-text", "overlap", "unknown-characters"}
    assert dict(report.pairs) == {"train": 58, "val": 3}
    assert any("train 580 words" in note for note in report.notes)


def test_plain_text_is_known_by_itself(tmp_path):
    book = write(tmp_path / "book.txt", lines(3))
    assert sides_of(book) == ("nothing", "text")
    assert sides_of("agreement") == ("nothing", "text")
    assert sides_for("generate", tmp_path) == ("nothing", "text")
    tabs = tmp_path / "labels.txt"
    tabs.write_text("pos\tgood\nneg\tbad\n")
    assert sides_of(tabs) != ("nothing", "text") or "\t" in tabs.read_text()


@pytest.mark.parametrize("name", ["agreement", "repeats"])
def test_built_in_text_is_written_as_files(name, tmp_path):
    paths = write_files(plan_of_builtin(name, size=13), tmp_path / name)
    assert sorted(path.name for path in paths) == ["test.txt", "train.txt", "val.txt"]
    corpus = Corpus.open(tmp_path / name, **PLAIN)
    drawn = Corpus.open(name, size=13, **PLAIN)
    assert texts(corpus) == texts(drawn) and len(texts(drawn)) == 13
