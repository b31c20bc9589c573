"""Examples of documents: what stands in them, whether it follows, and that nothing is lost or too long."""

from random import Random

import pytest

from regard.data.examples.documents import Documents
from regard.data.sides.segments import Line
from regard.errors import BrokenData
from regard.task import Example


def pool(*documents, first=0):
    """Rows of documents: each line its number and place, so that every piece tells where it is from."""
    found, row = [], first
    for number, lengths in enumerate(documents, 1):
        for place, length in enumerate(lengths):
            ids = tuple(1000 * number + 100 * place + piece for piece in range(length))
            found.append(Example(list(ids) if place == len(lengths) - 1 else Line(ids), None, row))
            row += 1
    return found


def document(piece):
    return piece // 1000


def line(piece):
    return piece % 1000 // 100


def test_one_segment_holds_as_many_lines_as_there_is_room_for():
    made = Documents(length=13, pairs="none", short=0.0)(pool((5, 3, 3, 2), (4,)), Random(1))
    assert [len(each.source) for each in made] == [11, 2, 4]
    assert all(isinstance(each.source, list) for each in made), "one text, not a pair"
    assert [each.row for each in made] == [0, 3, 4]
    assert [each.extra for each in made] == [{"part": 0}, {"part": 3}, {"part": 0}]
    every = [piece for each in made for piece in each.source]
    assert every == [piece for each in pool((5, 3, 3, 2), (4,)) for piece in getattr(each.source, "ids", each.source)]


def test_a_line_that_is_too_long_is_several():
    made = Documents(length=7, pairs="none", short=0.0)(pool((13,)), Random(1))
    assert [len(each.source) for each in made] == [5, 5, 3]
    assert [each.extra["part"] for each in made] == [0, 1, 2], "each is told apart, though they are of one row"


@pytest.mark.parametrize("pairs", ["next", "order"])
def test_pairs_fit_and_are_what_they_are_said_to_be(pairs):
    rows = pool(*[(3, 5, 2, 7, 3, 2)] * 41)
    made = [each for seed in range(5) for each in Documents(length=19, pairs=pairs)(rows, Random(seed))]
    for each in made:
        first, second = each.source
        assert first and second and len(first) + len(second) + 3 <= 19
        same, follows = document(first[0]) == document(second[0]), each.extra["follows"]
        if pairs == "next":
            assert not follows or (same and line(second[0]) == line(first[-1]) + 1)
            assert follows or not same, "of another document"
        else:
            assert same
            ahead, behind = (first, second) if follows else (second, first)
            assert line(behind[0]) == line(ahead[-1]) + 1
    share = sum(each.extra["follows"] for each in made) / len(made)
    assert 0.35 < share < 0.6
    assert len({(each.row, each.extra["part"]) for each in made[: len(made) // 9]}) == len(made) // 9


@pytest.mark.parametrize(("pairs", "least"), [("next", 0.7), ("order", 0.99)])
def test_how_often_they_follow_is_a_setting(pairs, least):
    rows = pool(*[(3, 5, 2, 7)] * 31)
    always = Documents(length=23, pairs=pairs, follows=1.0, short=0.0)(rows, Random(2))
    never = Documents(length=23, pairs=pairs, follows=0.0, short=0.0)(rows, Random(2))
    assert sum(each.extra["follows"] for each in always) / len(always) >= least
    assert not any(each.extra["follows"] for each in never)


def test_the_same_dice_make_the_same_and_others_do_not():
    rows, part = pool(*[(3, 5, 2, 7)] * 11), Documents(length=17)
    assert part(rows, Random(3)) == part(rows, Random(3)) != part(rows, Random(4))


def test_some_are_shorter():
    rows = pool(*[(2,) * 50] * 7)
    whole = Documents(length=43, pairs="none", short=0.0)(rows, Random(1))
    short = Documents(length=43, pairs="none", short=1.0)(rows, Random(1))
    assert max(len(each.source) for each in short) <= max(len(each.source) for each in whole) <= 41
    assert len({len(each.source) for each in short}) > 5


def test_an_empty_line_and_a_gap_end_a_document():
    rows = pool((3, 2, 4))
    parted = [rows[0], Example(Line(()), None, 1), Example(rows[1].source, None, 2), Example(rows[2].source, None, 3)]
    made = Documents(length=29, pairs="none", short=0.0)(parted, Random(1))
    assert [len(each.source) for each in made] == [3, 6]
    gap = [rows[0], Example(rows[1].source, None, 5), Example(rows[2].source, None, 6)]
    assert [len(each.source) for each in Documents(length=29, pairs="none", short=0.0)(gap, Random(1))] == [3, 6]


def test_single_lines_make_no_pairs_and_that_is_told():
    with pytest.raises(BrokenData, match="two lines or more") as error:
        Documents(pairs="order")(pool((3,), (5,)), Random(1))
    assert 'pairs = "none"' in error.value.hint
    assert Documents(pairs="none")([], Random(1)) == []


def test_one_document_alone_is_paired_with_itself():
    made = Documents(length=11, pairs="next", follows=0.0)(pool((3, 4, 2)), Random(1))
    assert made and all(document(each.source[1][0]) == 1 for each in made)
