"""The table of built-in corpora: every one draws, repeats itself and keeps its splits apart."""

from itertools import islice

import pytest

from regard.data.builtin import BUILTIN, examples, swap
from regard.data.pair import Pair
from regard.data.splits import SPLITS, split_of
from regard.errors import UnknownName, UsageError

DIRECTIONS = [(name, source, target) for name in BUILTIN for source, target in BUILTIN[name].languages]
GLYPHS = ("glyphs", "glyphs-alphabet")
RUNNING = ("stories",)  # texts of several lines, which are drawn as a whole


def draw(name: str, source: str, target: str, split: str, size: int, seed: int = 0) -> list[Pair]:
    return list(examples(name, split=split, size=size, seed=seed, source=source, target=target))


def line(pair: Pair) -> str:
    """What a pair is known by: its source, or the text where nothing is read; an image that is made of a label."""
    made = pair.target.endswith(".png") and not pair.source.endswith(".png")
    return pair.target if made else pair.source or pair.target


@pytest.fixture(params=DIRECTIONS, ids="-".join)
def direction(request) -> tuple[str, str, str]:
    return request.param


def test_the_names_that_were_promised():
    pairs = {"dates", "phrasebook", "copy", "reverse", "sort", "lookup"}
    labelled = {
        "needle",
        "reviews",
        "reviews-long",
        "tagged",
        "shapes",
        "scenes",
        "mirror",
        "cue-discs",
        "formulas",
        "formulas-short",
        *GLYPHS,
    }
    assert set(BUILTIN) == pairs | labelled | {"agreement", "agreement-far", "agreement-mixed", "repeats", "stories"}


def test_every_corpus_gives_what_was_asked_for(direction):
    pairs = draw(*direction, "train", 60)
    assert len(pairs) == 60
    assert direction[0] in RUNNING or len({line(pair) for pair in pairs}) == 60
    assert pairs == draw(*direction, "train", 60)
    assert pairs[:30] == draw(*direction, "train", 30)
    assert pairs != draw(*direction, "train", 60, seed=1)


def test_gold_is_there_when_promised_and_within_the_lines(direction):
    for pair in draw(*direction, "train", 60):
        assert bool(pair.gold()) == (BUILTIN[direction[0]].has_gold and direction[2] != "nothing")
        source, target = len(pair.source.split()), len(pair.target.split())
        assert all(0 <= s < source and 0 <= t < target for s, t in pair.sure + pair.possible)


def test_no_source_is_in_two_splits(direction):
    if direction[0] in RUNNING:
        pytest.skip("lines of stories come again; that no story does is in test_stories")
    size = 10 if direction[0] == "phrasebook" else 150
    sources = {split: {line(pair) for pair in draw(*direction, split, size)} for split in SPLITS}
    assert sum(map(len, sources.values())) == len(set().union(*sources.values())) == 3 * size


@pytest.mark.parametrize("language", ["fr", "de"])
def test_towards_english_the_foreign_line_decides_the_split(language: str):
    """Two English lines of different splits may have one translation."""
    for split in SPLITS:
        assert {split_of(pair.source) for pair in draw("phrasebook", language, "en", split, 10)} == {split}


def test_a_size_of_its_own_per_split():
    pairs = examples("copy", split="val")
    assert sum(1 for _ in pairs) == BUILTIN["copy"].sizes["val"] == 1_000
    assert list(examples("dates", split="val", size=0)) == []


def test_swapping_turns_lines_and_links():
    pair = Pair("a b", "x y z", ((0, 2), (1, 0)), ((1, 1),))
    assert swap(pair) == Pair("x y z", "a b", ((0, 1), (2, 0)), ((1, 1),))
    assert swap(swap(pair)) == pair


def test_directions():
    phrasebook = BUILTIN["phrasebook"]
    assert phrasebook.direction() == ("en", "fr")
    assert phrasebook.direction(target="de") == ("en", "de")
    assert phrasebook.direction(source="de") == ("de", "en")
    with pytest.raises(UnknownName, match="no direction of phrasebook is called 'en-es'; there are de-en"):
        examples("phrasebook", split="train", size=1, target="es", source="en")


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match=r"no built-in corpus is called 'date'; .*\n.*'dates'"):
        examples("date", split="train")
    with pytest.raises(UnknownName, match="no split is called 'dev'; there are test, train, val"):
        examples("dates", split="dev")
    with pytest.raises(UsageError, match="0 or more; found -1"):
        examples("dates", split="train", size=-1)


def test_lines_are_drawn_one_by_one():
    (first,) = islice(examples("copy", split="train", size=10**9), 1)
    assert first.source == first.target
