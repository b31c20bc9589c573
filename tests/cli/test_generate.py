"""`regard generate` and `regard score`: a language model on the command line; what else knows it."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import regard
from answering import trained
from regard.cli import app
from regard.errors import UsageError
from regard.tasks.cache import Cache
from regard.translate.translator import Translator

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("writers"), "agreement")


@pytest.fixture(scope="module")
def model(folder):
    return regard.load(folder)


def run(*words, text=None):
    done = runner.invoke(app, [str(word) for word in words], input=text)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_a_text_is_told_as_it_is_written(folder, model):
    asked = ("--seed", 5, "--max-length", 9, "--top-p", 0.8)
    wanted = model.generate("the key", seed=5, max_length=9, top_p=0.8).text
    assert run("generate", folder, "the key", *asked) == f"{wanted}\n"
    assert (
        run("generate", folder, "--greedy", "--max-length", 3).strip() == model.generate(greedy=True, max_length=3).text
    )
    assert run("generate", folder, "the", "--temperature", 0, "--max-length", 3) == run(
        "generate", folder, "the", "--greedy", "--max-length", 3
    )


def test_a_file_of_prompts_is_a_filter(folder, model, tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("the key\n\nthe doors\n")
    asked = ("--seed", 2, "--max-length", 5)
    wanted = [each.text for each in model.generate(["the key", "", "the doors"], seed=2, max_length=5)]
    assert run("generate", folder, "--prompts", path, *asked).splitlines() == wanted
    assert run("generate", folder, "--prompts", "-", *asked, text="the key\n\nthe doors\n").splitlines() == wanted
    assert len(run("generate", folder, "--prompts", path, *asked, "--draws", 2).splitlines()) == 6


def test_json_has_everything(folder, model):
    told = json.loads(run("generate", folder, "the key", "--seed", 2, "--max-length", 5, "--format", "jsonl"))
    found = model.generate("the key", seed=2, max_length=5)
    assert (told["prompt"], told["text"], told["continuation"]) == ("the key", found.text, found.continuation)
    assert told["likelihood"] == pytest.approx(found.likelihood)
    assert len(told["attention"]) == 2 and len(told["attention"][0]) == 3
    assert len(told["attention"][0][0]) == len(told["looked_at"]) == len(told["attention"][0][0][0])


def test_lines_are_scored(folder, model, tmp_path):
    lines = ["the key is lost .", "", "the doors"]
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    found = model.score(lines)
    rows = [line.split("\t") for line in run("score", folder, path).splitlines()]
    assert [float(row[0]) for row in rows] == pytest.approx([each.likelihood for each in found], abs=1e-3)
    assert [float(row[1]) for row in rows] == pytest.approx([each.perplexity for each in found], abs=1e-2)
    words = run("score", folder, path, "--words").splitlines()[0].split("\t")[2].split()
    assert [word.rpartition(":")[0] for word in words] == ["the", "key", "is", "lost", ".", "</s>"]
    told = json.loads(run("score", folder, path, "--format", "jsonl").splitlines()[0])
    assert told["bits_per_byte"] == pytest.approx(found[0].bits_per_byte)
    assert sum(told["word_likelihoods"]) == pytest.approx(told["likelihood"])


def test_what_it_looked_at_is_shown(folder, tmp_path):
    told = run("show", folder, "the key is lost .")
    assert "decoder-self attention, layer 2" in told and "lost" in told
    assert "head 3" in run("show", folder, "the key", "--layer", 1, "--head", 3)
    for name in ("page.html", "seen.png"):
        run("show", folder, "the key is lost .", "--out", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(UsageError, match="--target is for models that translate"):
        run("show", folder, "the key", "--target", "la clef")


def test_it_is_evaluated_and_another_verb_is_told(folder, tmp_path):
    data = tmp_path / "data"
    run("data", "make", "agreement", "--size", 17, "--out", data)
    told = run("evaluate", folder, "--data", data)
    assert "perplexity" in told and "bits per byte" in told and "17 lines" in told
    with pytest.raises(UsageError, match=r"(?s)made to tag; it was made to generate.*regard generate"):
        run("tag", folder, text="a\n")
    with pytest.raises(UsageError, match="generate"):
        run("translate", folder, text="a\n")
    with pytest.raises(UsageError, match="a prompt and a file of prompts"):
        run("generate", folder, "a", "--prompts", data / "val.txt")


def test_the_check_names_plain_text(tmp_path):
    run("data", "make", "repeats", "--size", 13, "--out", tmp_path / "data")
    told = json.loads(run("data", "check", tmp_path / "data", "--json"))
    assert (told["source"], told["target"], told["pairs"]["train"]) == ("nothing", "text", 13)
    forced = run("data", "check", tmp_path / "data" / "train.txt", "--task", "generate")
    assert "nothing -> text" in forced


def test_a_reader_that_goes_away_is_no_traceback(folder):
    command = [sys.executable, "-m", "regard", "generate", str(folder), "the", "--max-length", "400", "--top-p", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "expected top_p to be more than 0 and at most 1" in done.stderr


# --- with a cache of its own past ---------------------------------------------------------------------------


def test_a_line_is_scored_and_shown_with_what_it_said_before(folder, model, tmp_path):
    line, cache = "the key near the doors near the key", Cache(5, 0.4, 0.3)
    asked = ("--cache", 5, "--cache-theta", 0.4, "--cache-share", 0.3)
    told = json.loads(run("score", folder, *asked, "--format", "jsonl", text=f"{line}\n"))
    assert told["likelihood"] == pytest.approx(model.score(line, cache).likelihood)
    assert told["likelihood"] != pytest.approx(model.score(line).likelihood)
    assert len(told["attention"][0][0]) == len(told["looked_at"])
    run("show", folder, line, "--cache", 5, "--cache-theta", 0.4, "--out", tmp_path / "page.json")
    assert json.loads((tmp_path / "page.json").read_text())
    with pytest.raises(UsageError, match="--cache-share goes with --cache"):
        run("score", folder, "--cache-share", 0.3, text="a\n")


def test_it_is_measured_with_a_cache_that_validation_text_chose(folder, model, tmp_path):
    for split, count in (("train", 5), ("val", 7), ("test", 11)):
        text = "".join(f"the key near door {row} is the key\n" for row in range(count))
        (tmp_path / f"{split}.txt").write_text(text)
    plain, none = (
        json.loads(run("evaluate", folder, "--data", tmp_path, "--json", *asked)) for asked in ((), ("--cache", 0))
    )
    assert none["scores"] == plain["scores"]
    best = regard.evaluate(model, tmp_path, cache=Cache(50), tune=True, window=31)
    chosen = model.tuned(Cache(50), list((tmp_path / "val.txt").read_text().splitlines()), 31)
    assert "windows of 31 pieces" in best.title
    assert f"cache of 50 pieces (theta {chosen.theta:g}, share {chosen.share:g})" in best.title
    assert best.by_metric()["perplexity"].value < regard.evaluate(model, tmp_path).by_metric()["perplexity"].value
    with pytest.raises(UsageError, match="cache and window are for language models"):
        regard.evaluate(Translator.__new__(Translator), tmp_path, window=3)
