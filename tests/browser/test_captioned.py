"""Captioned images in a browser: word by word, by pointer and by keys; everyone can read them."""

import numpy as np
import pytest

from browser.conftest import watched
from browser.tabs import problems, until
from regard.show.answers import save_answers
from regard.show.captioned import Captioned

IMAGE = np.full((30, 42, 3), 200, dtype=np.uint8)
WORDS = ("a", "<b>red</b>", "square")
MAPS = np.full((3, 5, 7), 0.01, np.float32)
MAPS[0, 0, 0] = MAPS[1, 4, 6] = MAPS[2, 2, 3] = 0.66


@pytest.fixture
def page(tmp_path):
    return save_answers([Captioned(IMAGE, WORDS, MAPS, "a red square")], tmp_path / "page.html")


def shade(tab, right, down):
    """How bright a pixel of the large image is, at a share of its width and height."""
    script = """(canvas, [right, down]) => canvas.getContext("2d")
      .getImageData(right * canvas.width, down * canvas.height, 1, 1).data[0]"""
    return tab.locator(".stage canvas").evaluate(script, [right, down])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_words_stay_words(browser, page, scheme):
    with watched(browser, color_scheme=scheme) as tab:
        tab.goto(page.as_uri())
        until(tab, "[data-drawn] .frame", 3)
        assert problems(tab) == []
        assert tab.locator(".frame bdi").all_text_contents() == list(WORDS)
        assert tab.locator("img").count() == 0, "the still picture gives way"
        boxes = [frame.bounding_box() for frame in tab.locator(".frame").all()]
        assert len({box["y"] for box in boxes}) == 1 and boxes[0]["x"] < boxes[1]["x"] < boxes[2]["x"], "in a strip"


def test_words_cells_and_switches(browser, page):
    with watched(browser) as tab:
        tab.goto(page.as_uri())
        until(tab, "[data-drawn] .frame", 3)
        said = tab.locator(".readout")
        assert said.text_content() == "a: row 1, column 1: 0.6600 (the most)"
        assert shade(tab, 0.05, 0.05) > 190 > 100 > shade(tab, 0.95, 0.95)
        tab.locator(".frame").nth(1).click()
        assert said.text_content() == "<b>red</b>: row 5, column 7: 0.6600 (the most)"
        assert shade(tab, 0.95, 0.95) > 190 > 100 > shade(tab, 0.05, 0.05)
        tab.keyboard.press("ArrowRight")
        assert said.text_content().startswith("square") and tab.locator(".frame[aria-pressed=true]").count() == 1
        tab.keyboard.press("Home")
        assert said.text_content().startswith("a:")
        tab.locator(".stage canvas").hover(position={"x": 3, "y": 295})
        assert said.text_content() == "a: row 5, column 1: 0.0100"
        tab.locator("h1").hover()
        tab.locator(".stage canvas").focus()
        tab.keyboard.press("ArrowRight")
        assert said.text_content() == "a: row 1, column 2: 0.0100"
        tab.keyboard.press("Escape")
        assert "(the most)" in said.text_content()
        middle = shade(tab, 1.05 / 7, 0.05)
        tab.get_by_role("radio", name="cells").check()
        assert shade(tab, 1.05 / 7, 0.05) < 100 < middle, "with edges, the next cell is dark at once"
        tab.get_by_role("slider").fill("0")
        assert shade(tab, 0.95, 0.95) == 200


def test_playing_goes_through_the_words_unless_motion_is_unwelcome(browser, page):
    with watched(browser) as tab:
        tab.goto(page.as_uri())
        until(tab, "[data-drawn] .frame", 3)
        tab.get_by_role("button", name="Play").click()
        until(tab, ".frame:last-child[aria-pressed=true]", 1)
    with watched(browser, reduced_motion="reduce") as tab:
        tab.goto(page.as_uri())
        until(tab, "[data-drawn] .frame", 3)
        assert tab.get_by_role("button", name="Play").count() == 0
