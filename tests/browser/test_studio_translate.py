"""The page Translate of the studio: an alignment that is seen, read, moved through, saved, shared and steered."""

import csv
import io
import struct
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from browser.studio import LINE, asked, go, grid, is_sound, opened, pieces_translator, running, settled, translate
from browser.tabs import READOUT, cell, choose, until
from regard.align.record import Aligner
from regard.translate.translator import Translator
from serving import translator

LENGTH = 40  # pieces that a text may have here
ODD = "ja <script>alert(1)</script> </script> <img/src=x> 読む 她在读书 كتاب 🙂"


@pytest.fixture(scope="module")
def origin():
    toy = translator()
    shifted = Translator(toy.model, toy.source, toy.target, aligner=Aligner("cross", 1, (2,), shift=True), name="later")
    models = {"toy": toy, "pieces": pieces_translator(), "plain": translator("plain"), "later": shifted}
    with running(models, length=LENGTH) as found:
        yield found


@pytest.fixture
def tab(browser, origin):
    with opened(browser, origin) as found:
        go(found, origin + "/")
        yield found


def named(address, **query):
    return f"{address}/?" + "&".join(f"{name}={value}" for name, value in query.items())


# --- stories 1 and 2: see an alignment, read a number ------------------------------------------------------


def test_a_text_is_translated_and_its_alignment_shown(tab, origin):
    translate(tab, LINE)
    (best, *_) = asked(origin, inputs=LINE, model="toy", nbest=5)
    assert tab.get_by_test_id("output").inner_text() == best["text"]
    until(tab, "p[role=status]:has-text('Output: " + best["text"] + "')", 1)
    matrix = tab.get_by_role("grid")
    assert matrix.get_attribute("aria-label").startswith("Attention")
    weights = grid(tab)
    assert weights.shape == (len(best["target"]["words"]), len(best["source"]["words"]))
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-4)
    np.testing.assert_allclose(weights, best["alignment"]["matrix"], atol=1e-6)


def test_a_number_is_read_with_the_pointer(tab, origin):
    translate(tab, LINE)
    (best, *_) = asked(origin, inputs=LINE, model="toy", nbest=5)
    cell(tab, 2, 3).hover()
    weight = best["alignment"]["matrix"][2][3]
    told = f"{best['target']['words'][2]} <- {best['source']['words'][3]}: {weight:.3f}"
    assert tab.locator(READOUT).inner_text() == told
    assert tab.locator(".matrix [aria-current]").count() == 2


def test_every_piece_tells_how_sure_the_model_was(tab, origin):
    translate(tab, LINE)
    (best, *_) = asked(origin, inputs=LINE, model="toy", nbest=5, candidates=2)
    shown = [float(text) for text in tab.locator(".chip small").all_text_contents()]
    np.testing.assert_allclose(shown, best["piece_likelihoods"], atol=0.006)
    assert sum(best["piece_likelihoods"]) == pytest.approx(best["likelihood"], abs=1e-3)


def test_other_outputs_have_matrices_of_their_own(tab, origin):
    translate(tab, LINE)
    answers = asked(origin, inputs=LINE, model="toy", nbest=5)
    buttons = tab.locator(".nbest button")
    assert buttons.locator("bdi").all_text_contents() == [each["text"] for each in answers]
    buttons.nth(2).click()
    settled(tab)
    assert tab.get_by_test_id("output").inner_text() == answers[2]["text"]
    np.testing.assert_allclose(grid(tab), answers[2]["alignment"]["matrix"], atol=1e-6)
    assert "at=3" in tab.url


# --- story 3: keyboard only --------------------------------------------------------------------------------


