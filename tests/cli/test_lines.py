"""Lines that commands read: byte order marks, and text that is not UTF-8 with advice that does not spoil it."""

import gzip
import io
import re
import subprocess
import sys

import pytest

from regard.cli.lines import read_lines
from regard.errors import BrokenData


def lines_of(path):
    return [line for lines in read_lines(path) for line in lines]


@pytest.mark.parametrize("name", ["text.de", "text.de.gz"])
def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path, name):
    path = tmp_path / name
    content = "\ufeffein mann\r\nliest\n\ufeffso\n".encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert lines_of(path) == ["ein mann", "liest", "\ufeffso"]  # only the first one is a mark


def test_nor_of_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\ufeffein mann\n".encode())))
    assert lines_of(None) == ["ein mann"]


# What a file that is not UTF-8 holds, in which coding, and what its first bad line is taken for.
CODINGS = [
    ("„Ja“ \u2013 er zahlt 20 €\n", "cp1252", "It looks like WINDOWS-1252: "),
    ("der Mann ist schön\n„Ja“\n", "cp1252", "It looks like ISO-8859-1 or WINDOWS-1252: "),
    ("der Mann ist schön\n", "latin-1", "It looks like ISO-8859-1 or WINDOWS-1252: "),
    ("ein Mann\n", "utf-16", "It looks like UTF-16: "),
]


@pytest.mark.parametrize(("text", "coding", "guess"), CODINGS)
def test_the_advice_converts_the_file(tmp_path, text, coding, guess):
    path = tmp_path / "text.de"
    path.write_bytes(text.encode(coding))
    with pytest.raises(BrokenData, match=r"text.de, line 1: expected UTF-8; found byte 0x\w\w at place \d+") as caught:
        lines_of(path)
    assert caught.value.hint.startswith(guess)
    command = re.search("`iconv (.*) FILE > NEW`", caught.value.hint)[1]
    done = subprocess.run(["iconv", *command.split(), path], capture_output=True, check=True)
    assert done.stdout.decode("utf-8") == text


def test_a_damaged_line_of_a_file_that_is_utf8(tmp_path):
    path = tmp_path / "text.de"
    path.write_bytes("schön\n".encode() + b"sch\xf6n\n")
    with pytest.raises(BrokenData, match="line 2: expected UTF-8; found byte 0xf6 at place 4"):
        lines_of(path)
    with pytest.raises(BrokenData, match="The rest is UTF-8, and converting the file would spoil it"):
        lines_of(path)


def test_a_character_cut_in_two(tmp_path):
    path = tmp_path / "text.de"
    path.write_bytes("schön und groß".encode()[:-1])
    with pytest.raises(BrokenData, match="The rest is UTF-8"):
        lines_of(path)


@pytest.mark.parametrize(
    ("text", "coding"), [("彼は本を読む", "shift_jis"), ("Он читает книгу", "koi8-r"), ("他在读一本书", "gbk")]
)
def test_other_scripts_are_not_called_western(tmp_path, text, coding):
    path = tmp_path / "text"
    path.write_bytes(text.encode(coding))
    with pytest.raises(BrokenData, match=r"It is no Western European coding; `file -i FILE` may know"):
        lines_of(path)
