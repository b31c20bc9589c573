"""A classified text: what is shaded how, in the terminal, as a page and as a figure."""

import re
import warnings
from html import unescape

import numpy as np
import pytest
from rich.cells import cell_len

from regard.errors import ShapeError, UsageError
from regard.show.answers import answers_html, embed_answers, one_right_one_wrong, save_shaded
from regard.show.reading import GREYS
from regard.show.shaded import Shaded, broken, gaps, is_leftward, seen_order
from regard.show.shaded_figure import CLOSED, EDGE, WIDTH, plot_shaded
from regard.show.shaded_page import STEPS, shade_class, shades_css
from regard.show.shaded_text import BAD, GOOD, PALE, PLAIN, shaded_text
from show.markup import Reader, fingerprint

WORDS = ("the", "story", "is", "so", "thin")
WEIGHTS = np.array([[0.05, 0.2, 0.0, 0.05, 0.7]])
GATES = np.array([0.0, 1.0, 0.0, 0.0, 1.0])
ONE = Shaded(WORDS, WEIGHTS, "bad", 0.9, "bad", classes=("good", "bad"), probabilities=(0.1, 0.9))
TWO = Shaded(WORDS, np.stack([WEIGHTS[0] * GATES, GATES / 2]), "good", 0.6, "bad", GATES)


def even(count, queries=1):
    return Shaded(tuple(f"w{number}" for number in range(count)), np.full((queries, count), 1 / count), "a")


# --- what is shaded how ------------------------------------------------------------------------------------


def test_full_shade_is_the_largest_weight_or_some_even_shares():
    assert ONE.full(0) == pytest.approx(0.7), "3 / 5 is less"
    assert ONE.shades(0) == pytest.approx([0.05 / 0.7, 0.2 / 0.7, 0, 0.05 / 0.7, 1])
    assert even(31).full(0) == pytest.approx(3 / 31)
    assert even(31).shades(0) == pytest.approx([1 / 3] * 31), "looking everywhere stays pale"
    assert even(1).shades(0) == pytest.approx([1])
    assert TWO.full(1) == 1, "of two open words"


def test_closed_words_have_no_shade():
    leaky = Shaded(("a", "b"), np.array([[0.5, 0.5]]), "x", gates=np.array([0.0, 1.0]))
    assert leaky.shades(0).tolist() == [0, 0.5]
    assert leaky.is_open.tolist() == [False, True]


def test_the_strongest_words_are_told_and_even_ones_are_not():
    assert ONE.strongest(0) == [("thin", pytest.approx(0.7))], "an even share is 0.2"
    assert even(31).strongest(0) == []
    assert ONE.key(0) == ["full shade is a weight of 0.7;", "strongest:", "thin", "0.7"]
    assert TWO.key(1)[0].startswith("query 2: ")
    assert TWO.key(1)[1] == "nothing stands out"


def test_headings_and_remarks():
    assert ONE.heading() == ["bad", "90.0 %", "✓"]
    assert TWO.heading() == ["good", "60.0 %", "✗ right:", "bad"]
    assert Shaded(("a",), np.ones((1, 1)), "x").heading() == ["x"]
    assert TWO.remarks() == ["Gates: 2 of 5 words are open, those in boxes."]
    closed = Shaded(("a",), np.zeros((1, 1)), "x", gates=np.zeros(1), note="layer 1")
    assert closed.remarks() == ["layer 1", "Gates: 0 of 1 words are open, those in boxes.",
                                "All gates are closed: nothing was looked at."]  # fmt: skip
    assert "does not attend" in Shaded(("a",), np.zeros((0, 1)), "x").remarks()[0]


def test_the_likeliest_classes_and_the_right_one():
    many = Shaded(("a",), np.ones((1, 1)), "c", 0.3, "g", classes=tuple("abcdefg"),
                  probabilities=(0.1, 0.2, 0.3, 0.15, 0.14, 0.1, 0.01))  # fmt: skip
    assert [name for name, _ in many.likeliest()] == ["c", "b", "d", "e", "a", "g"]
    assert [name for name, _ in many.likeliest(2)] == ["c", "b", "g"]


