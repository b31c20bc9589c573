"""What a line of output may hold, and that everything that writes lines keeps to it."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.align.alignment import Alignment
from regard.chunks import Chunk, one_json_line, one_line
from regard.cli import lines
from regard.search import Options
from regard.tasks.evaluation import Answers
from regard.translate.job import TranslateJob
from regard.translate.translator import Translation, Translator

ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # where str.splitlines cuts
AWKWARD = f"a\tb{ENDS}c\x1b[31m\x00d\x9b"
SHOWN = f"b{' ' * len(ENDS)}c\ufffd[31m\ufffdd\ufffd"


@given(st.text())
def test_a_line_stays_one_and_keeps_its_words(text: str):
    for columns in (False, True):
        found = one_line(text, columns=columns)
        assert len(found) == len(text) and len(found.splitlines()) <= 1
        assert len(found.split()) == len(text.split())
        assert "\x1b" not in found and ("\t" in found) == ("\t" in text and not columns)
        assert one_line(found, columns=columns) == found


def test_by_hand():
    assert one_line(AWKWARD) == f"a\t{SHOWN}"
    assert one_line(AWKWARD, columns=True) == f"a {SHOWN}"
    assert one_line("Ein Mann, 東京\u3000\xa0نص\u200d") == "Ein Mann, 東京\u3000\xa0نص\u200d"  # all else stays


def test_json_is_one_line_and_says_all():
    found = one_json_line({"text": AWKWARD, "é": 1})
    assert len(found.splitlines()) == 1 and "\x9b" not in found and "é" in found
    assert json.loads(found) == {"text": AWKWARD, "é": 1}


class Writer(Translator):
    """A translator that says what no line may hold."""

    def __init__(self):
        pass

    def search(self, given, options, record, continuous):
        words = AWKWARD.split()
        alignment = Alignment(torch.ones(len(words) + 1, 2) / 2, ("x", "</s>"), (*words, "</s>"))
        return [[Translation(AWKWARD, 0.0, 0.0, (), alignment)] * options.nbest for _ in given]


@pytest.mark.parametrize(
    ("alignments", "nbest", "expected"),
    [  # links are those of three words
        ("none", 1, f"a\t{SHOWN}"),
        ("none", 2, f"1\ta {SHOWN}"),
        ("hard", 1, f"a {SHOWN}\t0-0 0-1 0-2"),
        ("hard", 2, f"1\ta {SHOWN}\t0-0 0-1 0-2"),
    ],
    ids=["text", "number", "links", "number and links"],
)
def test_translations(alignments: str, nbest: int, expected: str):
    job = TranslateJob(Path("folder"), Options(beam=nbest, nbest=nbest), alignments, "text")
    assert job.write(Writer(), Chunk(0, ["x"])).lines == [expected] * nbest


def test_translations_as_json():
    (line,) = TranslateJob(Path("folder"), Options(), "hard", "jsonl").write(Writer(), Chunk(0, ["x"])).lines
    assert len(line.splitlines()) == 1 and json.loads(line)["text"] == AWKWARD


def test_lines_of_other_commands(tmp_path, monkeypatch):
    Answers([AWKWARD, "b"]).keep(tmp_path / "outputs")
    assert (tmp_path / "outputs").read_text(encoding="utf-8") == f"a\t{SHOWN}\nb\n"
    with (tmp_path / "out").open("wb") as file:
        monkeypatch.setattr(lines.sys, "stdout", SimpleNamespace(buffer=file))
        lines.write_line(AWKWARD)
        monkeypatch.undo()
    assert (tmp_path / "out").read_bytes() == f"a\t{SHOWN}\n".encode()
