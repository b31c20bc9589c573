"""The studio's own modules one by one: what changed between texts, pins, ticks, the tree, the course of a training."""

import pytest

from browser.studio import go, opened, running
from serving import translator


@pytest.fixture(scope="module")
def tab(browser):
    with running({"toy": translator()}) as origin, opened(browser, origin) as found:
        go(found, origin + "/train")
        yield found


def call(tab, module, name, *given):
    """What a function of a module gives."""
    script = "async ([module, name, given]) => (await import(`/studio/${module}.js`))[name](...given)"
    return tab.evaluate(script, [module, name, list(given)])


def test_what_changed_between_two_texts(tab):
    found = call(tab, "diff", "compareWords", ["a", "b", "c", "d"], ["b", "x", "d", "e"])
    told = " ".join({"same": "", "gone": "-", "new": "+"}[each["change"]] + each["word"] for each in found)
    assert told == "-a b -c +x d +e"
    assert call(tab, "diff", "compareWords", [], []) == []


def test_pins_are_written_and_read(tab):
    script = """async (text) => {
        const { readPins, writePins, pinsAsked } = await import("/studio/pins.js");
        return [writePins(readPins(text)), pinsAsked(readPins(text), false), pinsAsked(readPins(text), true)[0]?.step];
    }"""
    written, asked, later = tab.evaluate(script, "3:7;11:2,5")
    assert written == "3:7;11:2,5" and later == 4
    assert asked == [{"step": 3, "shares": {"7": 1}}, {"step": 11, "shares": {"2": 1, "5": 1}}]
    assert tab.evaluate(script, "x;:3;4")[0] == ""


def test_a_word_is_pinned_by_its_pieces(tab):
    script = """async () => {
        const { pinCell } = await import("/studio/pins.js");
        const document = { source: { word: [0, 1, 1, 2] }, target: { word: [0, 0, 1, 2] } };
        const [words, pieces] = [new Map(), new Map()];
        pinCell(words, document, { row: 0, column: 1 }, "words");
        pinCell(pieces, document, { row: 0, column: 1 }, "pieces");
        return [[...words], [...pieces]];
    }"""
    assert tab.evaluate(script) == [[[0, [1, 2]], [1, [1, 2]]], [[0, [1]]]]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 100, [0, 20, 40, 60, 80, 100]), (0.31, 0.52, [0.35, 0.4, 0.45, 0.5]), (3, 3, [3])],
)
def test_ticks_are_round(tab, low, high, expected):
    assert call(tab, "plot", "niceTicks", low, high) == pytest.approx(expected)


def test_the_tree_lies_with_its_likeliest_branch_above(tab):
    parents, likelihoods = [-1, 0, 0, 1, 1, 2], [0, -2, -1, -5, -3, -2]
    nodes = [{"parent": parent, "likelihood": value} for parent, value in zip(parents, likelihoods, strict=True)]
    place = call(tab, "beamtree", "layOut", nodes)
    assert place["depth"] == [0, 1, 1, 2, 2, 2] and place["leaves"] == 3
    assert place["y"] == [0.75, 1.5, 0, 2, 1, 0]


def test_how_far_maps_are_apart(tab):
    one, other = [[1, 0], [0, 0]], [[0, 0], [0, 1]]
    assert call(tab, "pages/caption", "movement", [one, other]) == 1
    assert call(tab, "pages/caption", "movement", [one, one]) == 0
    assert call(tab, "pages/caption", "movement", [one]) == 1


def test_what_is_made_again_is_void(tab):
    script = """async (events) => {
        const { newCourse, takeIn } = await import("/studio/course.js");
        const course = newCourse();
        takeIn(course, events);
        const points = course.measured.get("train: nll").map(({ number, value }) => [number, value]);
        return [points, course.terms, course.ended];
    }"""
    step = lambda number, nll: {"event": "step", "number": number, "seconds": 1, "nll": nll, "rate": None}  # noqa: E731
    events = [
        {"event": "start", "number": 0, "terms": {"a": 1}},
        *(step(5, 3.0), step(7, 2.0)),
        {"event": "resume", "number": 5, "terms": {"a": 2}},
        step(7, 2.5),
    ]
    assert tab.evaluate(script, events) == [[[5, 3.0], [7, 2.5]], {"a": 2}, False]
    assert call(tab, "course", "thin", list(range(11)), 3) == [0, 5, 10]


def test_every_answer_has_the_policy(tab):
    origin = tab.url.split("/train")[0]
    for path in ("/", "/heads", "/docs", "/studio/start.js", "/figures/page.css", "/openapi.json"):
        headers = tab.request.get(origin + path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert path == "/openapi.json" or headers["cache-control"] == "no-cache"
        assert "unsafe" not in headers["content-security-policy"]
