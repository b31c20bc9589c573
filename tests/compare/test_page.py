"""The page of a comparison as a file: what is in it and what is not. tests/browser/test_report.py opens it."""

import json

import pytest

from compare.made import attending, blind, report
from show.markup import Reader, fingerprint

SOURCE, TARGET = ["le", "chat", "noir", "dort", "."], ["the", "black", "cat", "sleeps", "."]
HOSTILE = ["</script>", "<img src=x onerror=alert(1)>", "<!--", "&lt;b&gt;", '"']


@pytest.fixture
def page(tmp_path):
    """The text of a report of two arms that attend and one that does not, two sentences each."""
    found = [attending(SOURCE, TARGET, seed=seed) for seed in (3, 5)]
    sentences = [
        (SOURCE, [*found, blind(TARGET)]),
        (HOSTILE, [attending(HOSTILE, HOSTILE), *found[1:], blind(HOSTILE)]),
    ]
    return report(tmp_path, ["one <b>", "two", "plain"], sentences).read_text(encoding="utf-8")


def test_the_policy_names_one_script_and_two_styles(page):
    reader = Reader(page)
    *carried, (_, script) = reader.of("script")
    assert [attributes for attributes, _ in carried] == [{"type": "application/json"}] * 2, "they do not run"
    styles = [text for _, text in reader.of("style")]
    assert len(styles) == 2
    assert reader.policy.startswith("default-src 'none';")
    assert f"script-src {fingerprint(script)};" in reader.policy
    assert f"style-src {' '.join(map(fingerprint, styles))};" in reader.policy
    assert "unsafe" not in reader.policy
    assert reader.values("href", "style") == []
    assert {value.partition(",")[0] for value in reader.values("src")} == {"data:image/svg+xml;base64"}


def test_each_sentence_carries_the_arms_that_attend(page):
    carried = [json.loads(text) for attributes, text in Reader(page).of("script") if attributes]
    assert [[figure["title"] for figure in each["figures"]] for each in carried] == [["one <b>", "two"]] * 2
    assert [each["model"] for each in carried[0]["figures"]] == ["one <b>", "two"], (
        "a saved file is called after its arm"
    )
    assert carried[0]["title"] == " ".join(SOURCE)
    assert page.count('data-regard="switches"></div>') == 1
    assert page.count("It does not attend.") == 2


def test_all_words_are_text(page):
    reader = Reader(page)
    tags = [tag for tag, *_ in reader.found]
    assert (tags.count("b"), tags.count("img"), tags.count("script")) == (0, 2, 3)
    labels = [text for _, text in reader.of("dt")]
    assert labels[2] == "one <b>"
    written = [text for _, text in reader.of("dd")]
    assert written[5:8] == [" ".join(HOSTILE), "the reference .", " ".join(HOSTILE)]


def test_arms_that_do_not_attend_need_no_switches(tmp_path):
    page = report(tmp_path, ["plain"], [(SOURCE, [blind(TARGET)])]).read_text(encoding="utf-8")
    assert "data-regard=" not in page[page.index("<body>") : page.index("<script>")]
    assert "It does not attend." in page


def test_a_report_stays_small(tmp_path):
    """Two Transformers of three layers and eight heads, three sentences of thirty words: each weight in two bytes."""
    source, target = ([f"{letter}{number}" for number in range(30)] for letter in "st")
    found = [attending(source, target, layers=3, heads=8, seed=seed) for seed in (3, 5)]
    path = report(tmp_path, ["one", "two"], [(source, found)] * 3)
    assert path.stat().st_size < 1_000_000
    assert '"dtype":"u2"' in path.read_text(encoding="utf-8")
    small = report(tmp_path, ["one"], [(SOURCE, [attending(SOURCE, TARGET)])])
    assert '"dtype":"f4"' in small.read_text(encoding="utf-8"), "where there is room, weights are written in full"
