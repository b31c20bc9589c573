"""Pages of labels in a browser: nothing runs or is asked for that is not theirs, and everyone can read them."""

import numpy as np
import pytest

from browser.conftest import watched
from browser.tabs import problems
from regard.evaluate import Confusion, calibration
from regard.show.answers import save_shaded
from regard.show.confusion import draw_confusion
from regard.show.reliability import draw_reliability
from regard.show.shaded import Shaded
from regard.show.shaded_page import STEPS

HOSTILE = ("<script>document.title = 'ran'</script>", "<img src=x onerror=alert(1)>", "שלום", "这")


def examples():
    """Every shade, gates, two queries, hostile words, and a text from right to left."""
    shades = np.arange(STEPS + 1)[None] / STEPS
    words = tuple(f"word{number}" for number in range(STEPS + 1))
    hostile = Shaded(HOSTILE, np.full((2, 4), 0.25), "</title>", 0.6, "<b>", np.array([0.0, 1.0, 1.0, 0.0]),
                     classes=("<i>", "</title>"), probabilities=(0.4, 0.6))  # fmt: skip
    left = Shaded(("שלום", "לכם", "Star", "Wars"), np.full((1, 4), 0.25), "טוב", 0.6, "טוב")
    return [Shaded(words, shades, "a", 0.9, "a"), hostile, left]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, tmp_path, scheme):
    paths = [
        save_shaded(examples(), tmp_path / "a.html", "<h2>"),
        draw_confusion(Confusion(("a", "<b>"), np.array([[7, 3], [2, 11]])), tmp_path / "b.html"),
        draw_reliability(calibration(["a"] * 3, ["a", "b", "a"], [0.9, 0.7, 0.2]), tmp_path / "c.html"),
    ]
    for path in paths:
        with watched(browser, color_scheme=scheme) as tab:
            tab.goto(path.as_uri())
            assert problems(tab) == [], path.name


def test_words_are_words_and_run_in_their_own_direction(browser, tmp_path):
    with watched(browser) as tab:
        tab.goto(save_shaded(examples(), tmp_path / "a.html").as_uri())
        assert tab.locator(".words").nth(1).locator("span").all_text_contents() == list(HOSTILE)
        assert tab.title() != "ran"
        left = tab.locator(".words").nth(3).locator("span")
        places = {word: left.nth(number).bounding_box()["x"] for number, word in enumerate(left.all_text_contents())}
        assert sorted(places, key=places.get) == ["Star", "Wars", "לכם", "שלום"]
        colours = (
            tab.locator(".words")
            .first.locator("span")
            .evaluate_all("spans => spans.map(span => getComputedStyle(span).backgroundColor)")
        )
        assert len(set(colours)) == STEPS + 1, "the policy lets every shade through"
