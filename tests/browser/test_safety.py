"""What must hold for any sentence and any reader: nothing runs but ours, everyone can read it, it works in a frame."""

import html
import re

import numpy as np
import pytest

from browser.documents import END, HOSTILE, diagonal, figure, layer, many_heads, page, plain, side, square
from browser.tabs import cell, choose, drawn, problems, until
from regard.show.page import embed_html, page_html, write_page


def hostile():
    """A figure of words that would be markup, code or nothing if they were let."""
    rng = np.random.default_rng(17)
    left, right = side(HOSTILE), side(list(reversed(HOSTILE)))
    weights = diagonal(rng, len(HOSTILE) + 1, len(HOSTILE) + 1)
    evil = "</title></script><script>alert(2)</script>"
    scores = {evil: {"value": 1, "meaning": evil}}
    return figure(left, right, [layer(weights)], title=evil, model=evil, note=evil, scores=scores)


@pytest.mark.parametrize("view", ["Matrix", "Lines", "Text", "All heads"])
def test_hostile_words_are_words(show, view):
    """The fixture fails the test on any dialog, error or request."""
    tab = show(page(hostile(), title="</title><script>alert(3)</script>"))
    choose(tab, view)
    drawn(tab)
    assert tab.title() == "</title><script>alert(3)</script>"
    assert tab.locator("script").count() == 2
    assert tab.locator("img, b, iframe").count() == 1, "the one <b> is ours: the value of the score"
    assert tab.locator("h2.title").inner_text().startswith("</title></script>")


def test_hostile_words_in_the_matrix(show):
    tab = show(page(hostile()))
    whole = "all => all.map(label => (label.querySelector('title') ?? label).textContent)"
    assert tab.locator(".columns text").evaluate_all(whole) == [*HOSTILE, END]
    assert tab.locator(".columns text").nth(8).text_content() == "(empty)", "nothing would be seen of an empty word"
    long = tab.locator(".columns text").nth(10)
    assert long.locator("title").text_content() == "x" * 400
    assert long.evaluate("label => label.getBBox().width") < 200
    cell(tab, 0, 0).hover()
    assert re.fullmatch(r".* <- </script>: \d\.\d{3}", tab.locator(".readout").inner_text())


def test_nothing_but_our_script_may_run(browser, tmp_path):
    """Even if markup were to get in: the policy refuses its scripts, handlers, styles and requests."""
    intruder = (
        "<script>window.ran = 1</script><img src='data:,' onerror='window.ran = 2'>"
        "<style>h1 { display: none }</style><img src='http://studio.test/spy.png'>"
    )
    text = page_html(page(plain()))
    path = tmp_path / "page.html"
    path.write_text(text.replace("</body>", f"{intruder}</body>"), "utf-8")
    with browser.new_context() as context:
        tab, refused = context.new_page(), []
        tab.on("console", lambda message: refused.append(message.text))
        tab.goto(path.as_uri())
        drawn(tab)
        assert tab.evaluate("window.ran") is None
        assert tab.locator("h1").is_visible()
        assert len([each for each in refused if "Content Security Policy" in each]) == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(show, scheme):
    tab = show(page(many_heads(layers=2, heads=3)), color_scheme=scheme)
    for view, drawing in {
        "Lines": ".lines",
        "Text": ".text",
        "All heads": "[data-painted]",
        "Matrix": ".matrix",
    }.items():
        choose(tab, view)
        until(tab, drawing, 1)
        assert problems(tab) == [], view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_other_pages(show, scheme):
    assert problems(show(page(plain(seed=7), plain(seed=13)), "#hold0=5.4", color_scheme=scheme)) == []
    assert problems(show(page(square(61)), color_scheme=scheme)) == []


def test_dark_mode_by_the_system_and_by_hand(show):
    paper = "getComputedStyle(document.body).backgroundColor"
    empty = "document.querySelector('[role=row]').lastElementChild.getAttribute('fill')"
    light, dark = show(page(plain()), color_scheme="light"), show(page(plain()), color_scheme="dark")
    day, night = light.evaluate(paper), dark.evaluate(paper)
    assert sum(map(int, re.findall(r"\d+", day)[:3])) > 600 > 200 > sum(map(int, re.findall(r"\d+", night)[:3]))
    assert int(light.evaluate(empty)[1:3], 16) > 200 > 80 > int(dark.evaluate(empty)[1:3], 16)
    choose(light, "Dark")
    until(light, f"rect[fill='{dark.evaluate(empty)}'] >> nth=0", 1)
    assert light.evaluate(paper) == night
    choose(dark, "Light")
    assert dark.evaluate(paper) == day
    dark.emulate_media(color_scheme="light")
    choose(dark, "Auto")
    assert dark.evaluate(paper) == day


def test_a_change_of_the_systems_colours_is_followed(show):
    tab = show(page(plain()), color_scheme="light")
    before = cell(tab, 0, 13).get_attribute("fill")
    tab.emulate_media(color_scheme="dark")
    until(tab, f"rect[fill='{before}']", 0)


def test_it_works_in_a_notebooks_frame(show, browser, tmp_path):
    """A sandboxed frame has no address and no origin of its own: it must be drawn, read and saved all the same."""
    around = tmp_path / "notebook.html"
    around.write_text(f"<!doctype html><meta charset='utf-8'><title>n</title>{embed_html(page(plain()), 700)}", "utf-8")
    tab = show(page(plain()))
    tab.goto(around.as_uri())
    frame = tab.frame_locator("iframe")
    frame.locator(".save button").first.wait_for()
    assert frame.locator("[role=gridcell]").count() == 15 * 14
    frame.locator("[role=gridcell]").nth(20).click()
    assert " <- " in frame.locator(".readout").inner_text()
    frame.get_by_role("radio", name="Lines").check()
    frame.locator(".strokes path").first.wait_for()
    for label in ("SVG", "PNG 2x", "CSV"):
        with tab.expect_download() as waiting:
            frame.get_by_role("button", name=label, exact=True).click()
        assert waiting.value.path().stat().st_size > 500


def test_a_reader_without_scripts_is_told(browser, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(write_page(page(plain()), tmp_path / "page.html").as_uri())
    assert "please allow scripts" in html.unescape(tab.content())
    context.close()


def test_a_drawn_page_that_was_saved_is_drawn_again(show, browser, tmp_path):
    """A browser saves a page as it stands: with its figures, and with the script that draws them."""
    copy = tmp_path / "copy.html"
    copy.write_text(show(page(plain(), plain(seed=13))).content(), encoding="utf-8")
    with browser.new_context() as context:  # the policy refuses the sizes in the saved figures, and the console says so
        tab = context.new_page()
        tab.goto(copy.as_uri())
        drawn(tab)
        assert tab.locator(".figures .figure").count() == 2
        assert tab.locator("form.controls").count() == 1
