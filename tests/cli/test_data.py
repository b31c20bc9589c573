"""`regard data` as a person uses it: what is printed where, and the exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
RUN = "from regard.cli import main; main()"

GLYPHS = ("glyphs", "glyphs-alphabet")


@pytest.fixture
def regard(tmp_path: Path):
    """Runs the command line in a folder of its own, with a cache of its own."""

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "REGARD_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT / "src")}
        environment.pop("REGARD_MIRROR", None)
        done = subprocess.run(
            [sys.executable, "-c", RUN, "data", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def test_list(regard):
    done = regard("list")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    pairs = ["dates", "phrasebook", "copy", "reverse", "sort", "lookup"]
    labelled = [
        "needle",
        "reviews",
        "reviews-long",
        "tagged",
        "shapes",
        "scenes",
        "cue-discs",
        "mirror",
        "formulas",
        "formulas-short",
        *GLYPHS,
    ]
    plain = ["agreement", "agreement-far", "agreement-mixed", "repeats", "stories"]
    assert names[:7] == ["name", *pairs] and names[-1] == "multi30k"
    assert sorted(names[7:-1]) == sorted([*labelled, *plain])
    assert "regard data get multi30k" in done.stdout
    assert done.stderr == ""


def test_make_then_check(regard, tmp_path):
    done = regard("make", "reverse", "--size", "41", "--seed", "5", "--out", "toy", "--gold")
    written = [tmp_path / line for line in done.stdout.splitlines()]
    assert [path.name for path in written][:3] == ["train.source", "train.target", "train.source-target.gold"]
    lines = [path.read_text(encoding="utf-8").splitlines() for path in written[:3]]
    assert [len(side) for side in lines] == [41, 41, 41]
    assert lines[1][0].split() == lines[0][0].split()[::-1]
    assert lines[2][0].startswith("0-")
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]
    report = regard("check", "toy").stdout
    assert report.startswith("toy: source -> target: train 41, val 41, test 41\n")
    assert report.endswith("no errors, no warnings\n")


def test_check_with_batches(regard):
    regard("make", "sort", "--size", "101", "--out", "toy")
    lines = regard("check", "toy", "--batches").stdout.splitlines()
    assert lines[2] == "note: pieces: 24 words for the source, 24 words for the target"
    assert lines[3].startswith("note: batches of 4,096 positions: 2 batches, 101 pairs, ")


def test_make_is_the_same_for_the_same_seed(regard, tmp_path):
    for name, seed in (("one", "7"), ("two", "7"), ("three", "8")):
        regard("make", "copy", "--size", "13", "--seed", seed, "--out", name)
    one, two, three = ((tmp_path / name / "train.source").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three
    assert not list((tmp_path / "one").glob("*.gold"))


def test_make_overwrites_nothing(regard, tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "val.source").write_text("mine\n")
    done = regard("make", "copy", "--size", "13", "--out", "toy", code=2)
    assert done.stderr == (
        "regard: toy: val.source is there already.\n  Choose another --out, or take the old files away.\n"
    )
    assert [path.name for path in (tmp_path / "toy").iterdir()] == ["val.source"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("make", "cppy", "--out", "x"), 2, "no built-in corpus is called 'cppy'"),
        (("make", "dates", "--out", "x", "--gold"), 2, "dates has no gold links."),
        (("make", "copy", "--out", "x", "--size", "0"), 2, "expected a size of one pair or more; found 0."),
        (("make", "copy", "--out", "x", "--from", "en"), 2, "no direction of copy is called 'en-any'"),
        (("make", "copy"), 2, "Missing option"),
        (("get", "nothing"), 2, "no downloadable corpus is called 'nothing'; there are multi30k."),
        (("get", "multi30k", "--mirror", "example.org"), 2, "expected the address of a mirror"),
        (
            ("get", "multi30k", "--mirror", "file:///nowhere"),
            1,
            "file:///nowhere/multi30k/train.cs.gz: there is no such file.",
        ),
    ],
)
def test_asked_wrongly_or_in_vain(regard, tmp_path, words, code, message):
    done = regard(*words, code=code)
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_check_finds_errors(regard, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.de").write_bytes(b"eins\nzw\xf6lf\ndrei\n")
    (folder / "train.en").write_bytes(b"one\ntwelve\n")
    done = regard("check", "mine", "--from", "de", "--to", "en", code=1)
    assert "error: mine/train.de:2: expected UTF-8; found one line that is not." in done.stdout
    assert "expected as many lines in each file; train.de has 3, train.en has 2." in done.stdout
    assert done.stdout.splitlines()[-1] == "2 errors, no warnings"
    body = json.loads(regard("check", "mine", "--json", code=1).stdout)
    assert [error["code"] for error in body["errors"]] == ["invalid-utf8", "unequal-lines"]


def test_check_must_know_the_languages(regard, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for language in ("de", "en", "fr"):
        (folder / f"train.{language}").write_text("x\n")
    done = regard("check", "mine", code=2)
    assert done.stderr == (
        "regard: mine: expected two languages; found 3: de, en, fr.\n"
        "  Choose with --from and --to, as in --from de --to fr\n"
    )


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")
def test_get_then_check_by_name(regard, tmp_path):
    done = regard("get", "multi30k", "--mirror", SHARED.as_uri())
    folder = tmp_path / "cache" / "data" / "multi30k"
    assert done.stdout == f"{folder}\n"
    assert "Terms of use" in done.stderr
    assert str(folder) in regard("list").stdout
    assert "train 29,000, val 1,014, test_2016_flickr 1,000" in regard(
        "check", "multi30k", "--from", "de", "--to", "en"
    ).stdout  # fmt: skip


def test_nothing_heavy_is_imported_for_help():
    probe = (
        "import sys, regard.cli.data; "
        "heavy = {'torch', 'datasets', 'pyarrow', 'numpy', 'babel', 'tokenizers'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", probe], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
