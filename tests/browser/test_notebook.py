"""What a notebook shows: a frame that is as high as its page, whatever the words and the width."""

import pytest
import torch

from regard.align.alignment import END, Alignment
from regard.translate.translator import Translation


def shown(count):
    """A translation of so many words, and the alignment that it is read with."""
    words = (*(f"word{number}" for number in range(count)), END)
    alignment = Alignment(torch.eye(count + 1), words, words, "layer 1 (not measured)")
    return Translation("<b>text</b>", -1.5, -1.5, words[:-1], alignment)


@pytest.fixture
def notebook(browser):
    """A tab in which markup stands as in a notebook's cell, once its figure is drawn; and the frame's own page."""
    context = browser.new_context()

    def opened(markup, width):
        tab = context.new_page()
        tab.set_viewport_size({"width": width, "height": 600})
        tab.set_content(f"<body style='margin: 8px'>{markup}</body>")
        frame = tab.query_selector("iframe").content_frame()
        frame.wait_for_selector(".save button")
        tab.wait_for_timeout(300)
        return tab, frame

    yield opened
    context.close()


@pytest.mark.parametrize("width", [700, 1000])
@pytest.mark.parametrize("count", [3, 13, 61])
def test_the_frame_is_as_high_as_its_page(notebook, width, count):
    tab, frame = notebook(shown(count).alignment._repr_html_(), width)
    height = tab.query_selector("iframe").bounding_box()["height"]
    needed = frame.evaluate("document.documentElement.getBoundingClientRect().height")
    assert needed - 1 <= height <= needed + 2
    assert height < 1500
    stage = frame.query_selector(".stage").bounding_box()
    top = tab.query_selector("iframe").bounding_box()["y"]
    assert stage["y"] - top < 300, "the figure comes first"


def test_a_translation_has_its_text_score_and_figure(notebook):
    tab, frame = notebook(shown(5)._repr_html_(), 900)
    assert tab.locator("strong").inner_text() == "<b>text</b>"
    assert tab.locator("p").nth(1).inner_text() == "score -1.5000"
    assert frame.locator("[role=gridcell]").count() == 36
