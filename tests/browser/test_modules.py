"""The modules one by one, imported as a server would hand them out: no page around them, no state shared."""

import numpy as np
import pytest

from browser.documents import diagonal, layer, merged, plain, side, values


def test_merging_by_hand(modules):
    """Two rows of one word are averaged, two columns of one word are added."""
    script = """async () => {
        const { mergePieces } = await import("/merge.js");
        const weights = new Float64Array([0.5, 0.25, 0.25, 0.125, 0.125, 0.75, 0, 1, 0]);
        return [...mergePieces(weights, [0, 0, 1], [0, 1, 1], 2, 2)];
    }"""
    np.testing.assert_allclose(modules.evaluate(script), [0.3125, 0.6875, 0, 1])


def test_mean_of_heads_by_hand(modules):
    script = """async () => {
        const { meanOfHeads } = await import("/merge.js");
        return [...meanOfHeads(new Float32Array([0, 1, 0.5, 0.5, 1, 0]), [3, 1, 2], [0, 2])];
    }"""
    assert modules.evaluate(script) == [0.5, 0.5]


@pytest.mark.parametrize("dtype", ["f4", "u2"])
def test_decoding(modules, dtype):
    weights = diagonal(np.random.default_rng(2), 5, 7, heads=3)
    encoded = layer(weights, dtype=dtype)
    script = "async (layer) => [...await (await import('/decode.js')).decode(layer)]"
    found = np.array(modules.evaluate(script, encoded)).reshape(3, 5, 7)
    np.testing.assert_allclose(found, values({"attention": [encoded]}), atol=1e-7)
    np.testing.assert_allclose(found, weights, atol=0 if dtype == "f4" else 0.51 / 65535)


def test_a_sheet_is_the_merged_matrix(modules):
    """A word of five pieces among words of one, and of a row and a column both."""
    document = plain()
    script = """async (document) => {
        const { openFigure } = await import("/decode.js");
        const { makeSheet } = await import("/sheet.js");
        const sheet = await makeSheet(openFigure(document), document.chosen, { unit: "words", end: true });
        return [...sheet.values];
    }"""
    pieces = ["a", "b", "c", "d", "e", "f", "</s>"]
    document["target"] = side(["x", "y"]) | {"pieces": pieces, "word": [0, 1, 1, 1, 1, 1, 2]}
    document["attention"] = [layer(diagonal(np.random.default_rng(4), 7, len(document["source"]["pieces"])))]
    expected = merged(values(document)[0], document["target"], document["source"])
    found = np.array(modules.evaluate(script, document)).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)


CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                  [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
OKLAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                  [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip


def to_oklab(colours):
    """sRGB to OKLab (B. Ottosson), apart from the page's own way in the other direction."""
    share = np.asarray(colours) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ CONES.T) @ OKLAB.T


def ramp(tab, dark, diverging, count=33):
    script = """async ([dark, diverging, count]) => {
        const ramp = (await import("/ramp.js")).makeRamp(dark, diverging);
        return Array.from({ length: count }, (_, i) => [...ramp.rgb(i / (count - 1)), ramp.ink(i / (count - 1))]);
    }"""
    rows = tab.evaluate(script, [dark, diverging, count])
    return np.array([row[:3] for row in rows]), [row[3] for row in rows]


@pytest.mark.parametrize("dark", [False, True])
def test_equal_steps_of_weight_look_equal_and_go_one_way(modules, dark):
    lab = to_oklab(ramp(modules, dark, diverging=False, count=17)[0])  # few enough that rounding to bytes is small
    steps = np.linalg.norm(np.diff(lab, axis=0), axis=1)
    assert steps.max() < 1.25 * steps.min()
    light = np.diff(lab[:, 0])
    assert (light > 0).all() if dark else (light < 0).all()


def test_the_end_of_the_dark_ramp_is_the_bright_one(modules):
    assert to_oklab(ramp(modules, True, False)[0])[-1, 0] > 0.9 > 0.4 > to_oklab(ramp(modules, False, False)[0])[-1, 0]


@pytest.mark.parametrize("dark", [False, True])
def test_differences_of_both_signs_are_equally_strong_and_apart_for_every_eye(modules, dark):
    colours, _ = ramp(modules, dark, diverging=True)
    lab = to_oklab(colours)
    np.testing.assert_allclose(lab[:, 0], lab[::-1, 0], atol=0.02)
    # Red-green blindness keeps the blue-yellow axis: the two ends must differ along it.
    assert lab[0, 2] > 0.05 > -0.05 > lab[-1, 2]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("diverging", [False, True])
def test_ink_can_be_read_on_every_colour(modules, dark, diverging):
    colours, inks = ramp(modules, dark, diverging, 101)
    share = colours / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    contrast = [
        (1.05 / (y + 0.05)) if ink == "#ffffff" else (y + 0.05) / 0.05 for y, ink in zip(luminance, inks, strict=True)
    ]
    assert min(contrast) >= 4.5


def test_a_store_tells_of_changes_only(modules):
    script = """async () => {
        const { createStore, createFocus } = await import("/store.js");
        const [one, other] = [createStore({ a: 1, b: 2 }), createStore({ a: 1, b: 2 })];
        const heard = [];
        const stop = one.follow(({ a }) => heard.push(a));
        one.set({ a: 1 }); one.set({ a: 3 }); one.set({ b: 2 }); other.set({ a: 7 }); stop(); one.set({ a: 9 });
        const focus = createFocus();
        const cells = [];
        focus.follow(({ row, column, held }) => cells.push([row, column, held]));
        focus.point(1, 2); focus.hold(1, 2); focus.point(3, 3); focus.leave();
        focus.move(4, 2); focus.hold(4, 2); focus.leave();
        return [heard, cells];
    }"""
    heard, cells = modules.evaluate(script)
    assert heard == [3]
    assert cells == [[1, 2, False], [1, 2, True], [4, 2, True], [4, 2, False], [-1, -1, False]]


@pytest.mark.parametrize(
    ("words", "index", "others", "expected"),
    [
        ("a b a", 2, "a b a", 2),
        ("a b a", 2, "a a b", 1),
        ("a b", 1, "b c b", 0),
        ("a b", 1, "c d", -1),
        ("a b", -1, "a b", -1),
    ],
)
def test_counterpart(modules, words, index, others, expected):
    script = "async ([words, index, others]) => (await import('/compare.js')).counterpart(words, index, others)"
    assert modules.evaluate(script, [words.split(), index, others.split()]) == expected


@pytest.mark.parametrize(("words", "expected"), [("12 . שלום abc", "rtl"), ("abc שלום", "ltr"), ("12 .", "ltr")])
def test_direction_is_that_of_the_first_letter(modules, words, expected):
    script = "async (words) => (await import('/labels.js')).direction(words)"
    assert modules.evaluate(script, words.split()) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [("runs/en-fr", "runs-en-fr-x.svg"), ("../../etc", "etc-x.svg"), ("日本 語", "日本-語-x.svg"), ("", "x.svg")],
)
def test_file_names_are_plain(modules, model, expected):
    script = "async (model) => (await import('/export.js')).fileName(model, 'x', 'svg')"
    assert modules.evaluate(script, model) == expected


def test_two_figures_on_one_page_do_not_know_each_other(modules):
    """What a studio does: draw into its own elements, with settings of its own."""
    script = """async (document) => {
        const { drawFigure } = await import("/figure.js");
        const { createStore } = await import("/store.js");
        const { DEFAULTS } = await import("/controls.js");
        const places = [1, 2].map(() => window.document.body.appendChild(window.document.createElement("section")));
        const settings = places.map(() => createStore(DEFAULTS));
        const figures = places.map((place, i) => drawFigure(place, document, { settings: settings[i] }));
        await Promise.all(figures.map((figure) => figure.redraw()));
        settings[0].set({ unit: "pieces" });
        await figures[0].redraw();
        figures[0].focus.point(0, 0);
        const said = (place) => place.querySelector(".readout").textContent;
        return places.map((place) => [place.querySelectorAll("[role=gridcell]").length, said(place) !== ""]);
    }"""
    document = plain()
    pieces = len(document["source"]["pieces"]) * len(document["target"]["pieces"])
    assert modules.evaluate(script, document) == [[pieces, True], [15 * 14, False]]
