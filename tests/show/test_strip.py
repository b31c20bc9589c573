"""What looks back: a triangle with the start first, and a text word by word, in the terminal and as figures."""

import numpy as np
import pytest
import torch

from regard.align.alignment import END, START
from regard.align.record import Aligner, Layer, Record, Tokenized, start_last
from regard.errors import UsageError
from regard.show.causal import closed, start_first
from regard.show.document import page_of, record_document
from regard.show.heads import plot_heads
from regard.show.matrix import plot_matrix
from regard.show.page import check_page, page_html
from regard.show.reading import lines_text, sentence_text
from regard.show.samples import Samples, samples_html, samples_text
from regard.show.strip import HERE, Strip, read_back
from regard.show.strip_figure import RED, plot_strip, rows_shown
from regard.show.terminal import table
from regard.show.views import View, record_text, save_record
from show.pairs import ALIGNMENT, record

WORDS = ("the", "FBI", "is", "chasing")
# Rows: the step that writes "the", "FBI", "is", "chasing", the end. Columns: the start, then the words.
BACK = torch.tensor([
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [0.75, 0.25, 0.0, 0.0, 0.0],
    [0.5, 0.25, 0.25, 0.0, 0.0],
    [0.125, 0.125, 0.625, 0.125, 0.0],
    [0.0, 0.125, 0.5, 0.25, 0.125],
])  # fmt: skip


def text(words=WORDS):
    return Tokenized(
        " ".join(words), (4,) * len(words) + (2,), (*words, END), (*words, END), tuple(range(len(words) + 1))
    )


def reader(back=BACK, words=WORDS, heads=1):
    """What a language model looked back at, as it keeps it: the start last."""
    weights = start_last("decoder-self", back.expand(heads, -1, -1).contiguous())
    return Record(text(()), text(words), (Layer("decoder-self", 0, weights),), Aligner("decoder-self", 0), "gpt")


def test_the_start_comes_first_and_what_is_not_there_is_closed():
    kept = reader().alignment()
    assert kept.source == (*WORDS, START), "data stays as it is"
    shown = start_first(kept)
    assert shown.source == (START, *WORDS) and shown.target == (*WORDS, END)
    np.testing.assert_array_equal(shown.numpy(), BACK.numpy())
    np.testing.assert_array_equal(closed(shown), np.triu(np.ones((5, 5), bool), 1))
    assert start_first(ALIGNMENT) is ALIGNMENT and not closed(ALIGNMENT).any(), "a zero between two texts is a weight"


def test_on_a_tape_the_word_just_read_is_not_there():
    tape = torch.tril(torch.rand(5, 5) + 0.1, -1)
    np.testing.assert_array_equal(closed(start_first(reader(tape).alignment())), np.triu(np.ones((5, 5), bool)))
    one = tape.clone()
    one[2, 2] = 0.5  # a single look makes it no tape: the others are weights of zero
    np.testing.assert_array_equal(closed(start_first(reader(one).alignment())), np.triu(np.ones((5, 5), bool), 1))


def test_a_word_of_two_pieces_looks_at_its_own_first_piece():
    side = Tokenized("ab c", (4, 5, 6, 2), ("a", "b", " c", END), ("ab", "c", END), (0, 0, 1, 2))
    weights = start_last("decoder-self", torch.tril(torch.ones(1, 4, 4)) / torch.arange(1, 5)[None, :, None])
    found = start_first(
        Record(text(()), side, (Layer("decoder-self", 0, weights),), Aligner("decoder-self", 0)).alignment()
    )
    assert found.numpy()[0, 1] == pytest.approx(0.25), "half of its steps, half of whose weight"
    assert not closed(found)[0, 1] and closed(found)[0, 2] and closed(found)[1, 2]


def test_word_by_word_a_row_is_the_step_that_reads():
    strip = Strip.of(read_back(reader()))
    assert (strip.words, strip.rows, strip.own) == ((START, *WORDS), WORDS, (1, 2, 3, 4))
    np.testing.assert_array_equal(strip.weights, BACK.numpy()[1:])
    np.testing.assert_array_equal(strip.closed, np.triu(np.ones((4, 5), bool), 2))
    assert strip.strongest(2) == 2 and strip.strongest(0) == 0
    assert strip.full(2) == pytest.approx(0.75), "three even shares of four words"
    assert strip.shades(2).max() == pytest.approx(0.625 / 0.75)
    assert "one step later" not in strip.note


def test_a_text_that_reads_both_ways_and_two_texts():
    both = Strip.of(read_back(record(), "encoder-self"))
    assert both.own == (0, 1, 2) and not both.closed.any() and both.reads_itself
    apart = Strip.of(ALIGNMENT)
    assert apart.own == (HERE,) * 3 and not apart.reads_itself


