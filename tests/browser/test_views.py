"""Lines, text and all heads in the browser, and figures side by side."""

import numpy as np
import pytest

from browser.documents import figure, layer, many_heads, merged, page, plain, side, soft, values
from browser.tabs import READOUT, cell, choose, drawn, sentence, shown_weights, until, words

# --- lines -------------------------------------------------------------------------------------------------


def drawn_lines(tab):
    """(row, column, width) of each line."""
    script = "all => all.map(e => [+e.dataset.row, +e.dataset.column, +e.getAttribute('stroke-width')])"
    return tab.locator(".strokes path").evaluate_all(script)


def test_lines_are_as_wide_as_weights_and_stop_at_the_threshold(show):
    document = plain()
    weights = words(document)
    tab = show(page(document), "#view=lines")
    lines = drawn_lines(tab)
    assert {(row, column) for row, column, _ in lines} == set(zip(*np.nonzero(weights >= 0.05), strict=True))
    widths = np.array([width for *_, width in lines])
    np.testing.assert_allclose(widths, [9 * weights[row, column] for row, column, _ in lines], atol=0.006)
    assert (np.diff(widths) >= -0.011).all(), "the strongest lie above"
    slider = tab.get_by_role("slider", name="Lines from")
    assert slider.input_value() == "0.05"
    slider.fill("0.4")
    until(tab, ".strokes path", int((weights >= 0.4).sum()))
    assert "threshold=0.4" in tab.evaluate("location.hash")


def test_more_lines_than_can_be_read_are_told(show):
    words_of = side([f"w{index}" for index in range(60)])
    flat = soft(np.random.default_rng(19), 1, 61, 61, sharp=0.5)
    tab = show(page(figure(words_of, words_of, [layer(flat)])), "#view=lines&threshold=0")
    assert tab.locator(".strokes path").count() == 3000
    assert "only the strongest 3000 of 3721 lines are drawn" in tab.locator(".caption").inner_text()
    tab.get_by_role("slider", name="Lines from").fill("0.05")
    until(tab, ".caption:has-text('only the strongest')", 0)


def second_word(tab, words, key, weights):
    """Go to the first of these words and by a key to the second; what that looked at, the strongest first."""
    tab.locator(words).first.focus()
    tab.keyboard.press(key)
    return np.argsort(-weights[1], kind="stable")


def test_lines_by_keyboard_go_through_what_a_word_looked_at(show):
    document = plain()
    weights = words(document)
    tab = show(page(document), "#view=lines")
    order = second_word(tab, "[role=option]", "ArrowDown", weights)
    assert tab.locator(READOUT).inner_text() == sentence(document, 1, order[0], weights)
    tab.keyboard.press("ArrowRight")
    assert tab.locator(READOUT).inner_text() == sentence(document, 1, order[1], weights)
    assert tab.locator("[role=option][aria-selected=true]").text_content() == document["target"]["words"][1]
    assert {line[0] for line in drawn_lines(tab)} > {1}
    assert tab.locator(".strokes path.on").count() == (weights[1] >= 0.05).sum()
    tab.keyboard.press("Enter")
    tab.locator("[role=option]").nth(6).hover()
    assert tab.locator(READOUT).inner_text() == sentence(document, 1, order[1], weights)
    tab.keyboard.press("Escape")
    tab.locator("[role=option]").nth(5).hover()
    assert tab.locator(READOUT).inner_text() == sentence(document, 5, weights[5].argmax(), weights)


def test_pointing_at_a_source_word_shows_who_looked_at_it(show):
    document = plain()
    tab = show(page(document), "#view=lines")
    tab.locator(".lookedAt text").nth(7).hover()
    assert tab.locator(".strokes path.on").count() == (words(document)[:, 7] >= 0.05).sum() > 0
    assert tab.locator(READOUT).inner_text() == ""


# --- text --------------------------------------------------------------------------------------------------


def test_text_shades_the_source_for_the_word_in_focus(show):
    document = plain()
    weights = words(document)
    tab = show(page(document), "#view=text")
    tab.get_by_role("button", name="économique", exact=True).hover()
    row = document["target"]["words"].index("économique")
    numbers = tab.locator(".slot small").all_text_contents()
    assert numbers == [f"{weight:.2f}" if weight >= 0.005 else "·" for weight in weights[row]]
    assert tab.locator(READOUT).inner_text() == sentence(document, row, weights[row].argmax(), weights)
    shades = tab.locator("span.word").evaluate_all("all => all.map(e => e.style.backgroundColor)")
    assert len({shades[column] for column in np.flatnonzero(weights[row] < 0.001)}) == 1
    assert shades[weights[row].argmax()] != shades[weights[row].argmin()]


