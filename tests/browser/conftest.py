"""A browser for the pages: Debian's chromium, cut off from the network."""

import shutil
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest

from browser.tabs import drawn
from regard.show import static
from regard.show.page import write_page

ORIGIN = "http://studio.test/"  # where nothing listens: the tests answer for it


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of a process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is one of the dev dependencies")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as play:
        launched = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


@contextmanager
def watched(browser, **settings):
    """A new tab that may reach files only; what it asks of the network or complains of is an error of the test."""
    context = browser.new_context(**{"viewport": {"width": 1240, "height": 900}, "accept_downloads": True} | settings)
    context.set_default_timeout(10_000)
    context.set_offline(True)
    tab, asked, complaints = context.new_page(), [], []
    local = ("file:", "blob:", "data:", "about:")
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    tab.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    yield tab
    context.close()
    assert [url for url in asked if not url.startswith(local)] == []
    assert complaints == []


@pytest.fixture
def visit(browser):
    """Open a file: visit(path, "#view=lines", color_scheme="dark") -> tab, when its figures are drawn."""
    with ExitStack() as tabs:

        def opened(path, address="", **settings):
            tab = tabs.enter_context(watched(browser, **settings))
            tab.goto(f"{path.as_uri()}{address}")
            drawn(tab)
            return tab

        yield opened


@pytest.fixture
def show(visit, tmp_path):
    """Write a page to a file and open it, as `visit` does."""
    numbers = count()
    return lambda page, *asked, **settings: visit(
        write_page(page, tmp_path / f"page{next(numbers)}.html"), *asked, **settings
    )


@pytest.fixture
def modules(browser):
    """A tab in which each module can be imported by itself, as a server would hand it out."""
    with browser.new_context() as context:
        home = Path(static.__file__).parent

        def answer(route):
            name = route.request.url.removeprefix(ORIGIN)
            if not name:
                return route.fulfill(body="<!doctype html><title>x</title>", content_type="text/html")
            return route.fulfill(body=(home / name).read_text(encoding="utf-8"), content_type="text/javascript")

        context.route(f"{ORIGIN}**", answer)
        tab = context.new_page()
        tab.goto(ORIGIN)
        yield tab
