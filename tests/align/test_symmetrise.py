"""Two directions made one: a case by hand, and a naive second implementation held against ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from regard.align.symmetrise import METHODS, symmetrise
from regard.errors import UnknownName

# Six source and eight target words. Forward gives each target word at most one source word, backward the reverse.
FORWARD = [(0, 0), (1, 1), (1, 2), (3, 3), (0, 4), (0, 5)]
BACKWARD = [(0, 0), (1, 1), (2, 2), (3, 4), (5, 7)]


def test_by_hand():
    """From 1-1 the neighbours 1-2 and 2-2 bring in target 2 and source 2, from there 3-3, from there 3-4.

    0-4 touches nothing and brings in no word. 0-5 touches nothing and brings in target 5: `final` takes it, `and`
    does not. 5-7 brings in two words: both take it.
    """
    grown = [(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (3, 4)]
    assert symmetrise(FORWARD, BACKWARD, "intersection") == [(0, 0), (1, 1)]
    assert symmetrise(FORWARD, BACKWARD, "union") == sorted({*FORWARD, *BACKWARD})
    assert symmetrise(FORWARD, BACKWARD, "grow-diag-final-and") == sorted([*grown, (5, 7)])
    assert symmetrise(FORWARD, BACKWARD, "grow-diag-final") == sorted([*grown, (0, 5), (5, 7)])
    assert symmetrise(FORWARD, BACKWARD) == symmetrise(FORWARD, BACKWARD, "grow-diag-final")


def naive(forward, backward, method):
    """The published loops as they stand: the whole grid again and again until nothing is added."""
    forward, backward = set(forward), set(backward)
    both, union = forward & backward, forward | backward
    if method in ("intersection", "union"):
        return sorted(both if method == "intersection" else union)
    found = set(both)
    height, width = 1 + max((t for _, t in union), default=-1), 1 + max((s for s, _ in union), default=-1)

    def lacks(source, target):
        return source not in {s for s, _ in found}, target not in {t for _, t in found}

    added = True
    while added:
        added = False
        for target in range(height):
            for source in range(width):
                if (source, target) not in found:
                    continue
                for down, right in ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    new = (source + right, target + down)
                    if new in union and new not in found and any(lacks(*new)):
                        found.add(new)
                        added = True
    for links in (forward, backward):
        for target in range(height):
            for source in range(width):
                enough = all if method.endswith("and") else any
                if (source, target) in links and enough(lacks(source, target)):
                    found.add((source, target))
    return sorted(found)


LINKS = some.sets(some.tuples(some.integers(0, 6), some.integers(0, 4)), max_size=17)


@pytest.mark.parametrize("method", METHODS)
@given(forward=LINKS, backward=LINKS)
def test_as_the_naive_one(method, forward, backward):
    assert symmetrise(forward, backward, method) == naive(forward, backward, method)


@given(forward=LINKS, backward=LINKS)
def test_between_what_both_and_what_one_has(forward, backward):
    least, most = (set(symmetrise(forward, backward, method)) for method in ("intersection", "union"))
    careful, bold = (set(symmetrise(forward, backward, f"grow-diag-final{tail}")) for tail in ("-and", ""))
    assert least <= careful <= most
    assert least <= bold <= most
    assert {s for s, _ in bold} == {s for s, _ in most}, "final leaves no word out that one direction links"
    assert {t for _, t in bold} == {t for _, t in most}


@pytest.mark.parametrize("method", METHODS)
def test_limits(method):
    assert symmetrise([], [], method) == []
    assert symmetrise(FORWARD, FORWARD, method) == sorted(FORWARD)


def test_an_unknown_method():
    with pytest.raises(UnknownName, match="Did you mean 'grow-diag-final"):
        symmetrise([], [], "grow-diag-finale")
