"""A captioned image: one small picture for each word, in the terminal, on a page and as a figure."""

import json
from dataclasses import replace

import numpy as np
import pytest

from regard.errors import ShapeError, UsageError
from regard.show.answers import answers_html, answers_text, embed_answers, one_right_one_wrong, save_answers
from regard.show.captioned import MOST, Captioned, captioned_text, plot_captioned
from regard.show.pictured import VEIL

IMAGE = np.random.default_rng(3).integers(0, 256, (12, 20, 3), dtype=np.uint8)
WORDS = ("a", "red", "square")
MAPS = np.zeros((3, 3, 5), np.float32)
MAPS[0, 0, 0] = MAPS[1, 2, 4] = MAPS[2, 1, 2] = 1
ONE = Captioned(IMAGE, WORDS, MAPS, "a red square")


def test_maps_that_move_and_maps_that_do_not():
    assert ONE.movement() == pytest.approx(1), "no two words look at one cell"
    half = MAPS.copy()
    half[1] = half[0]
    assert Captioned(IMAGE, WORDS, half, "x").movement() == pytest.approx(2 / 3)
    still = Captioned(IMAGE, WORDS, np.full((3, 3, 5), 1 / 15, np.float32), "x")
    assert still.movement() == 0
    assert "hardly moves" in still.remarks()[-1] and not any("hardly" in each for each in ONE.remarks())
    assert Captioned(IMAGE, WORDS[:1], MAPS[:1], "a").movement() is None
    blind = Captioned(IMAGE, WORDS, None, "a red square")
    assert blind.movement() is None and "does not attend" in blind.remarks()[0] and blind.maps() == []


def test_the_terminal_has_a_block_for_each_cell():
    told = captioned_text(ONE, 40).split("\n")
    assert told[0] == "a red square" and told[2].split() == ["a", "red", "square"]
    assert told[3].rstrip() == "██" and told[4] == " " * 28 + "██" and told[5] == " " * 20 + "██"
    narrow = captioned_text(ONE, 10).split("\n")
    assert [line for line in narrow if line in WORDS] == list(WORDS), "one below the other"
    assert "hardly moves" in captioned_text(Captioned(IMAGE, WORDS, MAPS[[0, 0, 0]], "x"))


def test_the_figure_is_bright_where_a_word_looked():
    figure = plot_captioned(ONE)
    axes = [ax for ax in figure.axes if ax.images]
    assert [ax.get_title() for ax in axes] == ["what was read", *WORDS]
    assert figure._suptitle.get_text() == "a red square"
    assert [len(ax.images) for ax in axes] == [1, 2, 2, 2]
    veil = np.asarray(axes[1].images[1].get_array())[..., 3]
    assert veil[0, 0] == pytest.approx(0) and veil[-1, -1] == pytest.approx(VEIL)
    assert veil.shape == (12, 20), "laid over every pixel"
    assert all(np.array_equal(np.asarray(ax.images[0].get_array()), IMAGE) for ax in axes)


def test_many_words_fill_rows_and_too_many_are_told():
    words = tuple(f"w{number}" for number in range(MOST + 3))
    long = Captioned(IMAGE, words, np.resize(MAPS, (MOST + 3, 3, 5)).astype(np.float32), " ".join(words))
    figure = plot_captioned(long)
    assert sum(bool(ax.images) for ax in figure.axes) == 1 + MOST
    assert f"first {MOST} of {MOST + 3}" in long.remarks()[-1]
    assert len(plot_captioned(Captioned(IMAGE, (), MAPS[:0], "")).axes) == 1, "a caption without words"


@pytest.mark.parametrize("ending", ["html", "png", "svg", "pdf", "txt"])
def test_every_kind_of_file(tmp_path, ending):
    path = save_answers([ONE], tmp_path / f"x.{ending}")
    assert path.stat().st_size > 100
    if ending in ("html", "txt"):
        assert "a red square" in path.read_text(encoding="utf-8")
    if ending != "html":
        return
    page = path.read_text(encoding="utf-8")
    assert page.count("<img") == 1 and page.count('<div data-regard="captioned"') == 1


