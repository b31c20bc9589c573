"""The matrix in the browser: cells, sums, what is said, keyboard, words and pieces, large sentences."""

import json

import numpy as np
import pytest

from browser.documents import END, diagonal, figure, layer, page, plain, side, square, values
from browser.tabs import READOUT, cell, choose, sentence, shown_weights, until, words


def test_cells_are_the_documents_numbers(show):
    document = plain()
    tab = show(page(document))
    weights = shown_weights(tab)
    assert weights.shape == (15, 14)
    assert tab.locator("[role=gridcell]").count() == 15 * 14
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(weights, words(document), atol=1e-12)


def test_the_figure_says_what_its_axes_are(show):
    tab = show(page(plain()))
    told = tab.locator(".caption").inner_text()
    assert told == "rows = target (who looks) · columns = source (what is looked at) · each row sums to 1"
    assert tab.locator(".look").inner_text() == "Layer 1, head 1 (cross)"
    assert tab.locator("footer").inner_text().startswith("Attention shows where the model looked, not why.")
    assert tab.locator(".key svg").get_attribute("aria-label") == "Colours: weight from 0 to 1"
    choose(tab, "Per row maximum")
    assert tab.locator(".key").inner_text().split() == ["0", "row's", "maximum"]


def test_per_row_maximum_gives_each_row_one_full_cell(show):
    document = plain()
    tab = show(page(document), "#scale=row")
    script = "rows => rows.map(row => [...row.children].map(cell => cell.getAttribute('fill')))"
    fills = tab.locator(".figure [role=row]").evaluate_all(script)
    best = words(document).argmax(1)
    full = {row[column] for row, column in zip(fills, best, strict=True)}
    assert len(full) == 1
    assert all(row.count(next(iter(full))) == 1 for row in fills)


def test_rows_that_do_not_sum_to_one_are_told(show):
    document = plain()
    weights = values(document)
    weights[0, 2] *= 0.5
    tab = show(page(document | {"attention": [layer(weights)]}))
    assert "rows need not sum to 1" in tab.locator(".caption").inner_text()
    assert "each row" not in tab.locator(".caption").inner_text()


def test_hover_reads_the_number(show):
    document = plain()
    weights = words(document)
    tab = show(page(document))
    for row, column in ((0, 1), (6, 7), (14, 13)):
        cell(tab, row, column).hover()
        assert tab.locator(READOUT).inner_text() == sentence(document, row, column, weights)
    marked = tab.locator("text[aria-current]").all_text_contents()
    assert marked == [END, END]
    assert tab.locator(READOUT).get_attribute("aria-live") == "polite"
    tab.mouse.move(2, 2)
    assert tab.locator(READOUT).inner_text() == ""


def test_a_click_holds_and_escape_lets_go(show):
    document = plain()
    weights = words(document)
    tab = show(page(document))
    cell(tab, 3, 2).click()
    cell(tab, 9, 9).hover()
    assert tab.locator(READOUT).inner_text() == sentence(document, 3, 2, weights)
    assert tab.locator(".matrix.held").count() == 1
    tab.keyboard.press("Escape")
    assert tab.locator(".matrix.held").count() == 0
    cell(tab, 9, 8).hover()
    assert tab.locator(READOUT).inner_text() == sentence(document, 9, 8, weights)


