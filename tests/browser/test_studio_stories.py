"""Stories that no page has to itself: a copied link, a saved page, programs that ask the same, other tasks."""

import re
from types import SimpleNamespace
from urllib.request import urlopen

import deepl
import numpy as np
import openai
import pytest
from azure.ai.translation.text import TextTranslationClient
from azure.core.credentials import AzureKeyCredential
from deep_translator import LibreTranslator
from libretranslatepy import LibreTranslateAPI

from browser.studio import LINE, asked, go, grid, opened, running, settled, translate
from browser.tabs import until
from serving import spoken

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of sockets that clients leave open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def origin():
    other = SimpleNamespace(verb="divine", parts=SimpleNamespace(task=task("divination", "image", "divine")))
    with running({"seer": other, "toy": spoken()}) as found:
        yield found


def task(goal, source, verb):
    """The task of a model whose goal is not there."""
    return SimpleNamespace(goal=SimpleNamespace(name=goal), source=SimpleNamespace(name=source), verb=verb)


def counted(origin, route):
    """How many requests of a route were answered well."""
    with urlopen(f"{origin}/metrics") as found:
        told = re.search(rf'regard_requests_total{{route="{route}",status="200"}} (\d+)', found.read().decode())
    return int(told[1]) if told else 0


# --- story 6: the button ----------------------------------------------------------------------------------


def test_the_copied_link_opens_the_same_view(browser, origin):
    with opened(browser, origin, permissions=["clipboard-read", "clipboard-write"]) as tab:
        go(tab, origin + "/")
        translate(tab, LINE)
        tab.get_by_role("button", name="Copy link").click()
        until(tab, ".copied:has-text('Copied.')", 1)
        copied = tab.evaluate("navigator.clipboard.readText()")
        assert copied == tab.url
        output = tab.get_by_test_id("output").inner_text()
    with opened(browser, origin) as other:
        go(other, copied)
        settled(other)
        assert other.get_by_test_id("output").inner_text() == output


# --- story 7: a page in a file ------------------------------------------------------------------------------


def test_a_page_of_thirty_words_is_small(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/")
        translate(tab, " ".join((LINE.split() * 6)[:29]))
        assert grid(tab).shape[1] == 30
        with tab.expect_download() as found:
            tab.locator(".figure .save").get_by_role("button", name="HTML", exact=True).click()
        assert found.value.path().stat().st_size <= 300_000


# --- story 15: programs that people have -------------------------------------------------------------------


def test_programs_and_the_page_agree(browser, origin):
    routes = {"/translate": 3, "/v2/translate": 1, "/v1/chat/completions": 1}
    before = {route: counted(origin, route) for route in routes}
    with opened(browser, origin) as tab:
        go(tab, origin + "/")
        translate(tab, LINE)
        shown, weights = tab.get_by_test_id("output").inner_text(), grid(tab)
        words = tab.locator(".columns text").evaluate_all("all => all.map(e => e.firstChild.textContent)")
        assert LibreTranslateAPI(origin, "k").translate(LINE, "de", "en") == shown
        libre = LibreTranslator(api_key="k", source="de", target="en", custom_url=f"{origin}/")
        assert libre.translate(LINE) == shown
        asks = deepl.Translator("k", server_url=origin)
        assert asks.translate_text(LINE, source_lang="DE", target_lang="EN-GB").text == shown
        with openai.OpenAI(base_url=f"{origin}/v1", api_key="k", max_retries=0) as api:
            told = [{"role": "user", "content": LINE}]
            assert api.chat.completions.create(model="toy", messages=told).choices[0].message.content == shown
        with TextTranslationClient(credential=AzureKeyCredential("k"), endpoint=origin) as api:
            (found,) = api.translate(body=[LINE], from_language="de", to_language=["en"], include_alignment=True)
        assert found.translations[0].text == shown
        ends = [tuple(map(int, re.findall(r"\d+", each))) for each in found.translations[0].alignment.proj.split()]
        (best,) = asked(origin, inputs=LINE, model="toy")
        for a, b, c, d in ends:  # each span is the word of the column in which the row of its word is darkest
            row = best["target"]["spans"].index([c, d + 1])
            assert LINE[a : b + 1] in (words[column] for column in np.flatnonzero(weights[row] >= weights[row].max()))
        assert ends
    assert {route: counted(origin, route) - before[route] for route in routes} == routes


# --- models of other tasks ---------------------------------------------------------------------------------


def test_a_model_that_cannot_be_asked_is_listed_and_breaks_nothing(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/")
        assert tab.get_by_label("Model").locator("option").all_text_contents() == ["toy"]
        translate(tab, LINE)
        go(tab, f"{origin}/caption")
        assert "There is seer (divine), toy (translate)." in tab.locator(".none").inner_text()
        go(tab, f"{origin}/api?model=seer")
        until(tab, ".facts:has-text(\"It was made to divine, with a goal 'divination'\")", 1)
        assert tab.locator(".snippet").count() == 0
        tab.get_by_label("Model").select_option("toy")
        until(tab, ".facts:has-text('translate')", 1)
        assert tab.locator(".snippet").count() > 3
