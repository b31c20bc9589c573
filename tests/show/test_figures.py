"""Figures: what is drawn where, in files that are the same each time, with words of any script."""

import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
import torch

from regard.align.alignment import END, Alignment
from regard.errors import UsageError
from regard.show import fonts
from regard.show.canvas import DOTS, wrap, write_figure
from regard.show.compare import draw_compare, plot_compare, plot_difference
from regard.show.fonts import MissingLetters, families
from regard.show.heads import draw_heads, plot_heads
from regard.show.lines import draw_lines, plot_lines
from regard.show.matrix import draw_matrix, plot_matrix, rule
from show.pairs import ALIGNMENT, MATRIX, SOURCE, TARGET, record

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
OTHER = Alignment(MATRIX.flip(0), SOURCE, TARGET)


def axes(*shape):
    from matplotlib.figure import Figure

    return Figure().subplots(*shape)


def texts(labels):
    return tuple(label.get_text() for label in labels)


def test_the_matrix_on_given_axes():
    ax = axes()
    assert plot_matrix(ALIGNMENT, ax) is ax
    assert np.allclose(ax.images[0].get_array(), MATRIX)
    assert ax.images[0].get_clim() == (0, 1)
    assert texts(ax.get_xticklabels()) == SOURCE
    assert texts(ax.get_yticklabels()) == TARGET
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("target word, which looks", "source word, looked at")
    assert len(ax.figure.axes) == 1, "no legend is squeezed into someone else's figure"


def test_numbers_in_the_cells():
    ax = plot_matrix(ALIGNMENT, axes(), numbers=True)
    assert texts(ax.texts) == ("0.70", "0.20", "0.10", "0.10", "0.50", "0.40", "1.00")
    assert [text.get_color() for text in ax.texts][-2:] == ["black", "white"]


def test_what_rows_sum_to_is_said():
    assert rule(ALIGNMENT) == "each row sums to 1"
    assert rule(Alignment(MATRIX * 0.9, SOURCE, TARGET)) == "rows need not sum to 1"


def test_lines_are_as_wide_as_their_weight():
    ax = plot_lines(ALIGNMENT, axes(), threshold=0.2)
    widths = sorted(line.get_linewidth() for line in ax.lines)
    assert widths == pytest.approx([4 * weight for weight in (0.2, 0.4, 0.5, 0.7, 1.0)])
    (strong,) = (line for line in ax.lines if line.get_linewidth() == 4)
    assert strong.get_ydata().tolist() == [3, 3], "both ends stand at the bottom, however many words each side has"
    other = next(each for each in ax.figure.axes if each is not ax)
    assert (texts(ax.get_yticklabels()), texts(other.get_yticklabels())) == (SOURCE, TARGET)


def test_lines_of_an_empty_sentence():
    ax = plot_lines(Alignment(torch.tensor([[0.3, 0.7]]), ("a", END), (END,)), axes())
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0, 0.5], [1, 0.5]]


def test_a_grid_of_heads():
    ours = record()
    grid = plot_heads(ours)
    assert grid.shape == (2, 3)
    for layer in range(2):
        for head in range(3):
            drawn = grid[layer][head].images[0].get_array()
            assert np.allclose(drawn, ours.alignment("cross", layer, head).matrix)
    framed = [ax.spines["left"].get_linewidth() == 2 for ax in grid.flat]
    assert framed == [False, True, False, False, False, False], "the head that aligns"
    assert (grid[0][2].get_title(), grid[1][0].get_ylabel()) == ("head 3", "layer 2")
    assert plot_heads(ours, "encoder-self").shape == (1, 3)
    assert plot_heads(ours, "cross", axes(2, 3), pieces=True)[0][0].images[0].get_array().shape == (7, 5)


def test_two_side_by_side():
    one, other, difference = plot_compare(ALIGNMENT, OTHER, names=("a", "b"))
    assert (one.get_title(), other.get_title(), difference.get_title()) == ("a", "b", "a less b")
    assert np.allclose(difference.images[0].get_array(), MATRIX - MATRIX.flip(0))
    assert difference.images[0].get_clim() == (-1, 1)
    shorter = Alignment(MATRIX[1:], SOURCE, TARGET[1:])
    assert len(plot_compare(ALIGNMENT, shorter)) == 2, "other words cannot be subtracted"
    with pytest.raises(UsageError, match="the same words; these differ"):
        plot_difference(ALIGNMENT, shorter)
    with pytest.raises(UsageError, match="expected 3, for two alignments of the same words; found 2"):
        plot_compare(ALIGNMENT, OTHER, axes(1, 2))