def test_mistakes_are_told():
    with pytest.raises(ShapeError, match="one for each of 2 words; found 3"):
        Shaded(("a", "b"), np.zeros((1, 3)), "x")
    with pytest.raises(ShapeError, match="gates: expected one for each of 1 words; found 2"):
        Shaded(("a",), np.zeros((1, 1)), "x", gates=np.zeros(2))
    with pytest.raises(UsageError, match="a probability for each of 1; found 0"):
        Shaded(("a",), np.zeros((1, 1)), "x", classes=("x",))
    with pytest.raises(UsageError, match="not finite"):
        Shaded(("a",), np.array([[np.nan]]), "x")


# --- lines and directions ----------------------------------------------------------------------------------


def test_words_are_broken_into_lines():
    assert broken([3, 3, 3], [0, 1, 1], 7) == [[0, 1], [2]]
    assert broken([3, 9, 3], [0, 1, 1], 7) == [[0], [1], [2]], "a word that is too wide has a line of its own"
    assert broken([], [], 7) == []


def test_scripts_without_spaces_have_none():
    assert gaps(["a", "b"]) == [False, True]
    assert gaps(["这", "部", "film", "好", "。"]) == [False, False, True, True, False]
    assert gaps(["한국어", "문장"]) == [False, True], "Korean has spaces"


def test_directions():
    assert is_leftward(["1", "שלום", "a"])
    assert not is_leftward(["a", "שלום"])
    assert not is_leftward(["1", "."])


@pytest.mark.parametrize(
    ("words", "leftward", "seen"),
    [
        (["a", "b", "c"], False, [0, 1, 2]),
        (["א", "ב", "ג"], True, [2, 1, 0]),
        (["א", "Star", "Wars", "ב"], True, [3, 1, 2, 0]),
        (["a", "א", "ב", "b"], False, [0, 2, 1, 3]),
        (["א", "Star", "7", "Wars", "."], True, [4, 1, 2, 3, 0]),
        (["a", "א", "7", "ב", "!"], False, [0, 3, 2, 1, 4]),
        ([], True, []),
    ],
)
def test_words_as_they_stand_from_left_to_right(words, leftward, seen):
    assert seen_order(words, leftward) == seen


# --- the terminal ------------------------------------------------------------------------------------------


def test_text_by_hand():
    assert shaded_text(ONE).split("\n") == [
        "bad 90.0 % ✓",
        "",
        "bad    90.0 %  ███████████████████████████",
        "good   10.0 %  ███",
        "",
        "full shade is a weight of 0.7; strongest: thin 0.7",
        "the story is so thin",
        "    ░░░░░       ████",
        "",
        "Darker is more weight.",
    ]


def test_open_words_are_boxed_and_every_query_has_its_lines():
    told = shaded_text(TWO)
    assert told.count("the [story] is so [thin]") == 2
    assert "query 1: " in told and "query 2: " in told


def test_colours():
    plain = re.compile(r"\x1b\[[0-9;]*m")
    told = shaded_text(TWO, colour=True)
    assert f"{PALE}the{PLAIN}" in told
    assert told.startswith(BAD)
    assert shaded_text(ONE, colour=True).startswith(GOOD)
    assert f"\x1b[48;5;{GREYS[-1]};38;5;231mthin{PLAIN}" in shaded_text(ONE, colour=True)
    assert "█" not in plain.sub("", told), "shades stand behind words, not below"
    assert "\x1b" not in shaded_text(TWO)


@pytest.mark.parametrize("width", [41, 80])
def test_long_texts_keep_within_their_width(width):
    long = even(401, 2)
    for colour in (False, True):
        lines = re.sub(r"\x1b\[[0-9;]*m", "", shaded_text(long, width, colour=colour)).split("\n")
        assert max(map(cell_len, lines)) <= width
    told = shaded_text(long, width)
    assert all(f"w{number}" in told for number in range(401))


def test_wide_letters_stand_above_their_blocks():
    told = shaded_text(Shaded(tuple("这部好"), np.array([[0.0, 1.0, 0.0]]), "好")).split("\n")
    assert told[3:5] == ["这部好", "  ██"]


