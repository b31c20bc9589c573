"""The studio in a browser, as a person uses it: a real server of small models, and what is read from its pages."""

import threading
import time
from contextlib import contextmanager
from functools import cache

import httpx2
import numpy as np
import torch
import uvicorn

from browser.tabs import problems, until
from regard.data.tokenizer import Tokenizer
from regard.serve import Settings, create_app
from regard.translate.translator import Translator
from serving import HEADS, LINES
from small import model

LINE = LINES[0]
WIDTHS = (1280, 390)


@cache
def pieces_translator():
    """One whose words are cut into pieces."""
    torch.manual_seed(17)
    lines = ["weiterlesende frauen lesen", "lesende kinder", "ein weiteres buch"]
    source = Tokenizer.train(lines * 9, kind="bpe", size=290)
    target = Tokenizer.train(["reading women read on", "a further book"] * 9, kind="bpe", size=290)
    return Translator(model(HEADS, len(source), len(target)), source, target, name="pieces")


@contextmanager
def running(models, port=0, **settings):
    """A real server in a thread: its address."""
    app = create_app(Settings(models=(), **settings), models)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@contextmanager
def opened(browser, origin, complaints=(), **settings):
    """A tab that may ask nobody but the server. What it complains of is an error, but for what is expected."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True} | settings)
    context.set_default_timeout(60_000)  # of a machine that has much to do
    tab, asked, found = context.new_page(), [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: found.append(str(error)))
    tab.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    tab.on("dialog", lambda dialog: found.append(f"a dialog: {dialog.message}"))
    yield tab
    context.close()
    foreign = [url for url in asked if not url.startswith((origin, "blob:", "data:"))]
    unexpected = [each for each in found if not any(part in each for part in complaints)]
    assert (foreign, unexpected) == ([], []), (foreign, unexpected)


def go(tab, address):
    """Open a page of the studio, and wait until it stands."""
    tab.goto(address)
    tab.wait_for_selector("main[data-ready]")


def settled(tab):
    """Wait until what was asked is answered and drawn."""
    until(tab, "form[aria-busy=true]", 0)
    until(tab, ".figures .figure:not(:has(.save button))", 0)


def translate(tab, text, press="Control+Enter"):
    """Write a text and ask."""
    tab.get_by_label("Source", exact=True).fill(text)
    tab.get_by_label("Source", exact=True).press(press)
    tab.wait_for_selector(".figures .figure .save button")
    settled(tab)


def grid(tab, selector=".figure"):
    """The weights of the matrix that is shown, row by row."""
    tab.wait_for_selector(f"{selector} [role=grid]")
    script = "root => [...root.querySelectorAll('[role=row]')].map(r => [...r.children].map(c => +c.dataset.weight))"
    return np.array(tab.locator(selector).first.evaluate(script))


def asked(origin, **body):
    """What the interface answers to the same."""
    found = httpx2.post(f"{origin}/api/v1/answer", json=body, timeout=60)
    assert found.status_code == 200, found.text
    return found.json()["answers"][0]


def is_sound(browser, origin, address, ready):
    """No violation of axe, light and dark, wide and narrow; nothing wider than the window."""
    for width in WIDTHS:
        with opened(browser, origin, viewport={"width": width, "height": 900}) as tab:
            go(tab, origin + address)
            ready(tab)
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                found = problems(tab)
                assert found == [], (scheme, width, found)
            assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
