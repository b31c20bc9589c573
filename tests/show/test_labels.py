"""Words as labels: nothing that a terminal obeys, and each in its own direction."""

import pytest
import torch

from regard.align.alignment import END, Alignment
from regard.show.document import alignment_document, record_document
from regard.show.labels import cut, isolate, readable
from regard.show.reading import lines_text, sentence_text
from regard.show.terminal import sentence, table
from regard.show.views import View, record_text
from show.pairs import record

HOSTILE = "a\x1b[31mred\x07\x7f\x9b5m\u202egnp"
SHOWN = "a␛[31mred␇␡\ufffd5m\ufffdgnp"
HEBREW, ARABIC = "שלום", "مرحبا"


def test_controls_are_shown_and_never_obeyed():
    assert readable(HOSTILE) == cut(HOSTILE, 40) == SHOWN
    assert readable(" a\tb\n c ") == "a b c"
    assert readable("naïve 日本語 🙂 شكرا") == "naïve 日本語 🙂 شكرا"


@pytest.mark.parametrize("view", ["matrix", "lines", "text", "heads"])
@pytest.mark.parametrize("width", [40, 200])
def test_no_view_of_the_terminal_hands_a_control_on(view, width):
    text = record_text(record((HOSTILE, "b"), ("x", HOSTILE)), View(view), width)
    assert not {letter for letter in text if letter < " " or "\x7f" <= letter < "\xa0" or letter == "\u202e"} - {"\n"}


def test_what_runs_from_right_to_left_is_isolated():
    assert isolate("abc 5") == "abc 5"
    assert isolate(HEBREW) == f"\u2068{HEBREW}\u2069"
    assert sentence(f"{HEBREW} {ARABIC} abc", 8) == f"\u2068{HEBREW}\u2069\n\u2068{ARABIC}\u2069\nabc"


def test_sentences_and_words_of_the_terminal_keep_their_places():
    ours = record((HEBREW, "7"), ("hello", "7"))
    text = record_text(ours, View())
    assert text.startswith(f"\u2068{HEBREW} 7\u2069\n  ->\nhello 7\n\n")
    alignment = Alignment(torch.eye(2), (HEBREW, END), (ARABIC, END))
    assert table(alignment).splitlines()[1].startswith(f"\u2068{ARABIC}\u2069 ")
    for told in (table(alignment), table(alignment, 12), lines_text(alignment), sentence_text(alignment)):
        assert told.count(f"\u2068{HEBREW}\u2069") == told.count(HEBREW) > 0
        assert told.count(f"\u2068{ARABIC}\u2069") == told.count(ARABIC) > 0


def test_the_heading_of_a_page_isolates_each_sentence():
    wanted = f"\u2068{HEBREW} 7\u2069  →  hello 7"
    assert record_document(record((HEBREW, "7"), ("hello", "7")))["title"] == wanted
    alignment = Alignment(torch.eye(3), (HEBREW, "7", END), ("hello", "7", END))
    assert alignment_document(alignment)["title"] == wanted
