"""classify, tag, show, evaluate and compare on models that classify and tag, as a person would type them."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from answering import trained
from regard.cli import app
from regard.errors import ModelError, UsageError

LINES = "w1 w2\n\n東京 は 美しい\nنص طويل\n"


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answering")
    for kind in ("needle", "tagged", "shapes"):
        trained(folder, kind)
    return folder


@pytest.fixture(autouse=True)
def _cache(home, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(home / "cache"))


def test_a_line_in_and_a_line_out(home):
    done = call("classify", home / "needle", text=LINES)
    rows = [line.split("\t") for line in done.stdout.split("\n")[:-1]]
    assert done.exit_code == 0 and len(rows) == 4
    assert all(label in ("pos", "neg") and 0.5 <= float(share) <= 1 for label, share in rows)


@pytest.mark.parametrize("words", [("classify",), ("tag",), ("generate",), ("score",), ("fill",), ("caption",)])
def test_a_path_that_holds_no_model_is_called_that(words, tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    done = call(*words, tmp_path / "nowhere", tmp_path / "in.txt")
    assert isinstance(done.exception, ModelError) and "is no model folder" in str(done.exception)


def test_more_classes_and_what_was_looked_at(home, tmp_path):
    (tmp_path / "in.txt").write_text(LINES, encoding="utf-8")
    done = call("classify", home / "needle", tmp_path / "in.txt", "--top", 2, "--attention")
    first = done.stdout.split("\n")[0].split("\t")
    assert {first[0], first[2]} == {"pos", "neg"} and float(first[1]) >= float(first[3])
    words = [each.rpartition(":") for each in first[4].split()]
    assert [word for word, _, _ in words] == ["w1", "w2", "</s>"]
    assert sum(float(weight) for *_, weight in words) == pytest.approx(1, abs=0.01)


def test_everything_as_json(home):
    found = [
        json.loads(line)
        for line in call("classify", home / "needle", "--format", "jsonl", text=LINES).stdout.splitlines()
    ]
    assert [each["source"] for each in found] == LINES.split("\n")[:-1]
    assert set(found[0]["probabilities"]) == {"pos", "neg"} and found[0]["words"] == ["w1", "w2", "</s>"]
    tags = [
        json.loads(line) for line in call("tag", home / "tagged", "--format", "jsonl", text=LINES).stdout.splitlines()
    ]
    assert [each["words"] for each in tags] == [line.split() for line in LINES.split("\n")[:-1]]
    assert len(tags[0]["weights"]) == 3


def test_images_by_their_paths(home):
    paths = sorted((home / "cache" / "images").rglob("*.png"))[:3]
    text = "".join(f"{path}\n" for path in paths)
    done = call("classify", home / "shapes", text=text)
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 3
    found = json.loads(call("classify", home / "shapes", "--format", "jsonl", text=text).stdout.splitlines()[0])
    assert found["source"] == str(paths[0]) and len(found["grid"]) == 2
    assert isinstance(call("classify", home / "shapes", "--attention", text=text).exception, UsageError)
    assert "path of an image in every line" in str(call("classify", home / "shapes", text="\n").exception)


def test_tags_as_text_and_in_columns(home):
    line, empty, *_ = call("tag", home / "tagged", text=LINES).stdout.split("\n")
    assert [each.partition("/")[0] for each in line.split()] == ["w1", "w2"] and empty == ""
    rows = call("tag", home / "tagged", "--format", "conll", text=LINES).stdout.split("\n")
    assert [row.partition("\t")[0] for row in rows[:4]] == ["w1", "w2", "", ""] and rows[4].startswith("東京\t")


@pytest.mark.parametrize(
    ("verb", "model", "right"),
    [("tag", "needle", "classify"), ("classify", "tagged", "tag"), ("translate", "needle", "classify")],
)
def test_a_verb_of_another_task_says_which_is_right(home, verb, model, right):
    done = call(verb, home / model, text="a\n")
    assert isinstance(done.exception, UsageError) and f"Use `regard {right}`." in str(done.exception)


def test_a_reader_that_goes_away(home):
    command = f"yes w1 w2 | head -2000 | {sys.executable} -m regard classify {home / 'needle'} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert len(done.stdout.splitlines()) == 1 and "Traceback" not in done.stderr


def test_show_in_the_terminal_and_in_files(home, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    done = call("show", home / "needle", "w1 نص 東京", "--right", "other")
    assert done.exit_code == 0 and "✗ right:" in done.stdout and "\x1b" not in done.stdout
    assert "3 tags are right" in call("show", home / "tagged", "a b c", "--right", "X X X").stdout
    many = call("show", home / "needle", "-", "--out", tmp_path / "many.html", text="w1\nw2\n")
    assert many.exit_code == 0 and (tmp_path / "many.html").read_text().count('<p class="words"') == 2
    assert many.stdout == ""


def test_show_refuses_what_is_for_others(home, tmp_path):
    for words, told in (
        (("a", "--view", "lines"), "--view is for models that translate"),
        (("a", "--target", "b"), "--target is for models that translate"),
        (("--data", "needle"), "--data makes a page"),
        ((), "expected a sentence"),
        (("a", "--out", tmp_path / "a.json"), "expected a name that ends in .html"),
    ):
        assert told in str(call("show", home / "needle", *words).exception)


@pytest.mark.parametrize("kind", ["needle", "tagged", "shapes"])
def test_a_page_of_a_test_set(home, tmp_path, kind):
    done = call("show", home / kind, "--data", kind, "--split", "val", "--out", tmp_path / "page.html")
    assert done.exit_code == 0, done.exception
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<img ") >= 2 and "Which classes are taken for which" in page


def test_evaluate(home, tmp_path):
    words = ("evaluate", home / "needle", "--data", "needle", "--by-length", "--outputs", tmp_path / "out.txt")
    found = json.loads(call(*words, "--json").stdout)
    assert [each["name"] for each in found["scores"]] == ["accuracy", "macro F1", "ECE"] and found["lengths"]
    assert set((tmp_path / "out.txt").read_text().split()) <= {"pos", "neg"}
    told = call("evaluate", home / "tagged", "--data", "tagged").stdout
    assert "tag accuracy" in told and "mean of the classes" in told


def test_compare_models_that_classify(home, tmp_path):
    arms = (f"one: {home / 'needle'}", f"two: {home / 'needle' / 'last'}")
    done = call("compare", *arms, "--data", "needle", "--out", tmp_path / "report", "--jobs", 2)
    assert done.exit_code == 0, done.output
    assert "| arm | accuracy | against the first | macro F1 |" in done.stdout
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "What each arm answered and looked at" in page and page.count('<p class="words"') == 6


@pytest.mark.parametrize("verb", ["classify", "tag"])
def test_help_has_an_example(verb):
    assert "Example:" in call(verb, "--help").stdout
