"""The report of a comparison in the browser: many groups of figures on one page."""

from itertools import pairwise

import pytest

from browser.documents import HOSTILE
from browser.tabs import choose, drawn, problems, until
from compare.made import attending, blind, report

SOURCE = ["the", "honest", "architect", "signed", "the", "agreement", "."]
TARGETS = [
    ["l'", "architecte", "a", "signé", "l'", "accord", "."],
    ["l'", "architecte", "honnête", "a", "signé", "."],
]
OTHER, ANSWER = ["a", "cat", "sleeps", "."], ["un", "chat", "dort", "."]


@pytest.fixture
def compared(tmp_path):
    """Two arms that attend and one that does not; of the second sentence both write the same."""
    first = [attending(SOURCE, words, seed=seed) for seed, words in enumerate(TARGETS)]
    second = [attending(OTHER, ANSWER, layers=2, heads=3, seed=seed) for seed in (5, 7)]
    sentences = [(SOURCE, [*first, blind(TARGETS[0])]), (OTHER, [*second, blind(ANSWER)])]
    return report(tmp_path, ["one", "two", "plain"], sentences)


def group(tab, number):
    """The figures of a sentence."""
    return tab.locator("[data-regard=figures]").nth(number)


def cell(tab, number, row, column):
    """A cell of the first figure of a sentence."""
    return group(tab, number).locator("[role=row]").nth(row).locator("[role=gridcell]").nth(column)


def test_each_sentence_has_its_figures_under_its_heading(visit, compared):
    tab = visit(compared)
    assert [group(tab, number).locator(".figures .title").all_text_contents() for number in (0, 1)] == [
        ["one", "two"]
    ] * 2
    assert tab.locator(".model").count() == 0, "the arm's label is said once"
    assert tab.locator("form.controls").count() == 1
    assert tab.locator(".written dd").nth(4).inner_text() == "l' architecte a signé l' accord . It does not attend."
    levels = tab.locator("h1, h2, h3, h4, h5, h6").evaluate_all("all => all.map(e => +e.tagName[1])")
    assert levels[0] == 1 == levels.count(1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tab.evaluate("[...document.images].every(image => image.naturalWidth > 100)")


def test_arms_point_together_and_sentences_apart(visit, compared):
    tab = visit(compared)
    cell(tab, 0, 1, 2).hover()
    said = group(tab, 0).locator(".figures .readout").all_text_contents()
    assert [each.rpartition(":")[0] for each in said] == ["architecte <- architect"] * 2
    assert group(tab, 1).locator(".readout").all_text_contents() == [""] * 3
    cell(tab, 1, 2, 0).click()
    assert group(tab, 1).locator(".matrix.held").count() == 3, "two arms and their difference"
    assert group(tab, 0).locator(".matrix.held").count() == 0


def test_the_switches_are_for_the_whole_page(visit, compared):
    tab = visit(compared)
    choose(tab, "Lines")
    until(tab, ".figures .lines", 4)
    until(tab, ".figures .matrix", 0)


def test_the_address_numbers_figures_through_the_page(visit, compared):
    tab = visit(compared)
    group(tab, 1).locator("select[name=heads]").nth(1).select_option("2")
    choose(tab, "Pieces")
    until(tab, ".look:text-is('Layer 1, head 3 (cross)')", 1)
    cell(tab, 1, 0, 0).click()
    address = tab.evaluate("location.hash")
    assert address == "#unit=pieces&hold2=0.0&look3=cross.0.2&hold3=0.0"
    again = visit(compared, address)
    until(again, ".figures .matrix.held", 2)
    assert group(again, 0).locator(".held").count() == 0
    assert group(again, 1).locator(".look").all_text_contents() == [
        "Layer 1, head 1 (cross)",
        "Layer 1, head 3 (cross)",
    ]


def test_many_arms_wrap_and_stay_readable(visit, tmp_path):
    found = [attending(SOURCE, TARGETS[0], seed=seed) for seed in range(5)]
    tab = visit(report(tmp_path, [f"arm {number}" for number in range(5)], [(SOURCE, found)]))
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    boxes = tab.locator(".figures .figure").evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    assert min(box["width"] for box in boxes) >= 480
    assert len({box["top"] for box in boxes}) == 3, "two in a row"
    assert tab.locator(".difference").count() == 0


def test_the_table_of_many_arms_is_not_cut(visit, tmp_path):
    """At the width of a laptop all columns are there; long labels are broken, and so are intervals."""
    labels = [f"luong attend.score=dot number={number}" for number in range(7)]
    found = [attending(OTHER, ANSWER, seed=seed) for seed in range(7)]
    tab = visit(report(tmp_path, labels, [(OTHER, found)]), viewport={"width": 1200, "height": 800})
    widths = tab.locator(".wide:has(table)").evaluate_all("all => all.map(e => [e.scrollWidth, e.clientWidth])")
    assert len(widths) == 3
    assert all(inside <= outside for inside, outside in widths)


def test_labels_run_in_their_own_direction(visit, tmp_path):
    tab = visit(report(tmp_path, ["שלום 7", "plain"], [(OTHER, [attending(OTHER, ANSWER)] * 2)]))
    assert tab.locator("tbody th").nth(0).evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert tab.locator("tbody th").nth(1).evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_hostile_arms_and_words(visit, tmp_path):
    """The fixture fails the test on any dialog, error or request."""
    label = "</title></script><script>alert(2)</script>"
    tab = visit(report(tmp_path, [label, "plain"], [(HOSTILE, [attending(HOSTILE, HOSTILE), blind(HOSTILE)])]))
    assert tab.locator(".figures .title").inner_text() == label
    assert tab.locator("script").count() == 2
    choose(tab, "Text")
    drawn(tab)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_report(visit, compared, scheme):
    tab = visit(compared, "#hold0=1.2", color_scheme=scheme)
    assert problems(tab) == []
    choose(tab, "All heads")
    until(tab, "[data-painted]", 4)
    assert problems(tab) == []
