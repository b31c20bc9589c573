"""`regard quickstart`, with hardly any training: everything is shown, whatever was learned."""

import os
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import torch

from regard.cli.quickstart import _by_letters, _command, _scored, quickstart
from regard.data.builtin import examples


def test_it_trains_both_and_shows_what_they_look_at(tmp_path, monkeypatch, capsys, one_thread):
    before = tmp_path / "qs" / "en-fr" / "last"  # the run of an earlier quickstart, which is replaced
    before.mkdir(parents=True)
    (before / "recipe.toml").write_text("[about]\n")
    # To draw many pairs takes a minute, and what is hardly trained writes long outputs.
    monkeypatch.setattr("regard.cli.quickstart.PHRASES_LEARNT", 1511)
    monkeypatch.setattr("regard.tasks.validate.PAIRS", 23)
    monkeypatch.setattr("regard.cli.quickstart.TESTED_DATES", 29)
    monkeypatch.setattr("regard.cli.quickstart.TESTED_PHRASES", 31)
    quickstart(minutes=0.02, out=tmp_path / "qs", seed=0)
    told = capsys.readouterr().out
    assert "of 29 dates it has never seen are read exactly" in told
    assert "on 31 sentences it has never seen; alignment error" in told
    assert "friday october 20 1995  ->  " in told
    assert (tmp_path / "qs" / "alignment.png").read_bytes().startswith(b"\x89PNG")
    last = told.strip().splitlines()[-1]
    assert last.startswith("Try it: echo ")
    # As a person would, in a shell that does not find `regard` unless it did for the quickstart.
    tried = subprocess.run(last.removeprefix("Try it: "), shell=True, capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stderr
    assert len(tried.stdout.splitlines()) == 1


def test_the_command_is_one_that_the_shell_finds(tmp_path, monkeypatch):
    folder = tmp_path / "my place" / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "regard"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    assert _command() == shlex.quote("my place/.venv/bin/regard")
    monkeypatch.chdir(folder.parents[1])
    assert _command() == ".venv/bin/regard"
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), "/usr/bin"]))
    assert _command() == "regard"
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(folder / "regard", other)
    monkeypatch.setenv("PATH", os.pathsep.join([str(other), str(folder)]))
    assert _command() == ".venv/bin/regard", "another installation comes first"
    (folder / "regard").unlink()
    assert _command() == ".venv/bin/python -m regard"


class Knows:
    """A translator that has learned some sentences, and writes the same for all others."""

    def __init__(self, pairs):
        self.pairs = {pair.source: pair.target for pair in pairs}

    def translate(self, lines):
        return [type("Found", (), {"text": self.pairs.get(line, "je ne sais pas .")}) for line in lines]

    def align(self, sources, targets):
        return [type("Looked", (), {"links": lambda: []}) for _ in sources]


def test_the_sentence_to_try_is_one_that_it_can_do():
    pairs = list(examples("phrasebook", split="test", size=300, seed=5))
    short, long = (key(pairs, key=lambda pair: len(pair.source.split())) for key in (min, max))
    middling = next(pair for pair in pairs if len(pair.source.split()) == 8)
    assert _scored(Knows([short, middling, long]), 5)[2] == middling.source
    assert _scored(Knows([long]), 5)[2] == long.source
    assert _scored(Knows([]), 5)[2] == ""


def test_bytes_that_are_no_letters_are_drawn_as_the_pieces_they_were_written_with():
    pieces = ("\u00c3", "\u00a9", "\u010a", "7")  # two bytes of one letter and a line's end: two characters of text
    weights = torch.full((1, len(pieces) + 1, 5), 0.2)
    found = SimpleNamespace(text="\u00e97", pieces=pieces, attention=(weights,))
    drawn = _by_letters(SimpleNamespace(translate=lambda line: found), "1995")
    assert drawn.target[:-1] == pieces
    assert drawn.source[:-1] == tuple("1995")
