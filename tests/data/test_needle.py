"""Needle: the label is the majority of a few telling words, and where these stand is known."""

from __future__ import annotations

import pytest

from regard.data.needle import Sizes, generate, label_of, signals
from regard.data.pair import read_gold
from regard.errors import UsageError


def test_by_hand():
    sizes = Sizes(length=5, signals=3, vocabulary=7, each=2)
    assert (sizes.positive, sizes.negative, sizes.noise) == (("w0", "w1"), ("w2", "w3"), ("w4", "w5", "w6"))
    assert signals("w4 w1 w3 w6 w0", sizes) == (1, 2, 4)
    assert label_of("w4 w1 w3 w6 w0", sizes) == "pos"
    assert label_of("w4 w2 w3 w6 w0", sizes) == "neg"


def test_every_line():
    lines = list(generate(split="train", size=503))
    for line in lines:
        assert len(line.source.split()) == 40
        assert signals(line.source) == tuple(place for place, _ in line.sure) and len(line.sure) == 3
        assert {target for _, target in line.sure} == {0} and line.possible == ()
        assert line.target == label_of(line.source)
        assert read_gold(line.gold())[0] == line.sure
    assert 200 < sum(line.target == "pos" for line in lines) < 300
    places = [place for line in lines for place, _ in line.sure]
    assert set(places) == set(range(40))  # anywhere


def test_sizes_can_be_changed():
    sizes = Sizes(length=61, signals=5, vocabulary=23, each=3)
    for line in generate(split="test", size=29, seed=3, sizes=sizes):
        assert len(line.source.split()) == 61 and len(signals(line.source, sizes)) == 5
        assert line.target == label_of(line.source, sizes)


@pytest.mark.parametrize(
    "sizes", [{"signals": 2}, {"signals": 0}, {"length": 2}, {"vocabulary": 10}, {"each": 0}, {"signals": 41}]
)
def test_sizes_that_cannot_be(sizes):
    with pytest.raises(UsageError, match="expected"):
        Sizes(**sizes)
