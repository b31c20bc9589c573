"""The page Evaluate of the studio: BLEU by length, and every sentence in a table."""

import httpx2
import pytest
import sacrebleu

from browser.studio import go, is_sound, opened, running
from browser.tabs import until
from serving import LINES, OTHERS, translator

SOURCES = [*LINES, "die frau liest", "ein kind", "der mann und die frau", "das kind liest ein buch heute", "das buch"]
REFERENCES = [
    *OTHERS,
    "the woman reads",
    "a child",
    "the man and the woman",
    "the child reads a book today",
    "the book",
]


@pytest.fixture(scope="module")
def origin():
    with running({"toy": translator(), "other": translator("luong")}) as found:
        yield found


def evaluate(tab):
    tab.get_by_label("Words a bin").fill("3")
    tab.get_by_label("Sources", exact=True).fill("\n".join(SOURCES))
    tab.get_by_label("References", exact=True).fill("\n".join(REFERENCES))
    tab.get_by_role("button", name="Evaluate", exact=True).click()
    tab.wait_for_selector("tbody tr")


def column(tab, title):
    """The cells of a column."""
    titles = [text.strip() for text in tab.locator("thead th").all_text_contents()]
    return tab.locator(f"tbody td:nth-child({titles.index(title) + 1})").all_text_contents()


def test_bleu_by_length(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/evaluate")
        evaluate(tab)
        outputs = [each[0]["text"] for each in httpx2.post(
            f"{origin}/api/v1/answer", json={"model": "toy", "inputs": SOURCES}).json()["answers"]]  # fmt: skip
        assert column(tab, "Output") == outputs
        bins = [(1, 3), (4, 6), (7, 9)]
        rows = [[i for i, line in enumerate(SOURCES) if low <= len(line.split()) <= high] for low, high in bins]
        counts = [int(text) for text in tab.locator(".plot .counts text").all_text_contents()]
        assert counts == [len(each) for each in rows] and sum(counts) == len(SOURCES)
        shown = [float(each) for each in tab.locator(".plot .dot").evaluate_all("all => all.map(e => e.dataset.y)")]
        right = [sacrebleu.corpus_bleu([outputs[i] for i in each], [[REFERENCES[i] for i in each]], force=True).score
                 for each in rows]  # fmt: skip
        assert shown == pytest.approx(right, abs=0.05)
        assert tab.locator(".signature").first.inner_text().startswith("nrefs:1|")
        tab.locator(".plot .dot").nth(1).click()
        until(tab, "tbody tr", len(rows[1]))
        first = column(tab, "Source")[0]
        tab.locator("tbody tr").first.focus()
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/?model=toy&text=*")
        tab.wait_for_selector("main[data-ready]")
        assert tab.get_by_label("Source", exact=True).input_value() == first


def test_two_models_side_by_side(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/evaluate")
        tab.get_by_label("Beside it").select_option("other")
        evaluate(tab)
        assert tab.locator(".plot .line").count() == 2
        table = tab.locator("tbody tr")
        assert table.count() == len(SOURCES)
        tab.get_by_role("button", name="Change").click()
        changes = [float(text) for text in column(tab, "Change")]
        assert changes == sorted(changes, reverse=True)


def test_lines_must_be_as_many(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/evaluate")
        tab.get_by_label("Sources", exact=True).fill("ja\nja")
        tab.get_by_label("References", exact=True).fill("yes")
        assert tab.get_by_role("button", name="Evaluate", exact=True).is_disabled()
        until(tab, ".send:has-text('2 sources, 1 references')", 1)


def test_the_route_tells_what_is_wrong(origin):
    found = httpx2.post(
        f"{origin}/api/v1/evaluate", json={"sources": ["a"], "outputs": ["a", "b"], "references": ["a"]}
    )
    assert found.status_code == 400 and "lists of one length" in found.json()["error"]["message"]
    found = httpx2.post(f"{origin}/api/v1/evaluate", json={"sources": [], "outputs": [], "references": []})
    assert found.status_code == 422


def test_the_page_is_sound(browser, origin):
    is_sound(browser, origin, "/evaluate", evaluate)
