"""The checks of labelled data: each fault has a test with the words a person would see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.labelled.detect import sides_for, sides_of
from regard.data.report import Finding, Report
from regard.errors import UsageError

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lamda"]


def row(number: int) -> str:
    return f"{WORDS[number % 11]} {WORDS[number % 7]} {WORDS[number % 5]} {WORDS[number % 3]}"


def sound() -> dict[str, list[tuple[str, str]]]:
    """A corpus without a fault: all texts differ (11 x 7 x 5 x 3 of them)."""
    rows = [(row(number), ("pos", "neg")[number % 2]) for number in range(300)]
    return {"train": rows[:211], "val": rows[211:240], "test": rows[240:]}


def save(folder: Path, splits: dict[str, list[tuple[str, str]]], target: str = "label") -> Path:
    for split, rows in splits.items():
        body = f"text\t{target}\n" + "".join(f"{text}\t{label}\n" for text, label in rows)
        (folder / f"{split}.tsv").write_text(body, encoding="utf-8")
    return folder


def the(report: Report, code: str) -> Finding:
    found = [finding for finding in report.findings if finding.code == code]
    assert len(found) == 1, str(report)
    return found[0]


def test_a_sound_corpus(tmp_path):
    report = check(save(tmp_path, sound()))
    assert report.findings == () and report.pairs == {"train": 211, "val": 29, "test": 60}
    assert (report.source, report.target) == ("text", "label")
    assert "note: 2 labels in train: pos 106, neg 105\n" in str(report)


def test_unknown_columns(tmp_path):
    (tmp_path / "a.csv").write_text("nr,feedback,verdict\n1,good film,pos\n", encoding="utf-8")
    report = check(tmp_path / "a.csv", reads="text", wants="label")
    assert "nr | feedback | verdict" in the(report, "missing-corpus").message
    assert (report.source, report.target) == ("text", "label") and not report.ok


@pytest.mark.parametrize("rows", [[("a b", "pos"), ("c d", "pos")], [("a b", "pos")]])
def test_one_class_only(tmp_path, rows):
    report = check(save(tmp_path, {"train": rows, "val": [("e f", "pos")]}))
    finding = the(report, "one-label")
    assert finding.level == "error" and f"found pos {len(rows)}" in finding.message


def test_empty_texts(tmp_path):
    splits = sound()
    splits["train"][4] = (" ", "pos")
    finding = the(check(save(tmp_path, splits)), "empty-texts")
    assert finding.level == "warning" and finding.message == "1 of 211 texts (0.5%) are empty."
    assert finding.examples[0].startswith("line 6 ")
    splits["val"] = [("", "pos"), ("", "neg")]
    report = check(save(tmp_path, splits))
    assert [finding.message for finding in report.errors] == ["every text is empty."]


def test_labels_that_train_never_has(tmp_path):
    splits = sound()
    splits["test"][0] = (splits["test"][0][0], "mixed")
    finding = the(check(save(tmp_path, splits)), "unseen-labels")
    assert finding.level == "error" and finding.where == "test"
    assert finding.message == "labels that never stand in train: mixed 1 (1.7% of the split)."
    splits["test"] = splits["test"] * 2  # one in a hundred and twenty
    splits["test"][60] = (splits["test"][60][0], "pos")
    assert the(check(save(tmp_path, splits)), "unseen-labels").level == "warning"


def test_classes_that_hardly_occur(tmp_path):
    splits = sound()
    splits["train"][:4] = [(text, "odd") for text, _ in splits["train"][:4]]
    report = check(save(tmp_path, splits))
    assert the(report, "rare-labels").message == "labels with fewer than 5 rows: odd 4."
    assert "very unequal classes: pos 104, odd 4." in the(report, "unequal-labels").message
    assert "always answers pos is right in 49.3%" in the(report, "unequal-labels").advice
    splits["train"][4] = (splits["train"][4][0], "odd")
    assert "rare-labels" not in {finding.code for finding in check(save(tmp_path, splits)).findings}


def test_texts_of_train_in_test(tmp_path):
    splits = sound()
    splits["test"][:3] = [splits["train"][0], splits["train"][1], (splits["train"][2][0], "neg")]
    finding = the(check(save(tmp_path, splits)), "overlap")
    assert finding.level == "warning" and finding.where == "test"
    assert finding.message.startswith("3 of 60 source lines (5.0%) also stand in train, 2 of them")


def test_one_text_with_two_labels(tmp_path):
    splits = sound()
    splits["train"][7] = (splits["train"][100][0], "neg")
    splits["train"][8] = splits["train"][10]  # twice the same is no contradiction
    report = check(save(tmp_path, splits))
    finding = the(report, "two-labels")
    assert finding.message == "2 of 211 texts (0.9%) stand there with two labels or more."
    assert len(finding.examples) == 2 and "line 9 " in finding.examples[0]
    for place in range(20, 40):  # many: those of the first are shown together
        splits["train"][place] = (splits["train"][place + 20][0], "mixed")
    finding = the(check(save(tmp_path, splits)), "two-labels")
    assert [example.split(" (")[0] for example in finding.examples] == ["line 9", "line 102", "line 22"]
    assert the(report, "duplicates").message.startswith("1 of 211")


def test_a_column_that_holds_no_labels(tmp_path):
    rows = [(row(number), f"name {number}") for number in range(101)]
    report = check(save(tmp_path, {"train": rows, "val": rows[:3]}))
    assert the(report, "many-labels").message.startswith("101 different labels in 101 rows: name 0 1,")
    assert "--label COLUMN" in the(report, "many-labels").advice


def test_tags(tmp_path):
    splits = {
        "train": [("she can", "PRON AUX"), ("her can", "DET NOUN")] * 5,
        "val": [("she fish", "PRON VERB"), ("he can", "PRON")],
    }
    report = check(save(tmp_path, splits, "tags"))
    assert (report.source, report.target) == ("text", "tags")
    finding = the(report, "uneven-tags")
    assert finding.level == "error" and finding.where.endswith("val.tsv:3")
    assert finding.examples == ("line 3: 2 words, 1 tags: he can | PRON",)
    assert the(report, "unseen-labels").level == "warning"
    assert "tags that never stand in train: VERB 1" in the(report, "unseen-labels").message
    assert "4 tags in train: PRON 5, AUX 5, DET 5, NOUN 5" in report.notes[-1]


def test_an_open_corpus_is_checked_alike(tmp_path):
    splits = sound()
    splits["test"][0] = splits["train"][0]
    folder = save(tmp_path, splits)
    report = check(Corpus.open(folder, wants="label"))
    assert (
        [finding.code for finding in report.findings]
        == ["overlap"]
        == [finding.code for finding in check(folder).findings]
    )


def test_for_machines(tmp_path):
    told = json.loads(check(save(tmp_path, sound())).as_json())
    assert told["ok"] and told["source"] == "text" and told["target"] == "label"


class TestDetection:
    @pytest.mark.parametrize(
        ("name", "text", "sides"),
        [
            ("a.csv", "text,label\nx,1\n", ("text", "label")),
            ("a.csv", "id;Review;Sentiment\n1;x;2\n", ("text", "label")),
            ("a.jsonl", '{"text": "x", "label": 1}\n', ("text", "label")),
            ("a.csv", "file_name,label\nx.png,1\n", ("image", "label")),
            ("a.tsv", "tokens\tner_tags\nx\ty\n", ("text", "tags")),
            ("a.conll", "x y\n", ("text", "tags")),
            ("a.csv", "source,target\nx,y\n", None),
            ("a.csv", "text,target\nx,y\n", None),
            ("a.csv", "text,summary\nx,y\n", None),
            ("a.csv", "en,fr\nx,y\n", None),
            ("a.txt", "just text\n", ("nothing", "text")),
            ("train.txt", "just text\n", ("nothing", "text")),
        ],
    )
    def test_files(self, tmp_path, name, text, sides):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert sides_of(tmp_path / name) == sides_of(tmp_path) == sides

    def test_folders(self, tmp_path):
        (tmp_path / "train" / "pos").mkdir(parents=True)
        (tmp_path / "train" / "pos" / "1.txt").write_text("good")
        assert sides_of(tmp_path) == ("text", "label")
        (tmp_path / "train" / "pos" / "1.png").write_bytes(b"")
        assert sides_of(tmp_path) == ("image", "label")

    def test_languages_are_no_classes(self, tmp_path):
        for language in ("de", "en"):
            (tmp_path / f"train.{language}").write_text("a\n")
        assert sides_of(tmp_path) is None

    def test_names_and_tasks(self):
        assert sides_of("needle") == ("text", "label") and sides_of("tagged") == ("text", "tags")
        assert sides_of("shapes") == ("image", "label") == sides_for("classify", "shapes")
        assert sides_of("dates") is None and sides_of("nowhere") is None
        assert sides_for("classify", "nowhere") == ("text", "label") and sides_for("tag", "x") == ("text", "tags")
        assert sides_for("translate", "needle") is None
        with pytest.raises(UsageError, match="no task is called 'paint'; there are translate, classify, tag"):
            sides_for("paint", "needle")


@pytest.mark.skipif(not (SHARED / "sst2").is_dir(), reason="the shared labelled sets are not here")
@pytest.mark.parametrize(
    ("name", "pairs", "labels"),
    [
        ("rt_polarity", {"train": 8_530, "val": 1_066, "test": 1_066}, 2),
        ("sst2", {"train": 6_920, "val": 872, "test": 1_821}, 2),
        ("trec", {"train": 4_963, "val": 489, "test": 500}, 6),
    ],
)
def test_real_sets(name, pairs, labels, tmp_path):
    corpus = Corpus.open(SHARED / name, reads="text", wants="label", cache=tmp_path)
    assert {split: len(rows) for split, rows in corpus.splits.items()} == pairs
    assert len(set(corpus.split("train")["target"])) == labels
    assert sides_of(SHARED / name) == ("text", "label") and check(corpus).ok
