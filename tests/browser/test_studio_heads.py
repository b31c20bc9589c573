"""The page Heads of the studio: each head by itself, and what is written without some of them."""

import httpx2
import numpy as np
import pytest

from browser.documents import values
from browser.studio import LINE, asked, go, is_sound, opened, running, settled
from browser.tabs import until
from serving import translator

LAYERS, HEADS = 2, 4  # that look at the source


@pytest.fixture(scope="module")
def origin():
    with running({"toy": translator()}) as found:
        yield found


@pytest.fixture
def tab(browser, origin):
    with opened(browser, origin) as found:
        go(found, f"{origin}/heads?text={LINE}")
        painted(found)
        yield found


def painted(tab):
    settled(tab)
    until(tab, ".heads[data-painted=all]", 1)


def corner(tab, place):
    """The colour of the first cell of a small picture."""
    script = "canvas => [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data].slice(0, 3)"
    return tab.locator(".tile canvas").nth(place).evaluate(script)


def test_every_head_has_its_picture(tab, origin):
    (best,) = asked(origin, inputs=LINE, model="toy")
    told = httpx2.post(f"{origin}/api/v1/look", json={"model": "toy", "input": LINE, "output": best["text"]}).json()
    cross = [each for each in told["figure"]["attention"] if each["kind"] == "cross"]
    tiles = tab.locator(".tile")
    assert tiles.count() == LAYERS * (HEADS + 1)  # and the mean of each layer
    ramp = "async weights => { const { makeRamp } = await import('/figures/ramp.js'); "
    ramp += "return weights.map(weight => makeRamp(false).rgb(weight)); }"
    weights = [values({"attention": [layer]})[head, 0, 0] for layer in cross for head in range(HEADS)]
    places = [layer * (HEADS + 1) + head for layer in range(LAYERS) for head in range(HEADS)]
    expected = tab.evaluate(ramp, [float(weight) for weight in weights])
    assert np.abs(np.array([corner(tab, place) for place in places]) - expected).max() <= 1
    assert tab.locator("svg *").count() < 5000
    tiles.nth(HEADS + 1 + 2).click()
    tab.get_by_role("heading", name="Layer 2, head 3 (cross)").wait_for()


def test_a_head_is_switched_off_and_on(tab):
    score = tab.get_by_test_id("badge")
    assert score.count() == 0
    tab.get_by_role("button", name="Layer 2 head 4 (cross)").click()
    tab.get_by_role("button", name="Decode again").click()
    score.wait_for()
    painted(tab)
    before, after = score.inner_text().removeprefix("Score ").split(" (")[0].split(" → ")
    assert before != after
    assert "off=cross.1.3" in tab.url
    assert tab.get_by_role("button", name="Layer 2 head 4 (cross)").get_attribute("aria-pressed") == "false"
    tab.get_by_role("button", name="All on").click()
    until(tab, "[data-testid=badge]", 0)
    tab.go_back()
    score.wait_for()


def test_heads_in_numbers_are_sorted_and_opened(tab):
    rows = tab.locator("tbody tr")
    assert rows.count() == 2 * 4 + 3 * 4 + 2 * 2  # that look at the source, of the encoder, of the decoder
    entropies = [float(row) for row in tab.locator("tbody td:nth-child(2)").all_text_contents()]
    assert entropies == sorted(entropies)
    tab.get_by_role("button", name="Entropy").click()
    assert tab.locator("th[aria-sort=descending]").inner_text().startswith("Entropy")
    rows.first.focus()
    tab.keyboard.press("j")
    name = rows.nth(1).locator("td").first.inner_text()
    tab.keyboard.press("Enter")
    kind, layer, head = name.split(", ")
    tab.get_by_role("heading", name=f"{layer.capitalize()}, {head} ({kind})", exact=True).wait_for()


def test_the_page_is_sound(browser, origin):
    is_sound(browser, origin, f"/heads?text={LINE}&off=cross.1.3", painted)
