"""The report in its three forms, and the watch that measures speed."""

import json
import subprocess
import sys

import pytest

from regard.errors import UsageError
from regard.evaluate import (
    Report,
    Stopwatch,
    Throughput,
    aer,
    bleu,
    by_length,
    count_bleu,
    draw_lengths,
    exact_match,
    words_for_word,
)

SOURCES = ["a b", "a b c", "a b c d e"] * 40
OUTPUTS = ["x y z w", "x y z q", "x z w"] * 40
REFERENCES = ["x y z w"] * 120


def report():
    return Report(
        "rnnsearch on test",
        scores=(bleu(OUTPUTS, REFERENCES), exact_match(OUTPUTS, REFERENCES)),
        lengths=tuple(by_length(SOURCES, OUTPUTS, REFERENCES, edges=[3, 4])),
        alignment=aer([[(0, 0), (1, 1)]], [[(0, 0)]], [[]]),
        speed=Throughput(120, 480, 2.5),
    )


def test_text_says_all_of_it():
    text = report().as_text()
    score, exact = bleu(OUTPUTS, REFERENCES), exact_match(OUTPUTS, REFERENCES)
    assert text.splitlines()[:5] == [
        "rnnsearch on test",
        f"  BLEU          {score.value:.1f}  [{score.low:.1f}, {score.high:.1f}]",
        f"  exact match   33.3  [{exact.low:.1f}, {exact.high:.1f}]",
        "  alignment    AER 33.3% [33.3%, 33.3%], precision 50.0%, recall 100.0%, F1 66.7% (2 links)",
        "  speed        48.0 sentences/s, 192 pieces/s (120 sentences in 2.5 s)",
    ]
    assert "BLEU by source length" in text
    assert f"\n  BLEU|{score.signature}\n" in text
    rows = [line for line in text.splitlines() if line.lstrip().startswith(("2-3", "5"))]
    assert [line.split()[:2] for line in rows] == [["2-3", "80"], ["5", "40"]]
    assert all(line.endswith(" *") for line in rows)
    assert "* fewer than 100 sentences" in text


def test_words_for_every_word_of_the_references():
    counted = count_bleu(["x y", "x y z"], ["x y z w", "x y z w"])
    assert words_for_word(counted) == 5 / 8
    told = Report("r", words=words_for_word(counted))
    assert told.as_text() == "r\n  length  0.625  words for every word of the references"
    assert json.loads(told.as_json())["words"] == 5 / 8
    assert '\n  "words"' in told.as_json()  # a line a value


def test_large_buckets_are_not_marked():
    whole = by_length(SOURCES, OUTPUTS, REFERENCES, edges=[])
    assert "*" not in Report("r", lengths=tuple(whole)).as_text()


def test_what_was_not_measured_is_left_out():
    bare = Report("r", scores=(exact_match(["x"], ["x"]),))
    assert "alignment" not in bare.as_text() and "speed" not in bare.as_text() and "length" not in bare.as_text()
    assert set(json.loads(bare.as_json())) == {"format", "title", "scores"}
    assert Report("r").as_text() == "r"


def test_json_holds_every_number():
    found, body = report(), json.loads(report().as_json())
    assert body["format"] == "regard-scores-1"
    assert body["title"] == "rnnsearch on test"
    assert [each["value"] for each in body["scores"]] == [each.value for each in found.scores]
    assert body["scores"][0]["signature"] == found.scores[0].signature
    assert [(each["low"], each["high"], each["count"], each["small"]) for each in body["lengths"]] == [
        (2, 3, 80, True),
        (5, 5, 40, True),
    ]
    assert body["lengths"][0]["score"]["value"] == found.lengths[0].score.value
    assert body["alignment"]["aer"] == pytest.approx(1 / 3)
    assert {"low", "high"} <= set(body["alignment"])
    assert body["speed"] == {
        "sentences": 120,
        "pieces": 480,
        "seconds": 2.5,
        "sentences_per_second": 48.0,
        "pieces_per_second": 192.0,
    }


# --- figures -----------------------------------------------------------------------------------------------

STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", STARTS)
def test_a_figure_is_drawn_and_is_the_same_again(tmp_path, kind):
    first = report().figure(tmp_path / f"deep/one.{kind}").read_bytes()
    assert first.startswith(STARTS[kind])
    assert report().figure(tmp_path / f"two.{kind}").read_bytes() == first


def test_a_figure_of_two_systems_names_both(tmp_path):
    buckets = by_length(SOURCES, OUTPUTS, REFERENCES, edges=[3])
    better = by_length(SOURCES, REFERENCES, REFERENCES, edges=[3])
    text = draw_lengths({"with": better, "without": buckets}, tmp_path / "both.svg", title="why").read_text("utf-8")
    for words in (
        "with",
        "without",
        "why",
        "2-3",
        "4-5",
        "(80)",
        "BLEU (95 % interval)",
        "words in the source (sentences); hollow: fewer than 100",
    ):
        assert f"<!-- {words} -->" in text
    assert "#0072b2" in text and "#d55e00" in text


def test_what_is_drawn_where(tmp_path, monkeypatch):
    """Lengths to the right, scores upwards, hollow where there are few; one system needs no legend."""
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure.axes[0]))
    buckets = report().lengths
    report().figure(tmp_path / "one.png")
    draw_lengths({"with": buckets, "without": buckets}, tmp_path / "two.png")
    scores = [bucket.score.value for bucket in buckets]
    one, two = drawn
    line, small = one.lines[-2:]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([*range(len(buckets))], scores)
    assert list(small.get_xdata()) == [place for place, bucket in enumerate(buckets) if bucket.small]
    assert list(small.get_ydata()) == [bucket.score.value for bucket in buckets if bucket.small]
    assert one.get_legend() is None and one.get_title() == report().title
    assert one.get_ylim()[0] == 0
    assert one.get_xlim() == (-0.5, len(buckets) - 0.5)
    assert not line.get_clip_on() and not small.get_clip_on()
    assert [side for side, spine in one.spines.items() if spine.get_visible()] == ["left", "bottom"]
    assert [text.get_text() for text in two.get_legend().get_texts()] == ["with", "without"]


def test_figures_that_cannot_be(tmp_path):
    buckets = by_length(SOURCES, OUTPUTS, REFERENCES, edges=[3])
    with pytest.raises(UsageError, match=r"expected a name that ends in \.png, \.svg, \.pdf; found '\.bmp'"):
        draw_lengths({"a": buckets}, tmp_path / "a.bmp")
    with pytest.raises(UsageError, match="expected at least one bucket; found none"):
        Report("r").figure(tmp_path / "a.png")
    with pytest.raises(UsageError, match="those of 'b' differ from those of 'a'"):
        draw_lengths({"a": buckets, "b": buckets[:1]}, tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_matplotlib_is_imported_only_to_draw():
    run = "import sys, regard.evaluate; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", run], check=False).returncode == 0


def test_a_figure_without_matplotlib_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match="pip install matplotlib"):
        report().figure(tmp_path / "a.png")


# --- speed -------------------------------------------------------------------------------------------------


def test_the_watch_adds_up_the_time_inside():
    watch = Stopwatch(clock=iter([10.0, 13.0, 100.0, 102.0]).__next__)
    with watch:
        watch.add(7, 31)
    with watch:
        watch.add(3, 19)
    found = watch.throughput()
    assert found == Throughput(10, 50, 5.0)
    assert (found.sentences_per_second, found.pieces_per_second) == (2, 10)


def test_the_watch_stops_when_something_fails():
    watch = Stopwatch(clock=iter([1.0, 2.0, 5.0, 7.0]).__next__)
    with pytest.raises(KeyError), watch:
        raise KeyError
    with watch:
        pass
    assert watch.throughput().seconds == 3


def test_a_running_watch_is_not_started_again():
    watch = Stopwatch()
    with watch, pytest.raises(UsageError, match="runs already"), watch:
        pass


def test_rates_of_less_than_a_second():
    found = Throughput(3, 5, 0.25)
    assert (found.sentences_per_second, found.pieces_per_second) == (12.0, 20.0)


def test_no_time_no_rate():
    assert Throughput(3, 5, 0.0).sentences_per_second == Throughput(3, 5, 0.0).pieces_per_second == 0
