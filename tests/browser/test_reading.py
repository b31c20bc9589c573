"""Texts that look back in a browser: triangles, small ones with numbers under the pointer, and a text word by word."""

from pathlib import Path

import numpy as np
import pytest

from browser.conftest import watched
from browser.documents import figure, layer, page, side
from browser.tabs import choose, problems, shown_weights, until
from regard.show.answers import save_answers
from regard.show.page import frame_html
from regard.show.samples import STYLE, Samples, samples_html
from regard.show.shaded import Shaded

WORDS = ["the", "FBI", "is", "chasing", "a", "criminal"]
RED = "rgb(179, 38, 30)"


def looking_back(heads=3, layers=2, seed=11, words=WORDS):
    """A language model's document: what each step looked back at, the start in the last column."""
    rng, count = np.random.default_rng(seed), len(words) + 1
    target, attention, kept = side(words), [], []
    for number in range(layers):
        scores = np.where(np.tri(count, dtype=bool), np.exp(2 * rng.standard_normal((heads, count, count))), 0)
        weights = (scores / scores.sum(-1, keepdims=True)).astype("<f4")
        kept.append(weights)
        attention.append(layer(np.roll(weights, -1, -1), "decoder-self", number, "target", "target"))
    chosen = {"kind": "decoder-self", "layer": 0, "heads": list(range(heads))}
    return figure(side([]), target, attention, chosen=chosen, model="gpt"), kept


def test_a_triangle_is_empty_where_nothing_was_there(show):
    document, kept = looking_back()
    tab = show(page(document), "#look0=decoder-self.1.2")
    assert tab.locator(".columns text").all_text_contents() == ["<s>", *WORDS]
    np.testing.assert_allclose(shown_weights(tab), kept[1][2], atol=1e-7)
    fills = tab.locator(".cell").evaluate_all("all => all.map(cell => cell.getAttribute('fill'))")
    empty = np.array([fill == "none" for fill in fills]).reshape(7, 7)
    np.testing.assert_array_equal(empty, np.triu(np.ones((7, 7), bool), 1))
    names = tab.locator(".cell").evaluate_all("all => all.map(cell => cell.getAttribute('aria-label'))")
    assert names[2] == "the <- FBI: not there to be looked at"
    assert tab.locator(".outline").count() == 1
    assert tab.locator(".sentences dt").all_text_contents() == ["target"], "nothing was read"


def test_small_triangles_tell_their_numbers(show):
    document, kept = looking_back()
    tab = show(page(document), "#view=heads")
    tab.wait_for_selector("[data-painted=all]")
    assert tab.locator(".tile .frame .outline").count() == 2 * (3 + 1)
    script = "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data].filter((_, i) => i % 4 === 3)"
    clear = np.array(tab.locator(".tile canvas").nth(1).evaluate(script)).reshape(7, 7) == 0
    np.testing.assert_array_equal(clear, np.triu(np.ones((7, 7), bool), 1))
    canvas = tab.locator(".tile canvas").nth(1)
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] * 2.5 / 7, "y": box["height"] * 4.5 / 7})
    told = tab.locator(".readout").inner_text()
    assert told == f"Layer 1, head 2 (decoder-self): a <- FBI: {kept[0][1][4, 2]:.3f}"
    tab.mouse.move(0, 0)
    assert tab.locator(".readout").inner_text() == ""


def test_word_by_word(show):
    document, kept = looking_back()
    opened = page(document) | {"settings": {"view": "text", "scale": "row"}}
    tab = show(opened)
    read = kept[0].mean(0)[1:]  # a line is the step that reads its word
    lines = tab.locator(".strip li")
    assert lines.count() == len(WORDS)
    assert lines.nth(3).locator("bdi").all_text_contents() == ["<s>", *WORDS]
    assert lines.nth(3).locator(".current").all_text_contents() == ["chasing"]
    assert lines.nth(3).locator(".closed").all_text_contents() == ["a", "criminal"]
    shade = "word => getComputedStyle(word).backgroundColor"
    assert lines.nth(3).locator(".current").evaluate(shade) == RED
    lines.nth(4).locator("bdi").nth(2).hover()
    assert tab.locator(".readout").inner_text() == f"a <- FBI: {read[4, 2]:.3f}"
    assert tab.locator(".strip li.now").inner_text().split() == ["<s>", *WORDS]
    label = lines.nth(2).locator("p").get_attribute("aria-label")
    order = [column for column in np.argsort(-read[2], kind="stable") if column != 3]
    assert label.startswith(f"is looked at {['<s>', *WORDS][order[0]]} {read[2, order[0]]:.2f}")
    assert "view" not in tab.evaluate("location.hash"), "what a page opens with needs no word"
    choose(tab, "Matrix")
    until(tab, "[role=grid].matrix", 1)
    assert "view=matrix" in tab.evaluate("location.hash")


def test_a_word_is_held_where_the_document_asks_for_it(show):
    document, _ = looking_back()
    document["chosen"]["row"] = 3
    tab = show(page(document) | {"settings": {"view": "text"}})
    assert tab.locator("button.word.now").text_content() == "chasing"
    assert tab.locator(".slot .current").text_content() == "chasing"


def test_the_end_and_the_start_can_be_hidden(show):
    document, kept = looking_back()
    tab = show(page(document), "#look0=decoder-self.0.1&end=hidden")
    assert tab.locator(".columns text").all_text_contents() == WORDS
    np.testing.assert_allclose(shown_weights(tab), kept[0][1][:-1, 1:], atol=1e-7)


def test_a_drawing_for_a_file_has_every_line(show):
    document, _ = looking_back(words=["שלום", "לכם", "טוב"])
    tab = show(page(document), "#view=text")
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="SVG").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert text.count("#b3261e") == 3 and text.count("שלום") >= 3 and text.count("&lt;s&gt;") == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(show, browser, tmp_path, scheme):
    document, _ = looking_back()
    for view in ("text", "heads", "matrix"):
        tab = show(page(document), f"#view={view}", color_scheme=scheme)
        assert problems(tab) == [], view
    hole = Shaded(("[CLS]", "a", "[MASK]"), np.full((1, 3), 1 / 3, np.float32), "dog", 0.5)
    path = save_answers([hole], tmp_path / "holes.html", "Holes", [document])
    with watched(browser, color_scheme=scheme) as tab:
        tab.goto(path.as_uri())
        tab.wait_for_selector(".live .save button")
        assert tab.get_by_role("heading", name="Every layer and head").count() == 1
        assert problems(tab) == []


def test_samples_are_text(browser, tmp_path):
    found = Samples("<b>It</b>", 1, {0.5: "<script>document.title = 'ran'</script>", 1.5: " \u05e9\u05dc\u05d5\u05dd"})
    path = tmp_path / "samples.html"
    body = f"<main><h1>x</h1>{samples_html({'a': found, 'b': found})}</main>"
    path.write_text(frame_html("Samples", body, STYLE), encoding="utf-8")
    with watched(browser) as tab:
        tab.goto(path.as_uri())
        assert tab.title() == "Samples" and tab.locator("td").count() == 4
        assert "<script>" in tab.locator("td").first.inner_text()
        assert problems(tab) == []