def test_text_by_keyboard(show):
    document = plain()
    weights = words(document)
    tab = show(page(document), "#view=text")
    order = second_word(tab, "button.word", "ArrowRight", weights)
    tab.keyboard.press("ArrowDown")
    assert tab.locator(READOUT).inner_text() == sentence(document, 1, order[1], weights)
    tab.keyboard.press("Enter")
    assert tab.locator("button.word[aria-pressed=true]").text_content() == document["target"]["words"][1]
    tab.keyboard.press("Escape")
    assert tab.locator("button.word[aria-pressed=true]").count() == 0


def test_a_decoder_looks_back_at_the_start_and_links_are_of_both_sides(show):
    document = many_heads()
    document["chosen"] = {"kind": "decoder-self", "layer": 1, "heads": [2]}
    tab = show(page(document), "#view=matrix&look0=decoder-self.1.2")
    names = tab.locator(".columns text").all_text_contents()
    assert names[0] == "<s>", "it came first"
    assert names[1:] == document["target"]["words"][:-1]
    assert tab.locator(".links circle").count() == 0
    assert "<s> is the start of the sentence" in tab.locator("main").inner_text()


def test_machine_reading_moves_through_a_text_that_looks_at_itself(show):
    document = many_heads()
    tab = show(page(document), "#view=text&look0=decoder-self.1.2")
    weights = np.roll(values(document, 7)[2], 1, -1)[1:]  # each word at the step that reads it; the start first
    assert tab.locator(".side").all_text_contents() == ["target (reads itself)"]
    assert tab.locator("button.word").count() == len(document["target"]["words"]) - 1, "the end is not read"
    tab.get_by_role("button", name="Next word").click()
    assert tab.locator("button.word.now").text_content() == "t1"
    numbers = tab.locator(".slot small").all_text_contents()
    shown = [f"{weight:.2f}" if weight >= 0.005 else "·" for weight in weights[1]]
    empty = [weight == 0 and column > 2 for column, weight in enumerate(weights[1])]
    assert numbers == ["\u00a0" if hidden else told for told, hidden in zip(shown, empty, strict=True)]
    assert tab.locator(".place").inner_text() == f"word 2 of {len(weights)}"
    tab.get_by_role("button", name="Play").click()
    until(tab, ".word.now[data-row='2']", 1)
    tab.get_by_role("button", name="Pause").click()


def test_those_who_asked_for_less_motion_move_by_hand(show):
    tab = show(page(plain()), "#view=text", reduced_motion="reduce")
    assert tab.get_by_role("button", name="Play").count() == 0
    assert tab.get_by_role("button", name="Next word").count() == 1
    assert tab.locator(".word").first.evaluate("word => getComputedStyle(word).transitionDuration") == "0s"


# --- heads -------------------------------------------------------------------------------------------------


def test_all_heads_of_a_kind_and_opening_one(show):
    document = many_heads(layers=3, heads=5)
    tab = show(page(document), "#view=heads")
    assert tab.locator(".tile").count() == 3 * (5 + 1), "a mean for each layer"
    assert tab.locator(".tile.chosen").count() == 0, "the mean of two heads is none of the tiles"
    tab.get_by_role("gridcell", name="Layer 2, head 3 (cross)", exact=True).click()
    drawn(tab)
    tab.wait_for_selector("[role=grid].matrix")
    assert tab.locator(".look").inner_text() == "Layer 2, head 3 (cross)"
    np.testing.assert_allclose(shown_weights(tab), values(document, 1)[2], atol=1e-12)


def test_heads_by_keyboard(show):
    document = many_heads()
    tab = show(page(document), "#view=heads&look0=encoder-self.0.0")
    tab.locator(".tile[tabindex='0']").focus()
    for key in ("ArrowDown", "End"):
        tab.keyboard.press(key)
    assert (
        tab.evaluate("document.activeElement.getAttribute('aria-label')") == "Layer 2, mean of all heads (encoder-self)"
    )
    tab.keyboard.press("Enter")
    tab.wait_for_selector("[role=grid].matrix")
    np.testing.assert_allclose(shown_weights(tab), values(document, 4).mean(0), atol=1e-7)


def test_a_tile_is_its_heads_picture(show):
    """The strongest of each row is the darkest pixel of the tile's row."""
    document = many_heads()
    tab = show(page(document), "#view=heads")
    tab.wait_for_selector("[data-painted=all]")
    script = (
        "() => { const c = document.querySelectorAll('.tile canvas')[3];"
        "return [c.width, c.height, ...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]; }"
    )
    width, height, *data = tab.evaluate(script)
    weights = values(document, 0)[3]
    assert (height, width) == weights.shape
    light = np.array(data).reshape(height, width, 4)[..., :3].sum(-1)
    np.testing.assert_array_equal(light.min(1), np.take_along_axis(light, weights.argmax(1)[:, None], 1)[:, 0])


