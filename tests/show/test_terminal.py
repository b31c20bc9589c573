"""An alignment as text."""

import pytest
import torch
from rich.cells import cell_len

from regard.align.alignment import END, Alignment
from regard.show.labels import cut
from regard.show.terminal import BOLD, PLAIN, draw, listing, table
from show.pairs import ALIGNMENT


def test_by_hand():
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])
    assert draw(weights, ["le", "chat", "."], ["the", "cat"]) == "    lechat.\nthe ██\ncat   ░░░░▓"


def test_wide_letters_take_their_place():
    lines = draw(torch.eye(2), ["猫", "a"], ["b", "犬"]).splitlines()
    assert lines == ["   猫a", " b ██", "犬   █"]


# --- the table ---------------------------------------------------------------------------------------------


def test_the_table_by_hand():
    assert table(ALIGNMENT) == (
        "     le chat dort </s>\n"
        "the  ▓▓ ░░░░           le 0.70\n"
        "cat     ▒▒▒▒ ▒▒▒▒      chat 0.50\n"
        "</s>              ████ </s> 1.00"
    )


def test_colour_marks_the_strongest_link_and_nothing_else():
    plain, colour = table(ALIGNMENT), table(ALIGNMENT, colour=True)
    assert colour.replace(BOLD, "").replace(PLAIN, "") == plain
    assert colour.count(BOLD) == colour.count(PLAIN) == 3
    assert f"{BOLD}▓▓{PLAIN}" in colour


def wide(count, word="word"):
    words = tuple(f"{word}{number}" for number in range(count))
    return Alignment(torch.eye(count + 1), (*words, END), (*words, END))


@pytest.mark.parametrize(("count", "width"), [(7, 80), (13, 80), (53, 80), (53, 41), (211, 80), (3, 40)])
def test_the_table_keeps_within_its_width(count, width):
    told = table(wide(count), width)
    assert max(cell_len(line) for line in told.splitlines()) <= width
    for number in range(count):
        assert f"word{number} 1.00" in told, "every row has its strongest link"
    assert told.count("█") > count


def test_columns_are_numbered_where_words_are_too_wide():
    told = table(wide(13), 80).split("\n\n")
    assert told[0].startswith("1 word0  2 word1")
    assert told[0].split()[-2:] == ["14", END]
    assert told[1].splitlines()[0].split() == [str(number) for number in range(1, 15)]
    assert told[1].splitlines()[2] == "word1     ██" + " " * 37 + "word1 1.00"


def test_many_columns_are_cut_into_blocks():
    _, *blocks = table(wide(53), 80).split("\n\n")
    heads = [block.splitlines()[0].split() for block in blocks]
    assert len(blocks) > 1
    assert [number for head in heads for number in head] == [str(number) for number in range(1, 55)]
    assert all("1.00" not in block for block in blocks[:-1])
    assert max(map(len, heads)) - min(map(len, heads)) <= len(blocks), "about as wide as one another"


def test_a_row_that_looks_at_nothing():
    assert table(Alignment(torch.zeros(1, 2), ("a", END), (END,))).splitlines()[1].split() == [END, "nothing"]


def test_odd_words():
    assert cut("a" * 30, 18) == "a" * 17 + "…"
    assert cell_len(cut("猫" * 30, 18)) <= 18
    assert cut("two\nlines", 18) == "two lines"
    assert cut("", 18) == "␠"
    told = table(Alignment(torch.eye(3), ("猫犬", "", END), ("b", "a b", END)))
    assert told.splitlines() == ["     猫犬 ␠ </s>", "b    ████        猫犬 1.00", "a b       █      ␠ 1.00",
                                 "</s>        ████ </s> 1.00"]  # fmt: skip


def test_lists_are_wrapped_and_colours_take_no_room():
    assert listing(["aa", "bb", "cc"], 7, ", ") == "aa, bb,\ncc"
    assert listing(["aa", "bb", "cc"], 6, ", ") == "aa,\nbb,\ncc", "the comma at the end of a line has room too"
    painted = f"{BOLD}aa{PLAIN}"
    assert listing([painted, painted], 5, " ") == f"{painted} {painted}"
    assert listing([], 5) == ""