def test_a_terminal_obeys_nothing():
    told = shaded_text(Shaded(("a\x1b[2J", "b\n"), np.ones((1, 2)) / 2, "x\x1b]0;", right="\x07", note="\x1b[2J"))
    assert "\x1b" not in told and "\x07" not in told


# --- the page ----------------------------------------------------------------------------------------------

HOSTILE = Shaded(('<script>alert(1)</script>', '"onload="x', "&amp;"), np.array([[1.0, 0.0, 0.0]]), "<b>", 0.5,
                 "</title>", classes=("<i>",), probabilities=(0.5,), note="<img src=x>")  # fmt: skip


def test_a_page_is_one_file_and_its_policy_lets_only_its_own_run():
    read = Reader(answers_html([ONE, TWO], "both"))
    assert [text for _, text in read.of("title")] == ["both"]
    for tag in ("script", "style"):
        for attributes, text in read.of(tag):
            assert fingerprint(text) in read.policy or attributes.get("type") == "application/json"
    assert read.values("src", "href", "style", "onload") == []
    assert "default-src 'none'" in read.policy


def test_words_become_text_and_nothing_else():
    text = answers_html([HOSTILE], "<h1>")
    plain = Reader(answers_html([ONE], "t"))
    assert len(Reader(text).of("script")) == len(plain.of("script"))
    for tag in ("b", "i", "img"):
        assert Reader(text).of(tag) == []
    assert '<span class="s20" title="1.000">&lt;script&gt;alert(1)&lt;/script&gt;</span>' in text


def test_a_page_has_every_word_with_its_shade_and_weight():
    read = Reader(answers_html([ONE]))
    spans = [(text, attributes.get("class"), attributes.get("title")) for attributes, text in read.of("span")]
    assert spans == [("the", "s1", "0.050"), ("story", "s6", "0.200"), ("is", None, "0.000"), ("so", "s1", "0.050"),
                     ("thin", "s20", "0.700")]  # fmt: skip
    gated = Reader(answers_html([TWO]))
    kinds = [attributes["class"].split()[0] for attributes, _ in gated.of("span")]
    assert kinds == ["closed", "open", "closed", "closed", "open"] * 2
    assert [attributes.get("dir") for attributes, _ in gated.of("p") if attributes.get("class") == "words"] == [
        "auto"
    ] * 2


def test_right_and_wrong_are_said_in_words():
    text = unescape(answers_html([ONE, TWO]))
    assert "✓ right" in text
    assert "✗ wrong; right is <bdi>bad</bdi>" in text
    assert 'width="90.00"' in text, "the bar of nine tenths"


def test_letters_without_spaces_stay_together():
    text = answers_html([Shaded(tuple("这部"), np.array([[1.0, 0.0]]), "好")])
    assert "</span><span" in text
    assert "</span> <span" in answers_html([ONE])


def test_a_notebook_shows_it_in_a_frame_that_reaches_nothing():
    ((frame, _),) = Reader(embed_answers([HOSTILE, TWO])).of("iframe")
    assert frame["sandbox"] is None, "nothing is allowed"
    inside = Reader(frame["srcdoc"])
    assert len(inside.of("span")) == 3 + 10
    assert inside.of("h1") == []
    heights = [int(Reader(embed_answers([even(count)])).of("iframe")[0][0]["height"]) for count in (7, 101, 4001)]
    assert heights[0] < heights[1] < heights[2] == 1200


def test_every_shade_has_a_rule():
    assert [shade_class(share) for share in (0.0, 0.02, 0.03, 1.0)] == ["", "", "s1", f"s{STEPS}"]
    rules = shades_css()
    assert all(f".s{step} " in rules for step in range(1, STEPS + 1))