def test_menus_choose_kind_layer_and_heads(show):
    document = many_heads()
    tab = show(page(document))
    assert tab.locator(".look").inner_text() == "Layer 3, mean of heads 1, 3 (cross)"
    np.testing.assert_allclose(shown_weights(tab), values(document, 2)[[0, 2]].mean(0), atol=1e-7)
    assert tab.locator("select[name=heads] option:checked").text_content() == "Mean of heads 1, 3 (chosen)"
    tab.locator("select[name=attention]").select_option("decoder-self")
    until(tab, ".look:text-is('Layer 3, mean of all heads (decoder-self)')", 1)
    tab.locator("select[name=layer]").select_option("0")
    until(tab, ".look:text-is('Layer 1, mean of all heads (decoder-self)')", 1)
    tab.locator("select[name=heads]").select_option("3")
    until(tab, ".look:text-is('Layer 1, head 4 (decoder-self)')", 1)
    np.testing.assert_allclose(shown_weights(tab), np.roll(values(document, 6)[3], 1, -1), atol=1e-12)
    assert tab.locator(".caption").inner_text().startswith("rows = target (who looks) · columns = target")


COUNTING = (
    "window.inflated = 0; const Old = DecompressionStream;"
    "window.DecompressionStream = class extends Old { constructor(...a) { super(...a); window.inflated += 1; } };"
)


def test_six_layers_of_eight_heads_and_a_hundred_pieces(show, browser):
    document = many_heads(6, 8, 100, dtype="u2")
    tab = show(page(document))
    tab.add_init_script(COUNTING)
    tab.reload()
    drawn(tab)
    assert tab.evaluate("inflated") == 1, "a layer is decoded when it is shown"
    assert tab.evaluate("document.querySelectorAll('svg, svg *').length") < 5000
    choose(tab, "All heads")
    tab.wait_for_selector("[data-painted=all]")
    assert tab.evaluate("inflated") == 6, "the cross layers; the others have not been asked for"
    assert tab.locator(".tile").count() == 6 * 9
    assert tab.evaluate("document.querySelectorAll('svg, svg *').length") < 5000


# --- side by side ------------------------------------------------------------------------------------------


def test_two_figures_point_together_and_are_subtracted(show):
    one, other = plain(seed=7), plain(seed=13) | {"model": "transformer en-fr"}
    tab = show(page(one, other))
    apart = words(one) - words(other)
    tab.wait_for_selector(".difference [role=gridcell]")
    np.testing.assert_allclose(shown_weights(tab, ".difference"), apart, atol=1e-12)
    assert "rnnsearch en-fr minus transformer en-fr" in tab.locator(".difference .caption").inner_text()
    cell(tab, 5, 4).hover()
    said = tab.locator(".readout").all_text_contents()
    assert said == [sentence(one, 5, 4, words(one)), sentence(one, 5, 4, words(other)), sentence(one, 5, 4, apart)]
    cell(tab, 5, 4).click()
    assert tab.locator(".matrix.held").count() == 3
    tab.keyboard.press("Escape")
    assert tab.locator(".matrix.held").count() == 0


def test_a_held_cell_in_the_address_holds_in_both(show):
    tab = show(page(plain(seed=7), plain(seed=13)), "#hold0=5.4")
    until(tab, ".matrix.held", 3)


def test_other_words_are_not_subtracted_and_the_same_word_is_found(show):
    other = plain(target="accord sur la zone économique européenne l' a été signé .")
    one = plain()
    tab = show(page(one, other))
    assert tab.locator(".difference").is_hidden()
    row = one["target"]["words"].index("zone")
    cell(tab, row, 3).hover()
    there = other["target"]["words"].index("zone")
    assert there != row
    assert tab.locator(".readout").nth(1).inner_text() == sentence(other, there, 3, words(other))


# --- scripts -----------------------------------------------------------------------------------------------

ARABIC = "وُقِّع الاتفاق بشأن المنطقة الاقتصادية الأوروبية ."
JAPANESE = "欧州 経済 領域 に 関する 協定 は 署名 さ れ た 。"


@pytest.mark.parametrize(("text", "direction"), [(ARABIC, "rtl"), (JAPANESE, "ltr")])
def test_arabic_and_japanese(show, text, direction):
    """Labels keep their words and their order; running text runs its own way."""
    document = plain(target=text)
    tab = show(page(document))
    assert tab.locator(".rows text").all_text_contents() == document["target"]["words"]
    tops = tab.locator(".rows text").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert tops == sorted(tops)
    assert {*tab.locator(".rows text").evaluate_all("all => all.map(e => e.getAttribute('dir'))")} == {"auto"}
    np.testing.assert_allclose(
        shown_weights(tab), merged(values(document)[0], document["target"], document["source"]), atol=1e-12
    )
    choose(tab, "Text")
    tab.wait_for_selector("button.word")
    lefts = tab.locator("button.word").evaluate_all("all => all.map(e => e.getBoundingClientRect().left)")
    assert lefts == sorted(lefts, reverse=direction == "rtl")
    tab.locator("button.word").first.focus()
    tab.keyboard.press("ArrowLeft" if direction == "rtl" else "ArrowRight")
    assert tab.locator("button.word.now").text_content() == side(text.split())["words"][1]
