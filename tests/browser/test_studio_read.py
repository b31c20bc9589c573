"""The page Read of the studio: a text through a language model, a classifier, a tagger."""

import httpx2
import pytest

import regard
from answering import trained
from browser.studio import go, is_sound, opened, running, settled

LINE = "the key to the doors is here ."


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    with running({name: regard.load(trained(folder, name)) for name in ("needle", "agreement", "tagged")}) as found:
        yield found


def read(tab, origin, model):
    go(tab, f"{origin}/read?model={model}&text={LINE}")
    settled(tab)
    tab.wait_for_selector(".figure .save button")


def test_a_language_model_tells_how_likely_each_word_was(browser, origin):
    with opened(browser, origin) as tab:
        read(tab, origin, "agreement")
        told = httpx2.post(f"{origin}/api/v1/score", json={"model": "agreement", "source": "", "target": LINE}).json()
        assert tab.locator(".chips bdi").all_text_contents() == [word.strip() for word in told["words"][0]]
        shown = [float(text) for text in tab.locator(".chips small").all_text_contents()]
        assert shown == pytest.approx(told["word_likelihoods"][0], abs=0.006)
        tab.locator(".figure button.word").nth(3).click()
        assert " <- " in tab.locator(".readout").inner_text()
        assert tab.locator(".figure button.word.current").inner_text() == "the"
        tab.get_by_role("button", name="Go on writing").click()
        tab.get_by_role("button", name="Read this").wait_for()
        written = tab.get_by_test_id("written").inner_text()
        assert written.startswith(LINE) and len(written) > len(LINE)


def test_a_classifier_tells_its_classes_and_what_it_looked_at(browser, origin):
    with opened(browser, origin) as tab:
        read(tab, origin, "needle")
        shares = [float(text) for text in tab.locator(".shares small").all_text_contents()]
        assert sum(shares) == pytest.approx(1, abs=0.002)
        best = httpx2.post(f"{origin}/api/v1/answer", json={"model": "needle", "inputs": LINE}).json()["answers"][0][0]
        assert tab.get_by_test_id("output").inner_text() == best["text"]
        numbers = tab.locator(".slot small").all_text_contents()
        assert numbers == [f"{weight:.2f}" for weight in best["looks"][0]]


def test_a_tagger_tells_the_tag_of_each_word(browser, origin):
    with opened(browser, origin) as tab:
        read(tab, origin, "tagged")
        best = httpx2.post(f"{origin}/api/v1/answer", json={"model": "tagged", "inputs": LINE}).json()["answers"][0][0]
        assert tab.locator(".chips bdi").all_text_contents() == LINE.split()
        assert tab.locator(".chips small").all_text_contents() == best["tags"]


def test_what_looks_is_told_of_every_task(origin):
    for model in ("needle", "agreement", "tagged"):
        found = httpx2.post(f"{origin}/api/v1/look", json={"model": model, "input": LINE})
        assert found.status_code == 200 and found.json()["figure"]["format"] == "regard-figure-1"


def test_the_page_is_sound(browser, origin):
    is_sound(
        browser, origin, f"/read?model=needle&text={LINE}", lambda tab: tab.wait_for_selector(".figure .save button")
    )
