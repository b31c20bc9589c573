"""Reading: every format, every way of naming files, the languages, the splits, the store."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.corpus import Corpus
from regard.data.files import Lines, cache_folder
from regard.data.held_out import share_of
from regard.data.languages import code_of, pick, read_pair
from regard.data.names import read_name, split_named
from regard.data.pair import read_gold
from regard.data.rows import turn
from regard.errors import BrokenData, MissingData, UnknownName, UsageError

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")

GERMAN = ["ein mann liest", "zwei hunde", "das haus ist rot"]
ENGLISH = ["a man reads", "two dogs", "the house is red"]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def write(path: Path, lines: list[str]) -> Path:
    text = "".join(f"{line}\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def write_splits(folder: Path, splits: tuple[str, ...] = ("train", "val", "test"), ending: str = "") -> Path:
    for split in splits:
        write(folder / f"{split}.de{ending}", [f"{split} {line}" for line in GERMAN])
        write(folder / f"{split}.en{ending}", [f"{split} {line}" for line in ENGLISH])
    return folder


def pairs_of(corpus: Corpus, split: str) -> list[tuple[str, str]]:
    dataset = corpus.split(split)
    return list(zip(dataset["source"], dataset["target"], strict=True))


class TestFolders:
    @pytest.mark.parametrize("ending", ["", ".gz"])
    def test_files_of_lines(self, tmp_path, cache, ending):
        corpus = Corpus.open(write_splits(tmp_path / "data", ending=ending), source="en", target="de", cache=cache)
        assert list(corpus.splits) == ["train", "val", "test"]
        assert (corpus.source, corpus.target) == ("en", "de")
        assert pairs_of(corpus, "val") == [
            (f"val {one}", f"val {other}") for one, other in zip(ENGLISH, GERMAN, strict=True)
        ]
        assert corpus.splits["train"].column_names == ["source", "target"]

    @pytest.mark.parametrize("name", ["val", "dev", "valid", "validation"])
    def test_validation_by_any_of_its_names(self, tmp_path, cache, name):
        corpus = Corpus.open(write_splits(tmp_path / "data", ("train", name)), cache=cache)
        assert list(corpus.splits) == ["train", "val"]

    def test_every_test_file_is_a_split_and_test_means_the_first(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data", ("train", "val", "test_2017_coco", "test_2016_flickr"))
        corpus = Corpus.open(folder, cache=cache)
        assert list(corpus.splits) == ["train", "val", "test_2016_flickr", "test_2017_coco"]
        assert corpus.split("test")["source"][0] == "test_2016_flickr ein mann liest"

    def test_no_such_split(self, tmp_path, cache):
        corpus = Corpus.open(write_splits(tmp_path / "data", ("train", "val")), cache=cache)
        with pytest.raises(MissingData, match=r"expected a split called 'test'; found train, val\."):
            corpus.split("test")

    def test_only_two_languages_are_chosen_and_said(self, tmp_path, cache):
        corpus = Corpus.open(write_splits(tmp_path / "data"), cache=cache)
        assert (corpus.source, corpus.target) == ("de", "en")
        assert corpus.notes[0] == "languages: from de to en, the only two there"

    def test_one_language_asked_leaves_the_other(self, tmp_path, cache):
        corpus = Corpus.open(write_splits(tmp_path / "data"), source="en", cache=cache)
        assert (corpus.source, corpus.target) == ("en", "de")

    def test_three_languages_must_be_chosen_from(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        write(folder / "train.fr", ENGLISH)
        with pytest.raises(UsageError, match=r"found 3: de, en, fr\.\n  Choose with --from and --to"):
            Corpus.open(folder, cache=cache)

    def test_a_language_that_is_not_there(self, tmp_path, cache):
        with pytest.raises(MissingData, match=r"expected a text in 'ja'; found de, en\."):
            Corpus.open(write_splits(tmp_path / "data"), source="ja", target="en", cache=cache)

    def test_the_same_language_twice(self, tmp_path, cache):
        with pytest.raises(UsageError, match="--from and --to both ask for de"):
            Corpus.open(write_splits(tmp_path / "data"), source="de", target="deu", cache=cache)

    def test_one_side_alone(self, tmp_path, cache):
        path = write(tmp_path / "data" / "news.de", GERMAN)
        with pytest.raises(MissingData, match="expected two languages side by side; found only de"):
            Corpus.open(path, cache=cache)

    def test_languages_of_any_name(self, tmp_path, cache):
        for split in ("train", "val"):
            write(tmp_path / "data" / f"{split}.card", GERMAN)
            write(tmp_path / "data" / f"{split}.code", ENGLISH)
        corpus = Corpus.open(tmp_path / "data", source="card", target="code", cache=cache)
        assert pairs_of(corpus, "train")[0] == ("ein mann liest", "a man reads")

    def test_other_files_are_left_aside_and_said(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        write(folder / "train.meta.tsv", ["2001\tde"])
        write(folder / "README.md", ["words"])
        write(folder / "extra.de", GERMAN)
        corpus = Corpus.open(folder, cache=cache)
        assert "left aside: extra.de, train.meta.tsv" in corpus.notes
        assert len(corpus.split("train")) == 3

    def test_a_file_of_a_pair_stands_for_both(self, tmp_path, cache):
        write_splits(tmp_path / "data", ("news", "web"))
        corpus = Corpus.open(tmp_path / "data" / "web.de", cache=cache)
        assert all(text.startswith("web ") for text in corpus.split("train")["source"])

    def test_two_corpora_in_one_folder(self, tmp_path, cache):
        write_splits(tmp_path / "data", ("news", "web"))
        with pytest.raises(UsageError, match=r"several corpora lie there, and no file is called train: news, web\."):
            Corpus.open(tmp_path / "data", cache=cache)

    def test_missing_partners_are_all_named(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        (folder / "val.en").unlink()
        (folder / "test.de").unlink()
        with pytest.raises(MissingData) as caught:
            Corpus.open(folder, source="de", target="en", cache=cache)
        assert "2 errors" in str(caught.value)
        assert "expected val.en (or .gz) beside val.de; there is no such file." in str(caught.value)
        assert "expected test.de (or .gz) beside test.en; there is no such file." in str(caught.value)

    def test_a_test_in_other_languages_is_left_aside(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        for split in ("train", "val"):
            write(folder / f"{split}.fr", ENGLISH)
        corpus = Corpus.open(folder, source="fr", target="en", cache=cache)
        assert list(corpus.splits) == ["train", "val"]
        assert corpus.notes == ("left aside: test.de, test.en",)

    def test_the_same_split_twice(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        write(folder / "train.de.gz", GERMAN)
        with pytest.raises(BrokenData, match=r"expected one file for de in train; found train.de, train.de.gz\."):
            Corpus.open(folder, cache=cache)

    def test_nothing_to_read(self, tmp_path, cache):
        write(tmp_path / "data" / "table.parquet", ["a,b"])
        with pytest.raises(MissingData, match=r"expected a corpus: train.de train.en .*; found table.parquet\."):
            Corpus.open(tmp_path / "data", cache=cache)

    def test_a_name_nobody_knows(self, cache):
        with pytest.raises(MissingData, match=r"'phrasbook' is neither a file.*\n  Did you mean 'phrasebook'\?"):
            Corpus.open("phrasbook", cache=cache)

    def test_a_download_that_is_not_here(self, cache):
        with pytest.raises(MissingData, match=r"multi30k is not here yet.*\n  Fetch it: regard data get multi30k"):
            Corpus.open("multi30k", cache=cache)

    def test_only_a_line_feed_ends_a_line(self, tmp_path, cache):
        odd = ["one\u2028two", "three\x0bfour", "five\x85six"]
        for split in ("train", "val"):
            write(tmp_path / "data" / f"{split}.de", odd)
            write(tmp_path / "data" / f"{split}.en", ENGLISH)
        assert Corpus.open(tmp_path / "data", cache=cache).split("train")["source"][:] == odd

    def test_marks_of_other_systems_are_taken_away(self, tmp_path, cache):
        folder = tmp_path / "data"
        write_splits(folder)
        (folder / "train.de").write_bytes(b"\xef\xbb\xbfeins\r\nzwei\r\ndrei")
        assert Corpus.open(folder, cache=cache).split("train")["source"][:] == ["eins", "zwei", "drei"]


class TestHeldOut:
    def lines(self, count: int) -> tuple[list[str], list[str]]:
        return [f"satz {number}" for number in range(count)], [f"line {number}" for number in range(count)]

    def test_unsplit_files_are_cut_by_a_hash_of_the_source(self, tmp_path, cache):
        german, english = self.lines(2003)
        german[1999] = german[7]  # the same source twice must not be in two splits
        write(tmp_path / "data" / "all.de", german)
        write(tmp_path / "data" / "all.en", english)
        corpus = Corpus.open(tmp_path / "data", cache=cache)
        assert sum(len(split) for split in corpus.splits.values()) == 2003
        assert all(120 < len(corpus.split(split)) < 280 for split in ("val", "test"))
        sources = [set(corpus.split(split)["source"]) for split in ("train", "val", "test")]
        assert not (sources[0] & sources[1] or sources[0] & sources[2] or sources[1] & sources[2])
        assert any("cut off from train by a hash of the source line" in note for note in corpus.notes)

    def test_the_order_of_the_lines_does_not_matter(self, tmp_path, cache):
        german, english = self.lines(997)
        for name, step in (("one", 1), ("two", -1)):
            write(tmp_path / name / "all.de", german[::step])
            write(tmp_path / name / "all.en", english[::step])
        one, two = (Corpus.open(tmp_path / name, cache=cache) for name in ("one", "two"))
        assert set(one.split("test")["source"]) == set(two.split("test")["source"])

    def test_a_missing_validation_split_is_cut_off(self, tmp_path, cache):
        german, english = self.lines(1009)
        write(tmp_path / "data" / "train.de", german)
        write(tmp_path / "data" / "train.en", english)
        write(tmp_path / "data" / "test.de", ["heute"])
        write(tmp_path / "data" / "test.en", ["today"])
        corpus = Corpus.open(tmp_path / "data", cache=cache)
        assert list(corpus.splits) == ["train", "val", "test"]
        assert pairs_of(corpus, "test") == [("heute", "today")]
        assert 50 < len(corpus.split("val")) < 160

    def test_large_files_give_up_little(self):
        assert share_of(None, 100) == pytest.approx(0.1)
        assert share_of(None, 5_000_000) == pytest.approx(0.0004)


class TestTables:
    def test_two_columns_in_order(self, tmp_path, cache):
        path = write(tmp_path / "train.tsv", ["ja\tyes", "nein\tno"])
        corpus = Corpus.open(path, source="de", target="en", cache=cache)
        assert ("ja", "yes") in [pair for split in corpus.splits for pair in pairs_of(corpus, split)]
        assert (corpus.source, corpus.target) == ("de", "en")

    def test_a_header_names_the_columns(self, tmp_path, cache):
        path = write(
            tmp_path / "words.tsv",
            [
                "id\tsplit\ten\tde\tlinks",
                "1\ttrain\tyes sir\tja\t0-0",
                "2\tdev\tno\tnein\t0-0",
                "3\ttest\ta b\tc d\t1?0",
            ],
        )
        corpus = Corpus.open(path, source="de", target="en", cache=cache)
        assert list(corpus.splits) == ["train", "val", "test"]
        assert corpus.split("test")[0] == {"source": "c d", "target": "a b", "links": "0?1"}

    def test_split_and_links_are_known_by_their_content(self, tmp_path, cache):
        path = write(tmp_path / "de-en.tsv", ["train\tja ja\tyes\t0-0 1?0", "dev\tnein\tno\t0-0"])
        corpus = Corpus.open(path, cache=cache)
        assert (corpus.source, corpus.target) == ("de", "en")
        assert corpus.split("train")[0] == {"source": "ja ja", "target": "yes", "links": "0-0 1?0"}

    def test_the_pair_in_the_name_gives_the_direction(self, tmp_path, cache):
        path = write(tmp_path / "gold.deu-eng.tsv.gz", ["ja ja\tyes\t0-0 1?0"])
        corpus = Corpus.open(path, source="en", target="de", cache=cache)
        assert corpus.split("test")[0] == {"source": "yes", "target": "ja ja", "links": "0-0 0?1"}

    def test_files_are_chosen_by_their_pair(self, tmp_path, cache):
        for pair in ("en-it", "en-ru"):
            for split in ("train", "dev"):
                write(tmp_path / "data" / f"{pair}.{split}.tsv", [f"{pair}\tthe {split}"])
        corpus = Corpus.open(tmp_path / "data", source="ru", target="en", cache=cache)
        assert pairs_of(corpus, "val") == [("the dev", "en-ru")]
        with pytest.raises(UsageError, match=r"several pairs of languages lie there: en-it, en-ru\."):
            Corpus.open(tmp_path / "data", cache=cache)
        with pytest.raises(MissingData, match=r"expected files for de and en; found the pairs en-it, en-ru\."):
            Corpus.open(tmp_path / "data", source="de", target="en", cache=cache)

    def test_too_many_columns_without_a_header(self, tmp_path, cache):
        path = write(tmp_path / "train.tsv", ["ja\tyes\tby Ann", "nein\tno\tby Bob"])
        with pytest.raises(BrokenData, match=r"expected two columns of text .*; found 3: ja \| yes \| by Ann"):
            Corpus.open(path, cache=cache)

    def test_lines_with_other_columns(self, tmp_path, cache):
        path = write(tmp_path / "train.tsv", ["ja\tyes", "nein", "a\tb\tc", "so\tthus"])
        with pytest.raises(BrokenData) as caught:
            Corpus.open(path, cache=cache)
        assert f"{path}:2: expected 2 columns parted by tabs; 2 lines differ." in str(caught.value)
        assert "line 3: a\\tb\\tc" in str(caught.value)

    def test_json_lines(self, tmp_path, cache):
        rows = [
            {"id": "7", "de": "ja", "en": "yes", "split": "train"},
            {"de": "a\nb", "en": "no", "split": "val"},
        ]
        path = write(tmp_path / "pairs.jsonl", [json.dumps(row) for row in rows])
        corpus = Corpus.open(path, source="en", target="de", cache=cache)
        assert pairs_of(corpus, "train") == [("yes", "ja")]
        assert pairs_of(corpus, "val") == [("no", "a b")]

    def test_json_translations_and_keys_of_any_name(self, tmp_path, cache):
        write(tmp_path / "one" / "train.jsonl", [json.dumps({"translation": {"de": "ja", "en": "yes"}})])
        write(tmp_path / "two" / "test.jsonl", [json.dumps({"class": "x", "text": "long", "summary": "short"})])
        assert Corpus.open(tmp_path / "one", source="de", target="en", cache=cache).source == "de"
        corpus = Corpus.open(tmp_path / "two", source="text", target="summary", cache=cache)
        assert pairs_of(corpus, "test") == [("long", "short")]
        with pytest.raises(UsageError, match="found 3: class, text, summary"):
            Corpus.open(tmp_path / "two", cache=cache)

    def test_broken_json(self, tmp_path, cache):
        good = json.dumps({"de": "ja", "en": "yes"})
        bad = ['{"de": "ja"', '{"de": "ja"}', '{"de": "ja", "en": 7}', '{"de": "\\ud800", "en": "x"}']
        path = write(tmp_path / "train.jsonl", [good, *bad])
        with pytest.raises(
            BrokenData, match=r"train.jsonl:2: expected a JSON object with the texts 'de', 'en'; 4 lines"
        ):
            Corpus.open(path, cache=cache)

    def test_json_without_texts(self, tmp_path, cache):
        path = write(tmp_path / "train.jsonl", [json.dumps({"de": "ja", "number": 7})])
        with pytest.raises(BrokenData, match="expected two texts in each object; found the keys de, number"):
            Corpus.open(path, cache=cache)

    def test_two_tables_for_one_split(self, tmp_path, cache):
        for name in ("dev.tsv", "valid.tsv", "train.tsv"):
            write(tmp_path / "data" / name, ["ja\tyes"])
        with pytest.raises(BrokenData, match=r"expected one file for val; found dev.tsv, valid.tsv\."):
            Corpus.open(tmp_path / "data", cache=cache)

    def test_an_unknown_split(self, tmp_path, cache):
        path = write(tmp_path / "all.tsv", ["split\tde\ten", "train\tja\tyes", "../x\tnein\tno"])
        with pytest.raises(
            BrokenData, match=r"all.tsv:3: expected train, val \(dev, valid\) or test; one line differs"
        ):
            Corpus.open(path, cache=cache)


TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en"><seg>A <bpt i="1">&lt;b&gt;</bpt><hi>red</hi><ept i="1">&lt;/b&gt;</ept> house
 &amp; garden</seg></tuv><tuv xml:lang="fr-FR"><seg>Une maison rouge</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Yes</seg></tuv><tuv xml:lang="fr-FR"><seg>Oui</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>No</seg></tuv><tuv lang="de"><seg>Nein</seg></tuv></tu>
</body></tmx>
"""


