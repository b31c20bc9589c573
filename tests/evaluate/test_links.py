"""Alignment error: Och & Ney's formulas by hand, their limits, and gold files."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.pair import Pair
from regard.errors import BrokenData, MissingData, UsageError
from regard.evaluate import AlignmentScore, aer, aer_by_sentence, read_gold_file, read_links
from regard.evaluate.bootstrap import DRAWS
from regard.evaluate.links import link_scores

FOUND = [[(0, 0), (1, 1), (2, 2)], [(0, 1), (3, 2)]]
SURE = [[(0, 0), (1, 2)], [(0, 1)]]
POSSIBLE = [[(1, 1)], [(2, 0)]]


def test_a_corpus_by_hand():
    """A = 5, S = 3; sure and found: 0-0 and 0-1; possible and found: those and 1-1."""
    score = aer(FOUND, SURE, POSSIBLE)
    assert score.precision == pytest.approx(3 / 5)
    assert score.recall == pytest.approx(2 / 3)
    assert score.aer == pytest.approx(1 - (2 + 3) / (5 + 3))
    assert score.f1 == pytest.approx(2 * (3 / 5) * (2 / 3) / (3 / 5 + 2 / 3))
    assert score.links == 5
    told = "precision 60.0%, recall 66.7%, F1 63.2% (5 links)"
    assert str(score) == f"AER 37.5% [{score.low:.1%}, {score.high:.1%}], {told}"
    assert str(aer(FOUND, SURE, POSSIBLE, seed=None)) == f"AER 37.5%, {told}"


def test_the_interval_is_that_of_the_scores_in_percent():
    score, (error, *_) = (
        aer(FOUND * 7, SURE * 7, POSSIBLE * 7, seed=5),
        link_scores(FOUND * 7, SURE * 7, POSSIBLE * 7, seed=5),
    )
    assert (100 * score.low, 100 * score.high) == pytest.approx((error.low, error.high))
    assert score.low < score.aer < score.high
    bare = aer(FOUND, SURE, POSSIBLE, seed=None)
    assert (bare.low, bare.high) == (None, None)


def test_sentences_by_hand():
    first, second = aer_by_sentence(FOUND, SURE, POSSIBLE)
    assert (first.precision, first.recall, first.aer) == pytest.approx((2 / 3, 1 / 2, 1 - 3 / 5))
    assert (second.precision, second.recall, second.aer) == pytest.approx((1 / 2, 1, 1 - 2 / 3))
    assert (first.links, second.links) == (3, 2)


def test_possible_links_are_neither_asked_for_nor_wrong():
    assert aer([[(0, 0)]], [[(0, 0)]], [[(1, 1)]]).aer == 0
    assert aer([[(0, 0), (1, 1)]], [[(0, 0)]], [[(1, 1)]]).aer == 0
    assert aer([[(0, 0), (1, 1)]], [[(0, 0)]]).aer == pytest.approx(1 - 2 / 3)


def test_sure_links_written_as_possible_too_change_nothing():
    both = [[*sure, *possible] for sure, possible in zip(SURE, POSSIBLE, strict=True)]
    assert aer(FOUND, SURE, both) == aer(FOUND, SURE, POSSIBLE)


@pytest.mark.parametrize(
    ("found", "sure", "possible", "expected"),
    [
        ([], [(0, 0)], [], AlignmentScore(aer=1.0, precision=1.0, recall=0.0, f1=0.0, links=0)),
        ([], [], [], AlignmentScore(aer=0.0, precision=1.0, recall=1.0, f1=1.0, links=0)),
        ([(0, 0)], [], [], AlignmentScore(aer=1.0, precision=0.0, recall=1.0, f1=0.0, links=1)),
        ([(0, 0)], [], [(0, 0)], AlignmentScore(aer=0.0, precision=1.0, recall=1.0, f1=1.0, links=1)),
        ([(0, 1)], [(0, 0)], [], AlignmentScore(aer=1.0, precision=0.0, recall=0.0, f1=0.0, links=1)),
    ],
)
def test_where_something_is_empty(found, sure, possible, expected):
    assert aer([found], [sure], [possible], seed=None) == expected
    drawn = aer([found], [sure], [possible])
    assert (drawn.low, drawn.high) == (expected.aer, expected.aer), "one sentence, always drawn"


def test_a_link_found_twice_counts_once():
    assert aer([[(0, 0), (0, 0)]], [[(0, 0)]]).links == 1


links = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(st.lists(st.tuples(links, links, links), min_size=1, max_size=7))
def test_properties(sentences):
    found, sure, possible = (list(column) for column in zip(*sentences, strict=True))
    score = aer(found, sure, possible, seed=None)
    for value in (score.aer, score.precision, score.recall, score.f1):
        assert 0 <= value <= 1
    assert aer(sure, sure, possible, seed=None).aer == 0
    everything_sure = aer(found, sure, seed=None)
    if score.links and any(sure):  # with sure links alone the error is one less F1
        assert everything_sure.aer == pytest.approx(1 - everything_sure.f1)
    assert aer(found[::-1], sure[::-1], possible[::-1], seed=None) == score
    assert len(aer_by_sentence(found, sure, possible)) == len(found)


def test_gold_is_read_as_it_is_written():
    examples = [Pair("a b c", "x y", ((0, 0), (2, 1)), ((1, 1),)), Pair("a", "x"), Pair("a", "x", ((0, 0),))]
    gold = read_links(example.gold() for example in examples)
    assert gold.sure == [example.sure for example in examples]
    assert gold.possible == [example.possible for example in examples]


@pytest.mark.parametrize("name", ["test.de-en.gold", "test.de-en.gold.gz"])
def test_a_gold_file_is_read(tmp_path, name):
    content = b"0-0 1?2\n\n10-11\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    gold = read_gold_file(tmp_path / name)
    assert gold.sure == [((0, 0),), (), ((10, 11),)]
    assert gold.possible == [((1, 2),), (), ()]


@pytest.mark.parametrize("item", ["0:1", "0-", "-1-2", "1?-2", "a-b", "1-2-3", "7"])
def test_a_wrong_link_is_told_with_its_line(tmp_path, item):
    path = tmp_path / "test.gold"
    path.write_text(f"0-0\n1-1 {item}\n", encoding="utf-8")
    with pytest.raises(BrokenData, match=r"test\.gold:2: expected links") as told:
        read_gold_file(path)
    assert f"found '{item}'" in str(told.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingData, match="none.gold: expected a file of gold links"):
        read_gold_file(tmp_path / "none.gold")
    (tmp_path / "empty.gold").write_bytes(b"")
    with pytest.raises(BrokenData, match="the file is empty"):
        read_gold_file(tmp_path / "empty.gold")


def test_mistakes_are_told():
    with pytest.raises(UsageError, match="at least one sentence"):
        aer([], [])
    with pytest.raises(UsageError, match="found 1 found, 2 sure"):
        aer([[]], [[], []])
    with pytest.raises(UsageError, match="found 1 found, 1 sure, 2 possible"):
        aer([[]], [[]], [[], []])


def test_scores_in_percent_with_what_drawing_anew_gives():
    """By hand: a sentence that is right and one that is wrong give any error from 0 to 100."""
    found, sure = [[(0, 0)], [(0, 1)]], [[(0, 0)], [(0, 0)]]
    scores = link_scores(found, sure, seed=7)
    assert [score.name for score in scores] == ["AER", "precision", "recall", "F1"]
    assert [(score.value, score.low, score.high) for score in scores] == [(50.0, 0.0, 100.0)] * 4
    assert all(f"bs:{DRAWS}|seed:7|" in score.signature for score in scores)
    alike = link_scores(found * 19, sure * 19)
    assert 20 < alike[0].low < 50 < alike[0].high < 80
    possible = link_scores([[(0, 0), (1, 1)]], [[(0, 0)]], [[(1, 1)]])
    assert [score.value for score in possible] == [0.0, 100.0, 100.0, 100.0]