def test_inks_can_be_read_on_their_shades():
    """WCAG's contrast of the mixed colours is at least 4.5, on light and on dark paper."""

    def linear(colour):
        values = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        return np.array([v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values])

    to_lms = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                       [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    inks = re.findall(r"light-dark\((#\w+), (#\w+)\); }", shades_css())
    assert len(inks) == STEPS
    for side, (accent, sheet) in enumerate([("#1f5fa8", "#ffffff"), ("#8fbcff", "#1b1e24")]):
        ends = [np.cbrt(to_lms @ linear(colour)) for colour in (accent, sheet)]  # mixing is linear from here on
        for step, pair in enumerate(inks, 1):
            mixed = np.linalg.solve(to_lms, (step / STEPS * ends[0] + (1 - step / STEPS) * ends[1]) ** 3)
            light = float(np.array([0.2126, 0.7152, 0.0722]) @ mixed)
            ink = 1.0 if pair[side] == "#fff" else 0.0
            assert (max(light, ink) + 0.05) / (min(light, ink) + 0.05) >= 4.5, (step, side)


# --- figures and files -------------------------------------------------------------------------------------


def drawn(figure):
    """What is written where: words and their left ends."""
    return [(text.get_text(), text.get_position()) for text in figure.axes[0].texts]


def test_words_are_drawn_in_order_and_within_the_edges():
    figure = plot_shaded([even(211)])
    figure.canvas.draw()
    words = [(text, place) for text, place in drawn(figure) if re.fullmatch(r"w\d+", text)]
    assert [text for text, _ in words] == [f"w{number}" for number in range(211)]
    lines = {}
    for _, (x, y) in words:
        lines.setdefault(y, []).append(x)
    assert len(lines) > 3
    assert all(line == sorted(line) and line[0] >= EDGE for line in lines.values())
    for text in figure.axes[0].texts:
        assert text.get_window_extent().x1 <= figure.bbox.width * (1 - 0.5 * EDGE / WIDTH)
    tall = figure.get_size_inches()[1]
    assert max(y for _, (_, y) in drawn(figure)) < tall


def test_closed_words_are_pale_and_open_ones_boxed():
    axes = plot_shaded([TWO]).axes[0]
    inks = {text.get_text(): text.get_color() for text in axes.texts}
    assert (inks["the"], inks["story"]) == (CLOSED, "black")
    boxes = [patch for patch in axes.patches if patch.get_edgecolor() == (0, 0, 0, 1)]
    assert len(boxes) == 4, "two open words, two queries"


def test_right_to_left_begins_at_the_right():
    words = ("שלום", "לכם", "Star", "Wars")
    places = dict(drawn(plot_shaded([Shaded(words, np.full((1, 4), 0.25), "x")])))
    order = sorted(words, key=lambda word: places[word][0])
    assert order == ["Star", "Wars", "לכם", "שלום"]
    assert places["שלום"][0] > WIDTH / 2


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_files_are_written_and_the_same_again(tmp_path, ending, start):
    first = save_shaded([ONE, TWO], tmp_path / f"a.{ending}", "t").read_bytes()
    assert first.startswith(start)
    assert save_shaded([ONE, TWO], tmp_path / f"b.{ending}", "t").read_bytes() == first


def test_formulas_are_not_read(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odd = Shaded(("$x^{$", "\\frac"), np.ones((1, 2)) / 2, "$a$", 0.5, "$b")
        drawn = save_shaded(odd, tmp_path / "a.svg")
    assert "</svg>" in drawn.read_text("utf-8")


def test_pages_and_text_are_files_too(tmp_path):
    assert save_shaded(ONE, tmp_path / "a.html", "t").read_text("utf-8") == answers_html([ONE], "t")
    assert save_shaded(ONE, tmp_path / "a.txt", "t").read_text("utf-8") == f"t\n\n{shaded_text(ONE)}\n"
    with pytest.raises(UsageError, match=r"ends in \.html, \.png, \.svg, \.pdf, \.txt"):
        save_shaded(ONE, tmp_path / "a.gif")
    with pytest.raises(UsageError, match="at least one example"):
        save_shaded([], tmp_path / "a.html")


def test_one_right_and_one_wrong():
    sure = Shaded(WORDS, WEIGHTS, "bad", 0.95, "bad")
    unknown = Shaded(WORDS, WEIGHTS, "bad", 0.99)
    assert one_right_one_wrong([ONE, TWO, sure, unknown]) == [sure, TWO]
    assert one_right_one_wrong([unknown]) == []
