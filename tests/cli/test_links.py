"""`align`, with a model and without, `score-links`, and what `evaluate` and `compare` are asked for, on models that
were never trained."""

import gzip
import json
import os
import subprocess
import sys

import pytest
import torch
from typer.testing import CliRunner

from regard.cli import app
from regard.data.languages import asked_of, languages_text, read_languages
from regard.data.tokenizer import Tokenizer
from regard.errors import BrokenData, MissingData, ModelError, UnknownName, UsageError
from regard.evaluate import aer, read_links
from regard.model import save
from regard.translate.translator import SOURCE_FILE, TARGET_FILE
from small import model, overrides

JAPANESE = [
    "猫 は 魚 を 食べ た 。",
    "犬 は 肉 を 食べ た 。",
    "猫 は 眠っ た 。",
    "犬 は 眠っ た 。",
    "インターネット",
]
ENGLISH = ["the cat ate fish .", "the dog ate meat .", "the cat slept .", "the dog slept .", "internet"]
RAW = ["猫は魚を食べた。", "犬は肉を食べた。", "猫は眠った。", "犬は眠った。", "インターネット"]


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


def built(folder, sources, targets, languages=None):
    """A model folder whose weights are as they were drawn."""
    torch.manual_seed(3)
    source, target = (Tokenizer.train(lines * 9, kind="bpe", size=320) for lines in (sources, targets))
    files = {SOURCE_FILE: source.backend.to_str(), TARGET_FILE: target.backend.to_str()}
    if languages:
        files["languages.json"] = languages_text(*languages)
    save(model(overrides("predict", "luong"), len(source), len(target)), folder, files)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two models, one of each direction, that have not seen the last word; and files of pairs, cut and raw."""
    place = tmp_path_factory.mktemp("links")
    built(place / "ja-en", JAPANESE[:4], ENGLISH, ("ja", "en"))
    built(place / "en-ja", ENGLISH, JAPANESE[:4], ("en", "ja"))
    for name, lines in (("cut.ja", JAPANESE), ("raw.ja", RAW), ("pairs.en", ENGLISH)):
        (place / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (place / "cut.ja.gz").write_bytes(gzip.compress((place / "cut.ja").read_bytes()))
    (place / "data").mkdir()
    for name, lines in (("ja", JAPANESE), ("en", ENGLISH)):
        for split in ("train", "val", "test"):
            (place / "data" / f"{split}.{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return place


def links_of(text):
    return [[tuple(map(int, item.split("-"))) for item in line.split()] for line in text.splitlines()]


# --- align -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--reverse", "en-ja"), ("--reverse", "en-ja", "--method", "union")])
def test_a_file_that_was_cut_is_linked_by_the_words_between_its_spaces(home, more):
    more = [home / word if word == "en-ja" else word for word in more]
    done = call("align", home / "ja-en", home / "cut.ja", home / "pairs.en", "--threshold", 0, *more)
    assert done.exit_code == 0, done.output
    for found, source, target in zip(links_of(done.stdout), JAPANESE, ENGLISH, strict=True):
        assert {link[0] for link in found} == set(range(len(source.split())))
        assert {link[1] for link in found} == set(range(len(target.split())))
    assert "without spaces" not in done.stderr


def test_a_raw_file_is_linked_by_pieces_and_it_is_said(home):
    done = call("align", home / "ja-en", home / "raw.ja", home / "pairs.en", "--format", "jsonl")
    assert f"{home / 'raw.ja'}: 5 of 5 lines are written without spaces between words: there each piece" in done.stderr
    assert f"{home / 'pairs.en'}: " not in done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["words"] for each in told] == [{"source": "pieces", "target": "spaces"}] * 5
    assert ["".join(each["source"]) for each in told] == RAW
    assert all(link[0] < len(each["source"]) for each in told for link in each["links"])
    assert set(told[0]) == {"source", "target", "links", "words"}
    both = call("align", home / "ja-en", home / "raw.ja", home / "pairs.en", "--reverse", home / "en-ja")
    assert both.exit_code == 0 and len(both.stdout.splitlines()) == 5


def test_what_translate_says_of_its_words(home):
    asked = ("translate", home / "ja-en", "--alignments", "hard", "--beam", 1, "--max-length", 5)
    done = call(*asked, "--format", "jsonl", text=f"{JAPANESE[0]}\n{RAW[0]}\n")
    told = [json.loads(line)["words"]["source"] for line in done.stdout.splitlines()]
    assert told == ["spaces", "pieces"]
    lines = "".join(f"{line}\n" for line in RAW * 101)  # several blocks
    assert call(*asked, text=lines).stderr.count("source lines written without spaces") == 1
    assert "without spaces" not in call(*asked, text=f"{JAPANESE[0]}\n").stderr


@pytest.mark.parametrize("name", ["cut.ja", "cut.ja.gz"])
def test_without_a_model(home, name):
    done = call("align", home / name, home / "pairs.en", "--statistical")
    assert done.exit_code == 0, done.output
    found = links_of(done.stdout)
    assert (0, 1) in found[0] and (0, 1) in found[3] and found[4] == [(0, 0)]
    assert all(link[0] < len(line.split()) for links, line in zip(found, JAPANESE, strict=True) for link in links)
    assert "aligning pairs 1 to 5" in done.stderr


def test_without_a_model_the_way_of_joining_is_taken(home):
    asked = ("align", home / "cut.ja", home / "pairs.en", "--statistical")
    both, one = (links_of(call(*asked, "--method", way).stdout) for way in ("intersection", "union"))
    assert all(set(few) <= set(many) for few, many in zip(both, one, strict=True))
    assert sum(map(len, both)) < sum(map(len, one))
    raw = call("align", home / "raw.ja", home / "pairs.en", "--statistical", "--format", "jsonl")
    assert "each character counts as a word" in raw.stderr
    assert json.loads(raw.stdout.splitlines()[2])["source"] == list(RAW[2])


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        (("ja-en", "cut.ja", "pairs.en", "--method", "nonsense"), UnknownName, "is called 'nonsense'"),
        (("ja-en", "cut.ja", "pairs.en", "--method", "union"), UsageError, "Add --reverse MODEL"),
        (("cut.ja", "pairs.en"), UsageError, "expected MODEL, SOURCE and TARGET; found 2 places"),
        (("ja-en", "cut.ja", "pairs.en", "--statistical"), UsageError, "expected SOURCE and TARGET; found 3 places"),
        (("cut.ja", "pairs.en", "--statistical", "--threshold", "0.5"), UsageError, "--threshold and --reverse are"),
        (("cut.ja", "pairs.en", "--statistical", "--reverse", "en-ja"), UsageError, "--threshold and --reverse are"),
        (("cut.ja", "pairs.en", "--statistical", "--method", "nonsense"), UnknownName, "is called 'nonsense'"),
        (("cut.ja", "none", "--statistical"), MissingData, "is not a file"),
    ],
)
def test_align_asked_wrongly(home, words, error, told):
    there = {entry.name for entry in home.iterdir()} | {"none"}
    done = call("align", *(home / word if word in there else word for word in words))
    assert done.exit_code != 0 and done.stdout == ""
    assert isinstance(done.exception, error) and told in str(done.exception)


# --- score-links -------------------------------------------------------------------------------------------

FOUND = "0-0 1-1 2-2\n0-1 3-2\n"
GOLD = "0-0 1-2 1?1\n0-1 2p0\n"


def scored(*words, text=None):
    done = call("score-links", *words, "--json", text=text)
    assert done.exit_code == 0, done.output
    return {each["name"]: each for each in json.loads(done.stdout)["scores"]}


@pytest.mark.parametrize("form", ["plain", "packed", "table", "from one"])
def test_links_are_scored_by_hand(tmp_path, form):
    """A = 5, S = 3; sure and found: 0-0 and 0-1; possible and found: those and 1-1."""
    (tmp_path / "found").write_text(FOUND)
    lines = GOLD.splitlines()
    if form == "table":
        lines = [f"a b c\tx y\t{line}" for line in lines]
    if form == "from one":
        lines = ["1-1 2-3 2?2", "1-2 3p1"]
    text = "".join(f"{line}\n" for line in lines)
    gold = tmp_path / ("gold.gz" if form == "packed" else "gold")
    gold.write_bytes(gzip.compress(text.encode()) if form == "packed" else text.encode())
    more = ("--one-based",) if form == "from one" else ()
    for found in (scored(tmp_path / "found", gold, *more), scored("-", gold, *more, text=FOUND)):
        assert {name: each["value"] for name, each in found.items()} == pytest.approx(
            {"AER": 37.5, "precision": 60, "recall": 200 / 3, "F1": 100 * 2 * 0.6 * (2 / 3) / (0.6 + 2 / 3)}
        )
        assert (found["AER"]["low"], found["AER"]["high"]) == pytest.approx((100 * (1 - 2 / 3), 40))
    told = call("score-links", tmp_path / "found", gold, *more).stdout
    assert told.splitlines()[:2] == [
        f"{tmp_path / 'found'} against {gold}: 2 pairs, 5 links",
        "  AER         37.5  [33.3, 40.0]",
    ]


@pytest.mark.parametrize(
    ("found", "gold", "more", "told"),
    [
        ("0-0\n", GOLD, (), "found has 1, "),
        ("0-0\nx\n", GOLD, (), "found:2: expected links such as 0-1"),
        (FOUND, "0-0\n0-1\n", ("--one-based",), "gold:1: expected words counted from 1; found 0"),
        (FOUND, "source\ttarget\tlinks\na\tb\t0-0\n", (), "found 'links'"),
    ],
)
def test_links_that_cannot_be_scored(tmp_path, found, gold, more, told):
    (tmp_path / "found").write_text(found)
    (tmp_path / "gold").write_text(gold)
    done = call("score-links", tmp_path / "found", tmp_path / "gold", *more)
    assert isinstance(done.exception, BrokenData) and told in str(done.exception)


def test_one_command_into_the_other(home):
    """As a person would write it, in two processes."""
    gold = home / "gold"
    gold.write_text("0-1\n0-1\n0-1\n0-1\n0-0\n")
    first = [sys.executable, "-m", "regard", "align", str(home / "cut.ja"), str(home / "pairs.en"), "--statistical"]
    second = [sys.executable, "-m", "regard", "score-links", "-", str(gold)]
    with subprocess.Popen(first, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ) as aligning:
        done = subprocess.run(second, stdin=aligning.stdout, capture_output=True, text=True, check=True)
    assert "standard input against" in done.stdout and "recall     100.0" in done.stdout


# --- evaluate and compare ----------------------------------------------------------------------------------


def evaluated(home, *words):
    return call("evaluate", home / "ja-en", "--data", home / "data", "--beam", 1, "--json", *words)


def test_gold_links_are_counted_between_spaces(home, tmp_path):
    """Every word of every pair is linked in the gold file: the links found are right, whatever they are."""
    pairs = [(len(source.split()), len(target.split())) for source, target in zip(ENGLISH, JAPANESE, strict=True)]
    full = [" ".join(f"{s}-{t}" for s in range(sources) for t in range(targets)) for sources, targets in pairs]
    (tmp_path / "gold").write_text("".join(f"{line}\n" for line in full))
    asked = ("--data", home / "data", "--beam", 1, "--json", "--gold", tmp_path / "gold")
    done = call("evaluate", home / "en-ja", *asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["alignment"]
    assert found["precision"] == 1
    given = call("align", home / "en-ja", home / "pairs.en", home / "cut.ja").stdout.splitlines()
    again = aer(read_links(given).sure, read_links(full).sure)
    assert (found["aer"], found["links"]) == pytest.approx((again.aer, again.links))


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ("0-0\n", "expected a line of links for each of 5 pairs; found 1 lines."),
        ("0-0\n0-0\n0-0\n0-0\n1-0\n", "gold:5: the link 1-0 points outside a pair of 1 and 1 words"),
        ("0-0\n0-0\n0?4\n0-0\n\n", "gold:3: the link 0-4 points outside a pair of 5 and 4 words"),
    ],
)
def test_gold_links_of_other_pairs(home, tmp_path, gold, told):
    (tmp_path / "gold").write_text(gold)
    done = evaluated(home, "--gold", tmp_path / "gold")
    assert isinstance(done.exception, BrokenData) and told in str(done.exception)


def test_the_languages_of_a_model(home):
    known = json.loads(evaluated(home).stdout)
    assert "ja-en" in known["title"]
    assert json.loads(evaluated(home, "--from", "jpn").stdout)["scores"] == known["scores"]
    wrong = evaluated(home, "--from", "en", "--to", "ja")
    assert isinstance(wrong.exception, UsageError)
    assert f"{home / 'ja-en'} reads ja and writes en; found --from en --to ja." in str(wrong.exception)
    assert "Write --from ja --to en, or leave both out; add --any-language if it is meant." in str(wrong.exception)
    meant = evaluated(home, "--from", "en", "--to", "ja", "--any-language")
    assert meant.exit_code == 0 and "en-ja" in json.loads(meant.stdout)["title"]


def test_finished_models_are_compared_in_their_languages(home, tmp_path):
    asked = ("compare", home / "ja-en", "--data", home / "data", "--out", tmp_path / "report")
    for more in (("--from", "en", "--to", "ja"), (home / "en-ja",)):
        wrong = call(*asked, *more)
        assert isinstance(wrong.exception, UsageError) and "reads " in str(wrong.exception)
        assert not (tmp_path / "report").exists()


def test_an_export_learns_from_a_corpus_in_its_languages(home, tmp_path):
    asked = ("export", home / "ja-en", "--to", "torch", "--out", tmp_path / "out", "--data", home / "data")
    wrong = call(*asked, "--source", "en", "--target", "ja")
    assert isinstance(wrong.exception, UsageError) and "reads ja and writes en" in str(wrong.exception)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (None, None, ("de", "en")),
        ("de", None, ("de", "en")),
        ("German", "eng", ("German", "eng")),
        ("de-AT", "en", ("de-AT", "en")),
        ("left", "right", ("left", "right")),
        ("en", None, None),
        (None, "de", None),
        ("fr", "en", None),
        ("de", "fr", None),
    ],
)
def test_languages_that_may_be_asked_for(tmp_path, source, target, expected):
    assert asked_of(tmp_path, source, target) == (source, target)  # an older folder takes any
    (tmp_path / "languages.json").write_text(languages_text("de", "en"))
    if expected is None:
        with pytest.raises(UsageError, match="reads de and writes en"):
            asked_of(tmp_path, source, target)
    else:
        assert asked_of(tmp_path, source, target) == expected


def test_names_that_are_no_languages_may_not_be_turned_round(tmp_path):
    (tmp_path / "languages.json").write_text(languages_text("human", "iso"))
    assert read_languages(tmp_path) == ("human", "iso")
    with pytest.raises(UsageError, match="reads human and writes iso"):
        asked_of(tmp_path, "iso", "human")


@pytest.mark.parametrize("text", ["{", "[]", '{"source": "de"}'])
def test_a_broken_file_of_languages(tmp_path, text):
    (tmp_path / "languages.json").write_text(text)
    with pytest.raises(ModelError, match="Delete the file"):
        read_languages(tmp_path)
