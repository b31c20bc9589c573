"""The page Caption of the studio: an image, its caption, and where each word looked."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import regard
from answering import trained
from browser.studio import go, is_sound, opened, running
from browser.tabs import until
from serving import translator


def picture(width=56, height=40, kind="PNG"):
    """The bytes of an image that is not the same anywhere."""
    rows, columns = np.mgrid[0:height, 0:width]
    pixels = np.stack((4 * columns, 5 * rows, (rows * columns) % 256), -1).astype(np.uint8)
    kept = io.BytesIO()
    Image.fromarray(pixels).save(kept, kind)
    return kept.getvalue()


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    models = {name: regard.load(trained(folder, name)) for name in ("scenes", "shapes")}
    search = models["scenes"].search  # who has learnt nothing does not know where to end
    models["scenes"].search = lambda cells, options, **more: search(cells, replace(options, max_length=5), **more)
    with running({"toy": translator(), **models}, body=1 << 20) as found:
        yield found


@pytest.fixture
def tab(browser, origin):
    with opened(browser, origin) as found:
        go(found, f"{origin}/caption")
        yield found


def choose(tab, name, content, kind="image/png"):
    tab.get_by_label("Image").set_input_files({"name": name, "mimeType": kind, "buffer": content})


def captioned(tab):
    choose(tab, "scene.png", picture())
    tab.wait_for_selector("[data-regard=captioned][data-drawn] canvas")


def change(tab):
    """How far the pixels of the large image are from what they were the last time, on average."""
    script = """canvas => {
        const now = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const then = window.then ?? now;
        window.then = now;
        return now.reduce((sum, value, index) => sum + Math.abs(value - then[index]), 0) / now.length;
    }"""
    return tab.locator(".captioned .stage canvas").evaluate(script)


def test_each_word_shows_where_it_looked(tab):
    captioned(tab)
    frames = tab.locator(".frames button")
    words = tab.get_by_test_id("output").inner_text().split()
    assert frames.count() == len(words) > 1
    still = tab.locator(".captioned .warning").count()
    assert change(tab) == 0
    frames.nth(1).click()
    assert change(tab) > 0 or still
    told = tab.locator(".captioned .readout").inner_text()
    tab.get_by_role("radio", name="cells").check()
    assert change(tab) > 0
    assert tab.locator(".captioned .readout").inner_text() == told
    with tab.expect_download() as found:
        tab.locator(".captioned .save").get_by_role("button", name="JSON").click()
    kept = json.loads(found.value.path().read_bytes())
    assert np.allclose(np.sum(kept["maps"], (1, 2)), 1, atol=1e-3) and len(kept["maps"]) == len(words)


def test_what_is_no_image_is_told(tab):
    alert = tab.locator(".alert")
    for name, content, kind in (
        ("notes.txt", b"no image", "text/plain"),
        ("large.png", picture() + bytes(1 << 20), "image/png"),
        ("cut.jpg", picture(kind="JPEG")[:97], "image/jpeg"),
    ):
        choose(tab, name, content, kind)
        until(tab, f".alert:has-text('{name}')", 1)
        assert alert.is_visible()
    captioned(tab)
    assert not alert.is_visible()


def test_a_classifier_of_images_tells_its_classes(tab):
    tab.get_by_label("Model").select_option("shapes")
    captioned(tab)
    shares = [float(text) for text in tab.locator(".shares small").all_text_contents()]
    assert shares == sorted(shares, reverse=True) and 0.9 < sum(shares) < 1.01
    assert tab.locator(".frames button").count() == 2  # queries


def test_the_page_is_sound(browser, origin):
    is_sound(browser, origin, "/caption", captioned)