class TestMemories:
    @pytest.mark.parametrize("ending", [".tmx", ".tmx.gz"])
    def test_units_become_pairs(self, tmp_path, cache, ending):
        path = write(tmp_path / f"test{ending}", TMX.splitlines())
        corpus = Corpus.open(path, source="fr", target="en", cache=cache)
        assert pairs_of(corpus, "test") == [("Une maison rouge", "A red house & garden"), ("Oui", "Yes")]

    def test_broken_xml(self, tmp_path, cache):
        path = write(tmp_path / "test.tmx", TMX.splitlines()[:-1])
        with pytest.raises(BrokenData, match="expected a translation memory"):
            Corpus.open(path, source="fr", target="en", cache=cache)

    def test_one_language_only(self, tmp_path, cache):
        path = write(tmp_path / "test.tmx", ["<tmx><body><tu><tuv xml:lang='en'><seg>a</seg></tuv></tu></body></tmx>"])
        with pytest.raises(BrokenData, match=r"expected units \(<tu>\) in two languages; found en\."):
            Corpus.open(path, cache=cache)


class TestGold:
    def folder(self, tmp_path: Path, name: str, links: list[str]) -> Path:
        folder = write_splits(tmp_path / "data")
        write(folder / name, links)
        return folder

    def test_links_beside_the_lines(self, tmp_path, cache):
        folder = self.folder(tmp_path, "test.de-en.gold", ["0-0 1-1 2?2", "0-0", ""])
        corpus = Corpus.open(folder, source="de", target="en", cache=cache)
        assert corpus.split("test")["links"][:] == ["0-0 1-1 2?2", "0-0", ""]
        assert "links" not in corpus.split("train").column_names

    def test_links_turn_with_the_direction(self, tmp_path, cache):
        folder = self.folder(tmp_path, "test.de-en.gold", ["0-1 2?3", "", ""])
        corpus = Corpus.open(folder, source="en", target="de", cache=cache)
        assert corpus.split("test")["links"][0] == "1-0 3?2"
        assert read_gold(corpus.split("test")["links"][0]) == (((1, 0),), ((3, 2),))

    def test_links_that_cannot_be(self, tmp_path, cache):
        folder = self.folder(tmp_path, "test.gold", ["0-0 9-1", "0:1", ""])
        with pytest.raises(BrokenData) as caught:
            Corpus.open(folder, source="de", target="en", cache=cache)
        assert "test.gold:1: expected gold links such as 0-1 (sure) or 0?1 (possible); 2 lines differ." in str(
            caught.value
        )
        assert "line 1: '9-1' points outside 4 source and 4 target words" in str(caught.value)
        assert "line 2: '0:1' is no link" in str(caught.value)