def test_keyboard_alone(show):
    document = plain()
    weights = words(document)
    tab = show(page(document))

    def at():
        label = tab.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label == tab.locator(READOUT).inner_text()
        return label

    for _ in range(12):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.getAttribute('role')") == "gridcell":
            break
    assert at() == sentence(document, 0, 0, weights)
    moves = [("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("ArrowLeft", 1, 0), ("ArrowLeft", 1, 0), ("ArrowUp", 0, 0),
             ("ArrowUp", 0, 0), ("End", 0, 13), ("ArrowRight", 0, 13), ("PageDown", 10, 13), ("PageDown", 14, 13),
             ("Home", 14, 0), ("PageUp", 4, 0), ("Control+End", 14, 13), ("Control+Home", 0, 0)]  # fmt: skip
    for key, row, column in moves:
        tab.keyboard.press(key)
        assert at() == sentence(document, row, column, weights), key
    assert tab.locator("[role=gridcell][tabindex='0']").count() == 1
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert tab.locator(".matrix.held").count() == 1
    tab.keyboard.press("ArrowRight")
    assert at() == sentence(document, 1, 1, weights), "a held cell goes along"
    tab.keyboard.press("Escape")
    assert tab.locator(".matrix.held").count() == 0


def test_words_and_pieces(show):
    document = plain()
    tab = show(page(document))
    before = shown_weights(tab)
    choose(tab, "Pieces")
    until(tab, "[role=row]", 18)
    np.testing.assert_allclose(shown_weights(tab), values(document)[0], atol=1e-12)
    assert tab.locator(".columns text").all_text_contents() == document["source"]["pieces"]
    choose(tab, "Words")
    until(tab, "[role=row]", 15)
    np.testing.assert_array_equal(shown_weights(tab), before)


def test_the_end_of_the_sentence_can_be_hidden_and_is_explained(show):
    document = plain()
    tab = show(page(document))
    assert "is the end of the sentence" in tab.locator(".quiet").first.inner_text()
    tab.get_by_text("End of sentence").click()
    until(tab, "[role=row]", 14)
    np.testing.assert_allclose(shown_weights(tab), words(document)[:-1, :-1], atol=1e-12)
    assert "is hidden" in tab.locator(".quiet").first.inner_text()
    assert "rows need not sum to 1" in tab.locator(".caption").inner_text()


def test_links_are_rings_between_words_only(show):
    document = plain()
    tab = show(page(document))
    assert tab.locator(".links circle").count() == len(document["links"])
    choose(tab, "Pieces")
    until(tab, "[role=row]", 18)
    assert tab.locator(".links circle").count() == 0


def test_two_hundred_words_are_a_canvas_with_one_cell(show):
    document = square(200)
    weights = words(document)
    tab = show(page(document))
    assert tab.evaluate("document.querySelectorAll('svg, svg *').length") < 5000
    assert tab.locator("[role=gridcell]").count() == 1
    grid = tab.locator("[role=grid]")
    assert [grid.get_attribute(f"aria-{name}count") for name in ("row", "col")] == ["200", "200"]
    tab.locator(".mover").focus()
    tab.keyboard.press("Control+End")
    assert tab.locator(READOUT).inner_text() == sentence(document, 199, 199, weights)
    mover = tab.locator(".mover")
    assert mover.get_attribute("aria-label") == sentence(document, 199, 199, weights)
    assert mover.get_attribute("aria-colindex") == "200"
    assert mover.evaluate("(cell) => cell.parentElement.getAttribute('aria-rowindex')") == "200"
    inside = "(cell) => { const c = cell.getBoundingClientRect(), s = cell.closest('.stage').getBoundingClientRect();"
    assert mover.evaluate(inside + "return c.right <= s.right + 1 && c.bottom <= s.bottom + 1 && c.top > s.top; }")
    painted = "() => { const c = document.querySelector('.matrix canvas'); return [c.width, c.height]; }"
    assert tab.evaluate(painted) == [200, 200]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_painted_cells_have_the_colours_of_drawn_ones(show, scheme):
    """The same weights above and below the number of cells from which a canvas is used."""
    rng = np.random.default_rng(11)
    weights = diagonal(rng, 53, 47)
    left, right = side([f"s{index}" for index in range(46)]), side([f"t{index}" for index in range(52)])
    small = figure(left, right, [layer(weights)])
    drawn = show(page(small), color_scheme=scheme)
    assert drawn.locator("rect[role=gridcell]").count() == 53 * 47
    script = "() => [...document.querySelectorAll('rect[role=gridcell]')].slice(0, 47).map(c => c.getAttribute('fill'))"
    fills = drawn.evaluate(script)
    wide = np.concatenate([weights, np.zeros((1, 53, 13))], 2)
    large = figure(side([f"s{index}" for index in range(59)]), right, [layer(wide)])
    painted = show(page(large), color_scheme=scheme)
    script = "() => [...document.querySelector('.matrix canvas').getContext('2d').getImageData(0, 0, 47, 1).data]"
    pixels = np.array(painted.evaluate(script)).reshape(47, 4)
    assert [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue, _ in pixels.tolist()] == fills


def test_the_address_keeps_what_was_set(show):
    document = plain()
    tab = show(page(document))
    choose(tab, "Pieces")
    until(tab, "[role=row]", 18)
    choose(tab, "Per row maximum")
    choose(tab, "Dark")
    cell(tab, 4, 5).click()
    address = tab.evaluate("location.hash")
    assert address == "#unit=pieces&scale=row&theme=dark&hold0=4.5"
    again = show(page(document), address)
    assert again.locator("[role=row]").count() == 18
    assert again.locator(READOUT).inner_text() == tab.locator(READOUT).inner_text() != ""
    assert again.locator(".matrix.held").count() == 1
    assert again.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("address", ["#view=nothing&look0=cross.7.9&hold0=99.99&threshold=-3", "#hold0=%3Cb%3E&unit=x"])
def test_an_address_that_asks_wrongly_changes_nothing(show, address):
    document = plain()
    tab = show(page(document), address)
    np.testing.assert_allclose(shown_weights(tab), words(document), atol=1e-12)
    assert tab.locator(".held").count() == 0


def test_the_document_is_the_one_that_was_given(show):
    given = page(plain())
    assert json.loads(show(given).locator("script[type='application/json']").text_content()) == given
