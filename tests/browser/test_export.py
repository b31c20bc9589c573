"""Files that a page saves: what they hold, and that they hold it whole."""

import csv
import json
import struct
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from browser.documents import many_heads, page, plain, square
from browser.tabs import choose, until, words

SVG = "{http://www.w3.org/2000/svg}"


def saved(tab, label, place=".figures"):
    """Press a button to save; the file, and the name it was given."""
    with tab.expect_download() as waiting:
        tab.locator(place).get_by_role("button", name=label, exact=True).click()
    return waiting.value.path(), waiting.value.suggested_filename


def drawing(path):
    """An SVG file, read as XML; it must stand by itself on white paper."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    first = root[0]
    assert (first.tag, first.get("fill")) == (f"{SVG}path", "#ffffff")
    assert first.get("d") == f"M0 0h{root.get('width')}v{root.get('height')}h-{root.get('width')}z"
    for node in root.iter():
        assert node.tag.removeprefix(SVG) not in ("script", "style", "foreignObject")
        for name, value in node.attrib.items():
            assert not name.endswith("href") or value.startswith("data:image/png;"), value
            assert not name.startswith("on")
    return root


def texts(root):
    """Every text in a drawing."""
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def png_size(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_svg_of_the_matrix(show, scheme):
    document = plain()
    tab = show(page(document), color_scheme=scheme)
    path, name = saved(tab, "SVG")
    assert name == "rnnsearch-en-fr-Layer-1-head-1-cross.svg"
    root = drawing(path)
    assert len(list(root.iter(f"{SVG}rect"))) == 15 * 14
    found = texts(root)
    for side in ("source", "target"):
        assert [word for word in document[side]["words"] if word not in found] == []
    assert any("rows = target (who looks)" in text and "each row sums to 1" in text for text in found)
    darkest = max(root.iter(f"{SVG}rect"), key=lambda rect: -int(rect.get("fill")[1:3], 16))
    at = [round(float(darkest.get(axis)) / (float(darkest.get("width")) + 1)) for axis in ("y", "x")]
    assert words(document)[tuple(at)] == words(document).max(), "dark ink on white paper, whatever the theme"


def test_png_in_three_sizes(show):
    tab = show(page(plain()))
    root = drawing(saved(tab, "SVG")[0])
    width, height = int(root.get("width")), int(root.get("height"))
    for scale in (1, 2, 3):
        path, name = saved(tab, f"PNG {scale}x")
        assert png_size(path) == (scale * width, scale * height)
        assert name.endswith("cross.png" if scale == 1 else f"cross.{scale}x.png")


@pytest.mark.parametrize("unit", ["words", "pieces"])
def test_csv_reads_again_as_the_matrix(show, unit):
    document = plain(source='the "quoted" word , and ; semicolons é', target="le mot , entre guillemets =1+1")
    tab = show(page(document), f"#unit={unit}")
    path, _ = saved(tab, "CSV")
    with path.open(encoding="utf-8", newline="") as file:
        first, *rows = list(csv.reader(file))
    assert first == ["target <- source", *document["source"][unit]]
    assert [row[0] for row in rows] == document["target"][unit]
    script = "all => all.map(cell => +cell.dataset.weight)"
    expected = tab.locator("[role=gridcell]").evaluate_all(script)
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float).ravel(), expected, atol=1e-6)


def test_json_is_the_document(show):
    document = plain()
    path, name = saved(show(page(document)), "JSON")
    assert json.loads(path.read_text(encoding="utf-8")) == document
    assert name.endswith(".json")


def test_a_large_matrix_is_saved_cell_by_cell(show):
    tab = show(page(square(67)))
    assert tab.locator("canvas").count() == 1
    assert len(list(drawing(saved(tab, "SVG")[0]).iter(f"{SVG}rect"))) == 67 * 67


def test_lines_and_text_are_saved_as_they_are_shown(show):
    document = plain()
    weights = words(document)
    tab = show(page(document), "#view=lines")
    root = drawing(saved(tab, "SVG")[0])
    strokes = next(group for group in root.iter(f"{SVG}g") if group.get("class") == "strokes")
    assert len(strokes) == (weights >= 0.05).sum()
    assert any("lines below 0.05 are left out" in text for text in texts(root))
    choose(tab, "Text")
    tab.locator("button.word").nth(4).click()
    root = drawing(saved(tab, "SVG")[0])
    assert len(list(root.iter(f"{SVG}rect"))) == len(document["source"]["words"])
    assert any("zone" in text and "looked most at" in text for text in texts(root))
    choose(tab, "Matrix")
    until(tab, "[role=grid]", 1)
    assert len(list(drawing(saved(tab, "SVG")[0]).iter(f"{SVG}rect"))) == weights.size


@pytest.mark.parametrize(("text", "leftward"), [("כתב את הספר הזה", True), ("he wrote this book", False)])
def test_a_saved_text_runs_its_own_way(show, text, leftward):
    tab = show(page(plain(source=text)), "#view=text")
    rects = [float(rect.get("x")) for rect in drawing(saved(tab, "SVG")[0]).iter(f"{SVG}rect")]
    assert len(rects) == 5
    assert rects == sorted(rects, reverse=leftward)


def test_heads_are_saved_as_pictures_in_a_drawing(show):
    tab = show(page(many_heads(layers=2, heads=3)), "#view=heads")
    root = drawing(saved(tab, "SVG")[0])
    images = [each.get("href") for each in root.iter(f"{SVG}image")]
    assert len(images) == len(set(images)) == 2 * (3 + 1)
    night = show(page(many_heads(layers=2, heads=3)), "#view=heads&theme=dark")
    dark = drawing(saved(night, "SVG")[0])
    assert [each.get("href") for each in dark.iter(f"{SVG}image")] == images, "white paper, whatever the theme"
    assert tab.get_by_role("button", name="CSV").count() == 0
    width, height = png_size(saved(tab, "PNG 2x")[0])
    assert (width, height) == (2 * int(root.get("width")), 2 * int(root.get("height")))


def test_the_difference_is_saved_too(show):
    one, other = plain(seed=7), plain(seed=13) | {"model": "transformer"}
    tab = show(page(one, other))
    path, name = saved(tab, "CSV", ".difference")
    assert name == "rnnsearch-en-fr-minus-transformer-difference.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), words(one) - words(other), atol=1e-6)
    assert len(list(drawing(saved(tab, "SVG", ".difference")[0]).iter(f"{SVG}rect"))) == words(one).size
