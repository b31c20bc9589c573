"""Alignments read word by word, in the sentence, and head by head."""

import pytest
import torch

from regard.align.alignment import END, Alignment
from regard.align.record import Aligner, Layer, Record
from regard.errors import UsageError
from regard.show.reading import heads_text, lines_text, sentence_text
from show.pairs import ALIGNMENT, record, side


def test_word_by_word():
    assert lines_text(ALIGNMENT) == (
        "the  <- le 0.70, chat 0.20, </s> 0.10\ncat  <- chat 0.50, dort 0.40, le 0.10\n</s> <- </s> 1.00"
    )
    assert lines_text(ALIGNMENT, threshold=0.3).splitlines()[0] == "the  <- le 0.70"
    assert lines_text(Alignment(torch.zeros(1, 1), (END,), (END,))) == "</s> <- nothing"


def test_long_lists_go_on_below():
    told = lines_text(Alignment(torch.full((1, 11), 1 / 11), (*("word" * 2,) * 10, END), (END,)), 47).splitlines()
    assert len(told) > 2
    assert all(line.startswith(" " * 8) for line in told[1:])
    assert max(map(len, told)) <= 47


def test_in_the_sentence():
    assert sentence_text(ALIGNMENT).splitlines() == [
        "the  | [[le]] [chat] dort </s>",
        "cat  | le [[chat]] [dort] </s>",
        "</s> | le chat dort [[</s>]]",
        "",
        "[[word]] from 0.5, [word] from 0.15",
    ]


def test_in_the_sentence_with_colours():
    first = sentence_text(ALIGNMENT, colour=True).splitlines()[0]
    strong, weak, least = "\x1b[48;5;240;38;5;231m", "\x1b[48;5;252;38;5;16m", "\x1b[48;5;255;38;5;16m"
    assert first == f"the  | {strong}le\x1b[0m {weak}chat\x1b[0m dort {least}</s>\x1b[0m"


def test_head_by_head():
    """Two words a side and two pieces a word: a head that looks at one place, and one that looks everywhere."""
    ours = side(("a1", "b2"))
    sharp, flat = torch.eye(5), torch.full((5, 5), 0.2)
    layers = (Layer("cross", 0, torch.stack((flat, flat))), Layer("cross", 1, torch.stack((sharp, flat))))
    told = heads_text(Record(ours, ours, layers, Aligner("cross", 1, (0,))), width=120).splitlines()
    assert told[1:] == ["layer 1   1: 0.40   2: 0.40", "layer 2   1: 1.00*  2: 0.40"]
    assert "*" in told[0]


def test_heads_of_another_kind_have_no_star():
    told = heads_text(record(), "decoder-self")
    assert told.startswith("decoder-self: ")
    assert "*" not in told.split("layer 1")[1]
    with pytest.raises(UsageError, match="no decoder-self attention"):
        heads_text(Record(*(side(("a1",)),) * 2, record().attention[:1], Aligner.default(1)), "decoder-self")
