"""What the browser tests read from a tab, and do in it as a person would."""

import numpy as np
import pytest

from browser.documents import merged, values

READOUT = ".figures .figure:first-child .readout"


def drawn(tab):
    """Wait until every figure is drawn with its buttons."""
    tab.wait_for_selector(".figures .figure")
    until(tab, ".figures .figure:not(:has(.save button))", 0)


def until(tab, selector, count):
    """Wait until the page has so many of these. The page's policy forbids what other ways of waiting need."""
    from playwright.sync_api import expect

    expect(tab.locator(selector)).to_have_count(count)


def choose(tab, name):
    """Set a switch, as a person does who reads its name."""
    tab.get_by_role("radio", name=name, exact=True).check()


def cell(tab, row, column):
    """A cell of the first matrix."""
    return tab.locator(".figure [role=row]").nth(row).locator("[role=gridcell]").nth(column)


def shown_weights(tab, selector=".figure"):
    """The weights in the cells, as the page holds them, row by row."""
    script = "root => [...root.querySelectorAll('[role=row]')].map(r => [...r.children].map(c => +c.dataset.weight))"
    return np.array(tab.locator(selector).first.evaluate(script))


def words(document):
    """The weights between words that a page must show."""
    return merged(values(document)[0], document["target"], document["source"])


def sentence(document, row, column, weights):
    """What is read out for a cell."""
    return f"{document['target']['words'][row]} <- {document['source']['words'][column]}: {weights[row, column]:.3f}"


def problems(tab):
    """What axe reports: rule and element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is one of the dev dependencies")
    found = axe.Axe().run(tab).response["violations"]
    return [(each["id"], node["html"], node.get("failureSummary")) for each in found for node in each["nodes"]]