@pytest.mark.parametrize("ending", STARTS)
@pytest.mark.parametrize(
    "draw",
    [
        lambda path: draw_matrix(ALIGNMENT, path, "costs $5 or $6"),
        lambda path: draw_lines(ALIGNMENT, path, "a title"),
        lambda path: draw_heads(record(), path),
        lambda path: draw_compare(ALIGNMENT, OTHER, path, ("a", "b")),
    ],
    ids=["matrix", "lines", "heads", "compare"],
)
def test_the_same_figure_is_the_same_file(draw, ending, tmp_path):
    found = []
    for name in ("one", "two"):
        torch.manual_seed(17)
        path = tmp_path / "new" / f"{name}{ending}"
        assert draw(path) == path
        found.append(path.read_bytes())
    assert found[0].startswith(STARTS[ending])
    assert found[0] == found[1], "no date, no counter"


def test_words_are_text_and_never_formulas(tmp_path):
    words = ("$x$", r"\frac", "<b>", END)
    draw_matrix(Alignment(MATRIX, words, TARGET), tmp_path / "a.svg")
    draw_lines(Alignment(MATRIX, words, TARGET), tmp_path / "b.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert "<!-- $x$ -->" in drawn
    assert "<b>" not in drawn.replace("<!-- <b> -->", "")


@pytest.mark.parametrize(
    ("source", "target"),
    [([], []), (["a"], ["b"]), (["", " "], ["", "\n"]), (["x" * 131, "a"], ["b", "y" * 67]), (["a"] * 2, ["b"] * 41)],
    ids=["nothing", "one", "empty", "long", "tall"],
)
def test_odd_sentences_have_figures(source, target, tmp_path):
    """No warning either: a figure without room for its words says so by one, and warnings are errors here."""
    matrix = torch.rand(len(target) + 1, len(source) + 1).softmax(-1)
    one = Alignment(matrix, (*source, END), (*target, END), "a note of many words " * 5)
    draw_matrix(one, tmp_path / "a.png")
    draw_lines(one, tmp_path / "b.png")
    draw_compare(one, one, tmp_path / "c.png", ("a", "b"))
    assert len(list(tmp_path.glob("*.png"))) == 3


@pytest.mark.parametrize("name", ["a.gif", "a", "a.jpeg"])
def test_a_name_that_is_no_figure(name, tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.png, \.svg, \.pdf\.\n  Write a\.png"):
        draw_matrix(ALIGNMENT, tmp_path / name)


# --- fonts -------------------------------------------------------------------------------------------------


@pytest.fixture
def only_shipped(monkeypatch):
    """A system with no fonts but those that matplotlib brings."""
    from matplotlib import font_manager

    ours = [entry for entry in font_manager.fontManager.ttflist if matplotlib.get_data_path() in entry.fname]
    monkeypatch.setattr(font_manager, "fontManager", SimpleNamespace(ttflist=ours))


def test_plain_words_need_no_other_font():
    assert families(["Übung", "naïve", "</s>", "▁", "Ж"]) == list(matplotlib.rcParams["font.family"])


def test_missing_letters_are_looked_for_elsewhere(only_shipped):
    """U+23DC is in STIX, which matplotlib brings, and not in DejaVu."""
    from matplotlib.font_manager import FontProperties, findfont

    letter = next(
        letter
        for letter in sorted(fonts._has(findfont(FontProperties(family="STIXGeneral"))))
        if letter > "\u2000" and letter not in fonts._has(findfont(FontProperties()))
    )
    assert families([letter]) == [*matplotlib.rcParams["font.family"], "STIXGeneral"]


def test_letters_that_no_font_has_are_named_once(only_shipped, tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        draw_matrix(Alignment(MATRIX, ("猫", "犬", "a", END), TARGET), tmp_path / "cat.png")
    (only,) = told
    assert only.category is MissingLetters
    assert "shows 犬猫 in a figure" in str(only.message)
    assert "fonts-noto-cjk" in str(only.message)
    assert "an .html page" in str(only.message)


def test_right_to_left_words_with_an_old_matplotlib(monkeypatch):
    monkeypatch.setattr(matplotlib, "__version__", "3.10.8")
    with pytest.warns(MissingLetters, match="matplotlib 3.11 or newer, or save an .html page"):
        families(["سلام"])
    monkeypatch.setattr(matplotlib, "__version__", "3.11.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        families(["سلام"])


def test_marks_that_no_font_draws_are_not_missed(only_shipped):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        families(["a\u200db", "c\x1b", "\u2068x\u2069"])


MAKE_FIGURE = """
import sys
from matplotlib import font_manager
font_manager.fontManager.ttflist = [each for each in font_manager.fontManager.ttflist if "matplotlib" in each.fname]
import regard.cli, regard.cli.show, typer
from show.pairs import ALIGNMENT, MATRIX, SOURCE, TARGET
from regard.align.alignment import Alignment
from regard.show.compare import draw_compare
import subprocess
import sys
import warnings
from pathlib import Path
odd = Alignment(MATRIX, ("猫", *SOURCE[1:]), TARGET)
regard.cli.app = lambda: (draw_compare(odd, odd, sys.argv[1], ("a", "b")), warnings.warn("another's"))
regard.cli.main()
"""


def test_a_command_says_in_words_alone_what_is_missing(tmp_path):
    """Once, though three matrices lack it, and without the file, line and source that Python tells of a warning."""
    here = Path(__file__).parents[1]
    command = [sys.executable, "-c", MAKE_FIGURE, str(tmp_path / "a.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here)
    assert done.returncode == 0, done.stderr
    first, *others = done.stderr.splitlines()
    assert first.startswith("regard: no font on this system shows 猫 in a figure")
    assert "apt install fonts-noto-cjk" in first
    assert all("fonts.py" not in line and "MissingLetters" not in line for line in others)
    assert "UserWarning: another's" in others[0], "a warning that is not ours is told as Python tells it"


def long(source, target):
    """An alignment of so many words."""
    words = [(*(f"word{number}" for number in range(count - 1)), END) for count in (source, target)]
    return Alignment(torch.eye(target, source), *words)


@pytest.mark.parametrize("plot", [plot_matrix, plot_lines])
def test_long_sentences_are_drawn_closer_and_never_larger_than_a_screen(plot):
    few, many, very = (plot(long(count, count - 3)) for count in (7, 127, 401))
    sizes = [DOTS * max(ax.figure.get_size_inches()) for ax in (few, many, very)]
    assert sizes[0] < 1000 < sizes[1] < 2700
    assert sizes[2] < 2700
    points = [ax.get_yticklabels()[0].get_fontsize() for ax in (few, many, very)]
    assert points[0] == 10 > points[1] > points[2] == 4.5
    assert [len(ax.get_yticklabels()) for ax in (few, many)] == [len(few.get_yticks()), len(many.get_yticks())]
    assert len(many.get_yticklabels()) >= 124, "every word can still be read"
    shown = texts(very.get_yticklabels())
    assert shown == tuple(f"word{number}" for number in range(0, 401, 3))[: len(shown)], "of more, every third"


def test_a_title_is_broken_and_not_cut(tmp_path):
    assert wrap("one two three four", 1.7) == "one two three\nfour"
    assert wrap("日本語の長い題名", 1.2) == "日本語の長\nい題名", "wide letters, no spaces"
    assert wrap("word " * 99, 1.4).count("\n") == 3
    assert wrap("word " * 99, 1.4).endswith("…")
    figure = plot_matrix(ALIGNMENT).figure
    write_figure(figure, tmp_path / "a.png", "a title that is far longer than this small figure is wide")
    box = figure._suptitle.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    one, _, both = plot_compare(ALIGNMENT, OTHER, names=("a name of many words that goes on", "another"))
    assert "\n" in one.get_title()
    assert "\n" in both.get_title()