class TestBuiltIn:
    def test_a_toy(self, cache):
        corpus = Corpus.open("reverse", size=53, seed=3, cache=cache)
        assert {split: len(rows) for split, rows in corpus.splits.items()} == {
            "train": 53,
            "val": 53,
            "test": 53,
        }
        row = corpus.split("train")[0]
        assert row["target"].split() == row["source"].split()[::-1]
        assert row["links"].startswith(f"0-{len(row['source'].split()) - 1}")

    def test_size_and_seed_matter(self, cache):
        one, two = (Corpus.open("copy", size=31, seed=seed, cache=cache) for seed in (1, 2))
        assert one.split("train")["source"][:] != two.split("train")["source"][:]
        assert one.key != two.key

    def test_a_direction_it_has_not(self, cache):
        with pytest.raises(UnknownName, match="no direction of copy is called 'en-fr'"):
            Corpus.open("copy", source="en", target="fr", cache=cache)

    def test_sizes_that_cannot_be(self, cache, tmp_path):
        with pytest.raises(UsageError, match="expected a size of one pair or more; found 0"):
            Corpus.open("copy", size=0, cache=cache)
        with pytest.raises(UsageError, match="a size can be asked of built-in corpora only"):
            Corpus.open(write_splits(tmp_path / "data"), size=7, cache=cache)