def test_in_the_terminal():
    told = sentence_text(read_back(reader())).splitlines()
    assert told[:4] == [
        "the     | [[<s>]] >the<  <s> 0.75",
        "FBI     | [[<s>]] [the] >FBI<  <s> 0.50",
        "is      | <s> the [[FBI]] >is<  FBI 0.62",
        "chasing | <s> the [[FBI]] [is] >chasing<  FBI 0.50",
    ]
    painted = sentence_text(read_back(reader()), colour=True).splitlines()[0]
    assert "\x1b[1;31mthe\x1b[0m" in painted and "\x1b[2mchasing\x1b[0m" in painted
    rows = table(reader().alignment()).splitlines()
    assert rows[0].split() == [START, *WORDS]
    assert rows[1].rstrip() == "the     ███                    <s> 1.00", "empty, where there was nothing yet"
    assert "·" in rows[5], "little, where there was"
    assert lines_text(reader().alignment()).splitlines()[1] == "FBI     <- <s> 0.75, the 0.25"


@pytest.mark.filterwarnings("ignore::regard.show.fonts.MissingLetters")  # whatever fonts this system has
@pytest.mark.parametrize("words", [(), ("one",), ("犬", "が"), ("שלום", "לכם", "Star")])
def test_short_texts_and_other_scripts(words, tmp_path):
    count = len(words) + 1
    back = torch.tril(torch.ones(count, count)) / torch.arange(1, count + 1)[:, None]
    found = reader(back, words)
    assert all(record_text(found, View(view)) for view in ("text", "matrix", "lines", "heads"))
    assert save_record(found, tmp_path / "a.svg", view=View("text")).stat().st_size > 500
    check_page(page_of([record_document(found)], view="text"))


def boxes(figure, colour):
    from matplotlib.colors import to_hex

    return [each for each in figure.axes[0].patches if to_hex(each.get_facecolor()) == colour.lower()]


def test_a_figure_word_by_word(tmp_path):
    strip = Strip.of(read_back(reader()))
    figure = plot_strip(strip, "A title")
    reds = boxes(figure, RED)
    assert len(reds) == 4, "a current word a line"
    assert [each.get_x() for each in reds] == sorted(each.get_x() for each in reds)
    shown = [each.get_text() for each in figure.axes[0].texts]
    assert shown.count("chasing") == 4 and shown.count(START) == 4
    left = plot_strip(Strip.of(read_back(reader(words=("שלום", "לכם", "טוב", "מאוד")))))
    places = [each.get_x() for each in boxes(left, RED)]
    assert places == sorted(places, reverse=True), "a text from right to left begins at the right"
    for ending in (".png", ".pdf"):
        assert save_record(reader(), tmp_path / f"a{ending}", view=View("text")).stat().st_size > 1000
    cross = plot_strip(Strip.of(ALIGNMENT))
    assert "cat:" in [each.get_text() for each in cross.axes[0].texts] and not boxes(cross, RED)


def test_a_long_text_shows_its_last_words():
    words = tuple(f"word{number}" for number in range(101))
    strip = Strip.of(read_back(reader(torch.tril(torch.ones(102, 102)) / 102, words)))
    count = rows_shown(strip)
    assert 1 < count < 101
    figure = plot_strip(strip)
    assert len(boxes(figure, RED)) == count
    told = " ".join(each.get_text() for each in figure.axes[0].texts)
    assert f"The last {count} of 101 words." in told


def test_figures_leave_the_rest_of_a_triangle_empty():
    mask = np.triu(np.ones((5, 5), bool), 1)
    np.testing.assert_array_equal(plot_matrix(reader().alignment()).images[0].get_array().mask, mask)
    axes = plot_heads(reader(heads=3), "decoder-self")
    assert len(axes[0]) == 3
    for ax in axes[0]:
        np.testing.assert_array_equal(ax.images[0].get_array().mask, mask)
        sides = np.array([segment for each in ax.collections for segment in each.get_segments()])
        assert len(sides) == 4 * 5, "as long as the box around it"
        assert not any(spine.get_visible() for spine in ax.spines.values())
    assert not np.ma.is_masked(plot_matrix(ALIGNMENT).images[0].get_array())


def test_a_page_opens_with_a_view():
    page = page_of([record_document(reader())], view="text")
    assert page["settings"] == {"view": "text", "scale": "row"} and "settings" not in page_of(
        [record_document(reader())]
    )
    assert '"settings":{"view":"text"' in page_html(page)
    for wrong, told in (({"view": "films"}, "one of 'matrix'"), ({"shape": "round"}, "only view")):
        with pytest.raises(UsageError, match=told):
            check_page(page | {"settings": wrong})
    figure = record_document(reader())
    check_page(page_of([figure | {"chosen": figure["chosen"] | {"row": 4}}]))
    with pytest.raises(UsageError, match=r"chosen\.row: expected a whole number from 0 to 4"):
        check_page(page_of([figure | {"chosen": figure["chosen"] | {"row": 5}}]))


def test_samples_as_text_and_as_a_table():
    found = Samples("It was", 3, {0.5: " a <b>dark</b>\nnight", 1.5: ""})
    told = samples_text(found, 30)
    assert told.startswith("What is written after “It") and "seed 3" in told
    assert "temperature 0.5\n  It was a <b>dark</b>\n  night" in told and "temperature 1.5\n  It was" in told
    assert "(nothing" in samples_text(Samples("", 3, {1.0: ""}))
    one, two = samples_html({"a": found}), samples_html({"<a>": found, "b": found})
    assert "&lt;b&gt;dark" in one and "<b>" not in one and "temperature 0.5" in one
    assert "&lt;a&gt;</th>" in two and two.count("<td") == 4
