"""The page API of the studio: snippets that run, the model's card, and the interface described without a network."""

import re
import shutil
import subprocess
import sys
from copy import copy

import pytest

from browser.studio import LINE, asked, go, is_sound, opened, running
from browser.tabs import until
from serving import translator


@pytest.fixture(scope="module")
def origin():
    toy = copy(translator())
    toy.languages = ("de", "en")  # which the protocols of other servers go by
    with running({"toy": toy}) as found:
        yield found


@pytest.fixture
def tab(browser, origin):
    with opened(browser, origin) as found:
        go(found, f"{origin}/api?text={LINE}")
        yield found


def run(language, code):
    """What a snippet writes."""
    commands = {
        "curl": ["bash", "-c", f"{code} --silent"],
        "Python": [sys.executable, "-c", code],
        "JavaScript": ["node", "--input-type=module", "-e", code],
    }
    if shutil.which(commands[language][0]) is None or (language == "curl" and shutil.which("curl") is None):
        pytest.skip(f"{commands[language][0]} is not here")
    done = subprocess.run(commands[language], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("language", ["curl", "Python", "JavaScript"])
def test_every_snippet_runs(tab, origin, language):
    (best,) = asked(origin, inputs=LINE, model="toy")
    shown = tab.locator(f".snippet:has(h3:text-is('{language}')) code").all_text_contents()
    assert shown
    for code in shown:
        assert best["text"] in run(language, code), code


def test_what_a_text_holds_cannot_leave_its_snippet(tab, origin):
    odd = 'l\'eau "ja" $HOME `id` \\ 語'
    tab.get_by_label("Text").fill(odd)
    (best,) = asked(origin, inputs=odd, model="toy")
    for language in ("curl", "Python", "JavaScript"):
        code = tab.locator(f".snippet:has(h3:text-is('{language}')) code").first.text_content()
        assert best["text"] in run(language, code)


def test_the_model_and_its_limits(tab):
    facts = tab.locator(".facts").inner_text()
    assert "500 pieces" in facts and "128 texts" in facts and "translate" in facts


def test_the_interface_is_described_without_a_network(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, f"{origin}/docs")
        routes = tab.locator(".route > summary")
        paths = set(re.findall(r"/api/v1/\w+", " ".join(routes.all_text_contents())))
        assert paths >= {"/api/v1/answer", "/api/v1/look", "/api/v1/score", "/api/v1/align", "/api/v1/models"}
        route = tab.locator(".route:has(summary code:text-is('/api/v1/align'))")
        route.locator("> summary").click()
        route.get_by_text("Try it").click()
        route.get_by_role("textbox").fill('{"source": "ja", "target": "yes"}')
        route.get_by_role("button", name="Send").click()
        until(tab, "pre:has-text('pharaoh')", 1)
        assert route.locator("pre").inner_text().startswith("200")


@pytest.mark.parametrize("page", ["/api", "/docs"])
def test_the_page_is_sound(browser, origin, page):
    def ready(tab):
        if page == "/docs":
            tab.locator(".route > summary").nth(3).click()

    is_sound(browser, origin, page, ready)