class TestStore:
    def kept(self, cache: Path) -> list[str]:
        return sorted(path.name for path in (cache / "corpora").iterdir())

    def test_the_same_content_is_kept_once(self, tmp_path, cache, monkeypatch):
        one = Corpus.open(write_splits(tmp_path / "one"), cache=cache)
        monkeypatch.setattr("regard.data.store._write", lambda *_: pytest.fail("written a second time"))
        two = Corpus.open(write_splits(tmp_path / "two"), cache=cache)
        assert one.key == two.key
        assert pairs_of(two, "train") == pairs_of(one, "train")
        assert self.kept(cache) == [one.key]

    def test_a_changed_byte_is_another_corpus(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        before = Corpus.open(folder, cache=cache)
        write(folder / "train.de", ["ein mann schreibt", *GERMAN[1:]])
        after = Corpus.open(folder, cache=cache)
        assert before.key != after.key
        assert after.split("train")["source"][0] == "ein mann schreibt"

    def test_the_direction_is_part_of_the_key(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        one = Corpus.open(folder, source="de", target="en", cache=cache)
        two = Corpus.open(folder, source="en", target="de", cache=cache)
        assert pairs_of(one, "train") == [(b, a) for a, b in pairs_of(two, "train")]

    def test_nothing_is_kept_of_a_broken_corpus(self, tmp_path, cache):
        folder = write_splits(tmp_path / "data")
        write(folder / "train.en", ENGLISH[:-1])
        (folder / "val.de").write_bytes(b"gut\nsch\xf6n\nrot\n")
        with pytest.raises(BrokenData) as caught:
            Corpus.open(folder, cache=cache)
        assert "2 errors" in str(caught.value)
        assert self.kept(cache) == []

    def test_nothing_is_kept_when_interrupted(self, tmp_path, cache, monkeypatch):
        def interrupted(self):
            yield "one"
            raise KeyboardInterrupt

        monkeypatch.setattr(Lines, "__iter__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Corpus.open(write_splits(tmp_path / "data"), cache=cache)
        assert self.kept(cache) == []

    def test_more_rows_than_a_batch_holds(self, tmp_path, cache, monkeypatch):
        monkeypatch.setattr("regard.data.store._BATCH", 7)
        lines = [f"satz {number}" for number in range(23)]
        for split in ("train", "val"):
            write(tmp_path / "data" / f"{split}.de", lines)
            write(tmp_path / "data" / f"{split}.en", lines[::-1])
        corpus = Corpus.open(tmp_path / "data", cache=cache)
        assert pairs_of(corpus, "train") == list(zip(lines, lines[::-1], strict=True))

    def test_a_full_disk_is_said_before_writing(self, tmp_path, cache, monkeypatch):
        from collections import namedtuple

        full = namedtuple("usage", "total used free")(1, 1, 0)
        monkeypatch.setattr("regard.data.files.shutil.disk_usage", lambda _: full)
        with pytest.raises(Exception, match="has 0 MiB free; about"):
            Corpus.open(write_splits(tmp_path / "data"), cache=cache)

    def test_where_the_cache_lies(self, monkeypatch):
        monkeypatch.setenv("REGARD_CACHE", "/elsewhere")
        assert cache_folder() == Path("/elsewhere")
        monkeypatch.delenv("REGARD_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
        assert cache_folder() == Path("/caches/regard")
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_folder() == Path.home() / ".cache" / "regard"


LINE = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), max_size=40).filter(
    lambda line: not line.endswith("\r") and not line.startswith("\ufeff")
)
LINK = st.builds("{}{}{}".format, st.integers(0, 99), st.sampled_from("-?"), st.integers(0, 99))


class TestAnyText:
    @given(st.lists(LINE, min_size=1, max_size=9))
    def test_lines_come_back_as_they_were_written(self, tmp_path_factory, lines):
        path = write(tmp_path_factory.mktemp("any") / "train.de", lines)
        read = Lines(path)
        assert list(read) == lines
        assert read.count == len(lines)
        assert read.findings() == []

    @given(st.lists(LINK))
    def test_links_turned_twice_are_the_same(self, links):
        line = " ".join(links)
        assert turn(turn(line)) == line
        sure, possible = read_gold(turn(line))
        assert read_gold(line) == (tuple((b, a) for a, b in sure), tuple((b, a) for a, b in possible))


class TestNames:
    @pytest.mark.parametrize(
        ("name", "kind", "split", "language", "pair"),
        [
            ("train.de", "lines", "train", "de", None),
            ("train.pt-BR.gz", "lines", "train", "pt-BR", None),
            ("newstest2014.en", "lines", "newstest2014", "en", None),
            ("europarl-v7.de-en.en", "lines", None, "en", None),
            ("train_hs.in", "lines", "train", "in", None),
            ("en-it.dev.tsv.gz", "tsv", "val", None, ("en", "it")),
            ("gold.de-en.tsv", "tsv", "gold", None, ("de", "en")),
            ("test.human-iso.gold", "links", "test", None, ("human", "iso")),
            ("memory.tmx", "tmx", None, None, None),
        ],
    )
    def test_understood(self, name, kind, split, language, pair):
        found = read_name(Path(name))
        assert found is not None
        assert (found.kind, found.split, found.language, found.pair) == (kind, split, language, pair)

    @pytest.mark.parametrize(
        "name", ["README.md", "LICENSE", "train.log", "notes.txt", ".hidden", "model.bin", "a.zip"]
    )
    def test_not_a_part_of_a_corpus(self, name):
        assert read_name(Path(name)) is None

    def test_splits_are_safe_names_of_files(self):
        assert split_named("Dev") == "val"
        assert split_named("test_2016") == "test_2016"
        assert split_named("test/../../x") is None

    def test_languages_by_any_of_their_names(self):
        assert {code_of(name) for name in ("de", "deu", "ger", "German", "de-AT", "DE")} == {"de"}
        assert code_of("klartext") is None
        assert pick("de", ["deu", "eng"]) == "deu"
        assert pick("pt", ["pt-BR", "pt-PT"]) is None
        assert read_pair("pre-post") is None


@needs_shared
class TestSharedData:
    @pytest.mark.parametrize(
        ("data", "source", "target", "sizes"),
        [
            ("multi30k", "de", "en", {"train": 29000, "val": 1014, "test_2016_flickr": 1000}),
            pytest.param(
                *("europarl", "fr", "en", {"train": 100000, "val": 2000, "test": 4000}),
                marks=pytest.mark.slow,
            ),
            pytest.param(
                *("tatoeba", "en", "fr", {"train": 161977, "val": 1618, "test": 3384}), marks=pytest.mark.slow
            ),
            ("word_alignment", "de", "en", {"gold": 100}),
            ("word_alignment/gold.en-fr.tsv.gz", None, None, {"gold": 447}),
            ("word_alignment/xl-wa", "ru", "en", {"train": 1002, "val": 90, "test": 210}),
        ],
    )
    def test_loads(self, data, source, target, sizes, cache):
        corpus = Corpus.open(SHARED / data, source=source, target=target, cache=cache)
        assert {split: len(rows) for split, rows in corpus.splits.items()} == sizes
