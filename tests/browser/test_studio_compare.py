"""The page Compare of the studio: two models on one sentence, one model on two."""

import numpy as np
import pytest

from browser.studio import LINE, asked, go, is_sound, opened, running, settled
from browser.tabs import cell, until
from serving import translator


@pytest.fixture(scope="module")
def origin():
    with running({"toy": translator(), "same": translator(), "other": translator("luong")}) as found:
        yield found


def compared(tab):
    settled(tab)
    until(tab, ".figures .figure .save", 2)


def test_two_models_point_together_and_are_subtracted(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, f"{origin}/compare?model=toy&with=same&text={LINE}")
        compared(tab)
        texts = tab.get_by_test_id("output").all_inner_texts()
        assert [text.split("  ")[0].split(" toy")[0].split(" same")[0] for text in texts] == [
            asked(origin, inputs=LINE, model="toy")[0]["text"]
        ] * 2
        cell(tab, 1, 3).hover()
        told = tab.locator(".figures .readout").all_inner_texts()
        assert told[0] == told[1] != ""
        weights = tab.locator(".difference [role=gridcell]").evaluate_all("all => all.map(e => +e.dataset.weight)")
        assert len(weights) and np.abs(weights).max() == 0  # they are the same model
        tab.get_by_label("Second model").select_option("other")
        until(tab, ".figures .figure .model:has-text('other')", 1)
        assert "with=other" in tab.url


def test_two_sentences_of_one_model(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, f"{origin}/compare?model=toy&with=toy&text={LINE}&second=die frau liest")
        compared(tab)
        assert tab.get_by_label("Second source").input_value() == "die frau liest"
        assert tab.locator(".figures .figure").nth(1).locator(".columns text").first.text_content() == "die"


def test_the_page_is_sound(browser, origin):
    is_sound(browser, origin, f"/compare?model=toy&with=other&text={LINE}", compared)