def test_pages_right_and_wrong():
    right = Captioned(IMAGE, WORDS, MAPS, "a red square", right="a red square")
    wrong = Captioned(IMAGE, WORDS, MAPS, "a red square", right="a <blue> circle")
    assert one_right_one_wrong([wrong, ONE, right]) == [right, wrong]
    page = answers_html([right, wrong])
    assert "&lt;blue&gt;" in page and "<blue>" not in page and page.count('class="pictured"') == 2
    assert "✗ right: a <blue> circle" in answers_text([wrong])
    assert "iframe" in embed_answers([ONE])
    with pytest.raises(UsageError, match="a figure holds one"):
        save_answers([right, wrong], "x.png")


def test_what_people_wrote_stands_below(tmp_path):
    told = replace(ONE, references=("a <red> square", "one square"))
    page = answers_html([told])
    assert '<li dir="auto">a &lt;red&gt; square</li>' in page and "<red>" not in page
    assert page.index("</div>", page.index("data-regard")) < page.index("What people wrote"), "scripts leave it alone"
    assert "What people wrote" in captioned_text(told) and "  one square" in captioned_text(told)
    assert "What people wrote" not in answers_html([ONE]) + captioned_text(ONE)


def test_as_many_right_and_wrong_ones_as_were_asked_for():
    right = [replace(ONE, right=ONE.answer, probability=share) for share in (0.2, 0.9, 0.5)]
    wrong = [replace(ONE, right="x", probability=share) for share in (0.3, 0.1)]
    found = one_right_one_wrong([*wrong, *right], 5)
    assert [each.probability for each in found] == [0.9, 0.5, 0.2, 0.3, 0.1]
    assert [each.probability for each in one_right_one_wrong([*wrong, *right], 3)] == [0.9, 0.5, 0.3]


def test_maps_and_words_must_fit():
    with pytest.raises(ShapeError, match="each of 2 words; found 3"):
        Captioned(IMAGE, WORDS[:2], MAPS, "a red")


HARD = Captioned(IMAGE, WORDS, MAPS, "a red square")
SOFT = Captioned(IMAGE, WORDS, np.full((3, 3, 5), 1 / 15, np.float32) + 0.1 * MAPS, "a red square")


def test_what_is_shown_is_said():
    assert HARD.is_hard and not SOFT.is_hard and not Captioned(IMAGE, WORDS, None, "x").is_hard
    assert "one cell alone" in HARD.remarks()[1]
    assert "3 x 5 cells" in SOFT.remarks()[0] and "15 cells the light is drawn smoothly" in SOFT.remarks()[1]
    edged = replace(SOFT, smooth=False)
    assert not any("smoothly" in each for each in edged.remarks())


def test_cells_with_edges_and_a_frame_around_the_only_one():
    def veils(captioned):
        axes = [ax for ax in plot_captioned(captioned).axes if len(ax.images) > 1]
        return axes, [np.asarray(ax.images[1].get_array())[..., 3] for ax in axes]

    axes, found = veils(HARD)
    assert len(np.unique(found[1])) == 2 and [len(ax.patches) for ax in axes] == [2, 2, 2]
    assert axes[1].patches[0].get_bbox().bounds == pytest.approx((4 * 4 - 0.5, 2 * 4 - 0.5, 4, 4))
    axes, found = veils(replace(SOFT, smooth=False, opacity=0.5))
    assert len(np.unique(found[0].round(4))) == 2 and found[0].max() < 0.5 and not axes[0].patches
    assert len(np.unique(veils(SOFT)[1][0].round(4))) > 4


def test_a_page_carries_every_number_and_no_markup_of_a_word():
    words = ("</script><b>", "&amp;", "\u2028x")
    page = answers_html([Captioned(IMAGE, words, SOFT.weights, "x")])
    assert "</script><b>" not in page and "\u2028" not in page
    start = page.index('<script type="application/json">', page.index('data-regard="captioned"'))
    document = json.loads(page[page.index("{", start) : page.index("</script>", start)])
    assert document["words"] == list(words) and document["smooth"] and document["opacity"] == VEIL
    np.testing.assert_allclose(document["maps"], SOFT.weights, atol=1e-4)
    assert document["image"].startswith("data:image/png;base64,")
    assert 'captioned"' not in answers_html([Captioned(IMAGE, WORDS, None, "x")]).split("<main")[1].split("<script>")[0]
    grey = Captioned(IMAGE[..., :1], WORDS, MAPS, "x")
    assert "data:image/png" in answers_html([grey])