def test_all_of_it_by_keyboard(tab):
    box = tab.get_by_label("Source", exact=True)
    tab.keyboard.press("Tab")
    while not box.evaluate("e => e === document.activeElement"):
        tab.keyboard.press("Tab")
    tab.keyboard.type(LINE)
    tab.keyboard.press("Control+Enter")
    settled(tab)
    tab.wait_for_selector("[role=grid]")
    for _ in range(6):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.getAttribute('role')") == "gridcell":
            break
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "gridcell"
    for key in ("ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "End", "ArrowRight"):
        tab.keyboard.press(key)
    assert "<- </s>: " in tab.locator(READOUT).inner_text()
    tab.keyboard.press("Enter")
    until(tab, ".readout.held", 1)
    tab.keyboard.press("Escape")
    until(tab, ".readout.held", 0)
    tab.keyboard.press("Escape")
    assert box.evaluate("e => e === document.activeElement")


def test_keys_go_to_pages_and_to_their_sheet(tab):
    tab.keyboard.press("?")
    assert tab.get_by_role("dialog", name="Keys").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.get_by_role("dialog", name="Keys").is_visible()
    tab.keyboard.press("8")
    tab.wait_for_url("**/api")
    tab.get_by_role("heading", name="API", exact=True).wait_for()


# --- story 4: words or pieces ------------------------------------------------------------------------------


def test_words_are_sums_and_means_of_pieces(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, named(origin, model="pieces", text="weiterlesende frauen lesen"))
        settled(tab)
        merged = grid(tab)
        choose(tab, "Pieces")
        best = asked(origin, inputs="weiterlesende frauen lesen", model="pieces", nbest=5, figure=True)[0]
        source, target = best["source"], best["target"]
        until(tab, ".figure [role=row]", len(target["pieces"]))
        weights = grid(tab)
        assert weights.shape == (len(target["pieces"]), len(source["pieces"])) > merged.shape
        assert merged.shape[1] == 4
        for row in range(len(target["words"])):
            ours = weights[[word == row for word in target["word"]]].mean(0)
            sums = [ours[[word == column for word in source["word"]]].sum() for column in range(len(source["words"]))]
            np.testing.assert_allclose(merged[row], sums, atol=1e-6)
        choose(tab, "Words")
        until(tab, ".figure [role=row]", merged.shape[0])
        np.testing.assert_array_equal(grid(tab), merged)


# --- story 5: export ---------------------------------------------------------------------------------------


def saved(tab, name):
    """The file that a button hands over: its name and what is in it."""
    with tab.expect_download() as found:
        tab.locator(".figure .save").get_by_role("button", name=name, exact=True).click()
    return found.value.suggested_filename, found.value.path().read_bytes()


def test_the_figure_is_saved_in_every_way(browser, tab, origin, tmp_path):
    translate(tab, LINE)
    weights = grid(tab)
    name, drawing = saved(tab, "SVG")
    root = ET.fromstring(drawing)
    assert name.startswith("toy") and len(root.findall(".//{*}rect")) == weights.size
    assert b"href" not in drawing and b'fill="#ffffff"' in drawing
    _, pixels = saved(tab, "PNG 2x")
    assert struct.unpack(">II", pixels[16:24]) == tuple(
        2 * round(float(root.get(side))) for side in ("width", "height")
    )
    _, table = saved(tab, "CSV")
    rows = list(csv.reader(io.StringIO(table.decode())))
    np.testing.assert_allclose([[float(each) for each in row[1:]] for row in rows[1:]], weights, atol=1e-6)
    name, page = saved(tab, "HTML")
    assert name.endswith(".html") and len(page) <= 300_000
    (tmp_path / "page.html").write_bytes(page)
    with opened(browser, "file:", offline=True) as other:
        other.goto((tmp_path / "page.html").as_uri())
        until(other, ".figure [role=gridcell]", weights.size)


# --- story 6: share a view ---------------------------------------------------------------------------------


def test_a_link_opens_the_same_view_and_back_goes_back(browser, tab, origin):
    translate(tab, LINE)
    translate(tab, "die frau und das kind")
    tab.get_by_role("radio", name="Per row maximum").check()
    cell(tab, 1, 2).click()
    until(tab, ".readout.held", 1)
    told = tab.locator(READOUT).inner_text()
    with opened(browser, origin) as other:
        go(other, tab.url)
        settled(other)
        until(other, ".readout.held", 1)
        assert other.locator(READOUT).inner_text() == told
        assert other.get_by_role("radio", name="Per row maximum").is_checked()
        assert other.get_by_label("Source", exact=True).input_value() == "die frau und das kind"
    tab.go_back()
    until(tab, ".columns text:has-text('liest')", 1)
    assert tab.get_by_label("Source", exact=True).input_value() == LINE
    tab.go_forward()
    until(tab, ".columns text:has-text('frau')", 1)
    settled(tab)


def test_the_text_is_seen_as_it_is_written(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/")
        tab.evaluate("""() => {
            window.seen = [];
            const look = () => {
                const text = document.querySelector("[data-testid=live]")?.previousElementSibling.textContent;
                if (text && text !== window.seen.at(-1)) window.seen.push(text);
            };
            new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
        }""")
        translate(tab, LINE)
        seen = tab.evaluate("window.seen")
    assert len(seen) > 2 and all(later.startswith(one) for one, later in pairwise(seen))


# --- stories 8 to 10: look elsewhere, another word, the tree -----------------------------------------------


def test_attention_is_edited_and_decoded_again(tab, origin):
    translate(tab, LINE)
    first, before = tab.get_by_test_id("output").inner_text(), grid(tab)
    tab.get_by_role("button", name="Edit the attention").click()
    cell(tab, 3, 4).click()
    until(tab, ".pins li", 1)
    until(tab, ".matrix .rows text.pinned", 1)
    tab.get_by_role("button", name="Decode again").click()
    tab.get_by_test_id("diff").wait_for()
    settled(tab)
    after = grid(tab)
    assert after[3, 4] >= 0.99
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-5)
    assert "pins=3%3A4" in tab.url
    tab.get_by_role("button", name="Reset").click()
    until(tab, "[data-testid=diff]", 0)
    settled(tab)
    assert tab.get_by_test_id("output").inner_text() == first
    np.testing.assert_array_equal(grid(tab), before)


def test_a_row_that_is_read_one_step_later_is_pinned_there(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, named(origin, model="later", text=LINE, beam=2))
        settled(tab)
        before = grid(tab)
        tab.keyboard.press("e")
        cell(tab, 2, 1).click()
        tab.get_by_role("button", name="Decode again").click()
        tab.get_by_test_id("diff").wait_for()
        settled(tab)
        after = grid(tab)
        assert after[2, 1] >= 0.99
        np.testing.assert_allclose(after[:2], before[:2], atol=1e-5)


def test_a_model_that_does_not_attend_says_so(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, named(origin, model="plain", text=LINE))
        until(tab, ".none:has-text('does not attend')", 1)
        assert tab.get_by_test_id("output").inner_text() == asked(origin, inputs=LINE, model="plain")[0]["text"]
        assert tab.get_by_role("button", name="Edit the attention").is_disabled()


def test_another_piece_is_chosen(tab, origin):
    translate(tab, LINE)
    (best, *_) = asked(origin, inputs=LINE, model="toy", nbest=5, candidates=8)
    tab.locator(".chip").nth(4).click()
    chances = [float(text) for text in tab.locator(".candidates small").all_text_contents()]
    assert len(chances) >= 5 and chances == sorted(chances, reverse=True) and sum(chances) <= 1.001
    second = next(each for each in best["candidates"][4][1:] if each["id"] != 2)
    place = best["candidates"][4].index(second)
    tab.locator(".candidates button").nth(place).click()
    tab.get_by_test_id("diff").wait_for()
    settled(tab)
    chips = [text.strip() for text in tab.locator(".chip bdi").all_text_contents()]
    assert chips[:5] == [piece.strip() for piece in [*best["pieces"][:4], second["piece"]]]


def test_the_tree_holds_the_outputs_and_chooses_one(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, named(origin, text=LINE, beam=4))
        settled(tab)
        tab.get_by_text("Beam tree").click()
        tab.locator(".tree").wait_for()
        nodes = tab.locator(".tree .node").evaluate_all(
            "all => all.map(e => [+e.dataset.depth, e.dataset.ended === 'true', e.classList[1]])"
        )
        assert [depth for depth, *_ in nodes].count(0) == 1
        for depth in range(1, max(depth for depth, *_ in nodes) + 1):
            assert sum(each == depth and not ended for each, ended, _ in nodes) <= 4 * 4
            assert sum(each == depth and kind != "dead" for each, _, kind in nodes) <= 4  # as many as there are outputs
        bold = tab.locator(".tree .chosen text").evaluate_all("all => all.map(e => e.firstChild.textContent)")
        answers = asked(origin, inputs=LINE, model="toy", beam=4, nbest=4, tree=True)
        assert bold[:-1] == [piece.strip() for piece in answers[0]["pieces"]]
        tab.get_by_role("button", name="Output 2", exact=True).click()
        settled(tab)
        assert tab.get_by_test_id("output").inner_text() == answers[1]["text"]
        np.testing.assert_allclose(grid(tab), answers[1]["alignment"]["matrix"], atol=1e-6)


# --- story 14: errors are human ----------------------------------------------------------------------------


def test_what_is_wrong_is_told_in_words(browser, origin):
    with opened(browser, origin, complaints=("400",)) as tab:
        go(tab, origin + "/")
        send = tab.get_by_role("button", name="Translate", exact=True)
        assert send.is_disabled()
        tab.get_by_label("Source", exact=True).fill(" ".join(["ja"] * 97))
        send.click()
        alert = tab.locator(".alert")
        alert.wait_for()
        assert alert.inner_text() == f"Too long: 97 tokens, limit {LENGTH}"
        translate(tab, "ja")
        assert not alert.is_visible()


def test_odd_words_are_words(tab):
    translate(tab, ODD)
    shown = tab.locator(".columns text").evaluate_all("all => all.map(e => e.firstChild.textContent)")
    assert shown[:-1] == ODD.split(" ")
    assert tab.locator("main script, main img").count() == 0


def test_a_server_that_goes_and_comes_back(browser):
    with running({"toy": translator()}) as first:
        port = int(first.rsplit(":", 1)[1])
        context = opened(browser, first, complaints=("ERR_CONNECTION_REFUSED",))
        tab = context.__enter__()
        go(tab, first + "/")
        tab.get_by_label("Source", exact=True).fill("ja")
    tab.locator("p.gone").wait_for(timeout=3000)
    assert tab.get_by_role("button", name="Translate", exact=True).is_disabled()
    with running({"toy": translator()}, port=port):
        tab.locator("p.gone").wait_for(state="hidden", timeout=3000)
        tab.get_by_role("button", name="Translate", exact=True).click()
        tab.wait_for_selector(".figures .figure .save button")
        context.__exit__(None, None, None)


def test_a_key_is_asked_for(browser):
    with running({"toy": translator()}, keys=(("me", "secret"),)) as home, opened(browser, home, ("401",)) as tab:
        tab.goto(home + "/")
        tab.get_by_role("textbox", name="Key").fill("secret")
        tab.get_by_role("button", name="Use this key").click()
        tab.wait_for_selector("main[data-ready]")
        translate(tab, "ja")
        assert tab.locator(".figures .figure .save button").count()


def test_the_page_is_sound(browser, origin):
    def ready(tab):
        settled(tab)
        tab.wait_for_selector(".figure .save button")

    is_sound(browser, origin, "/?text=der+mann+liest+ein+buch", ready)
