"""The side `segments`: one text or two, which is which, and how they are cut."""

import pytest
import torch

from regard.data.sides.segments import Line, Segments
from regard.data.tokenizer import END, START
from regard.errors import BrokenData

TEXTS = ["a b c d e", "b a\tc d e", "c c a\n", "e d c b a d e\td", "d"]


def fitted(**settings):
    side = Segments("source", pieces="characters", **settings)
    side.fit(TEXTS)
    return side


def test_two_texts_stand_between_special_pieces():
    side = fitted()
    items = side.encode(TEXTS)
    batch = side.collate(items)
    b, a = (side.tokenizer.encode_ids([letter])[0][0] for letter in "ba")
    space = side.tokenizer.encode_ids([" "])[0][0]
    assert batch.data[1, :6].tolist() == [START, b, space, a, END, *side.tokenizer.encode_ids(["c"])[0]]
    assert batch.segments[1, :5].tolist() == [0] * 5, "the first special piece and the first end are of the first text"
    assert batch.segments[1, 5:11].tolist() == [1] * 6
    assert batch.segments[1, 11:].eq(0).all()
    assert (batch.data == END).sum(1).tolist() == [1, 2, 1, 2, 1]
    assert batch.mask.sum(1).tolist() == [side.positions(item) for item in items]


def test_a_row_that_goes_on_is_told_and_its_line_feed_is_no_piece():
    side = fitted()
    goes_on, alone = side.encode(["c c a\n", "c c a"])
    assert isinstance(goes_on, Line) and not isinstance(alone, Line)
    assert list(goes_on.ids) == alone
    assert side.encode(["\n"])[0] == Line(())
    assert torch.equal(side.collate([goes_on]).data, side.collate([alone]).data)


def test_the_tokenizer_is_learnt_from_the_texts_without_tabs():
    assert not {"\t", "\n"} & {fitted().tokenizer.said(piece) for piece in range(260, len(fitted().tokenizer))}


@pytest.mark.parametrize(("text", "kept"), [("a b c d e", (5,)), ("a b c\td", (3, 1)), ("a b c d e\td e a b", (3, 2))])
def test_what_is_too_long_is_cut_at_its_end_the_longer_text_first(text, kept):
    side = Segments("source", pieces="words", length=2 + 5 if len(kept) == 1 else 8)
    side.fit(["a b c d e"] * 20)
    (item,) = side.encode([text])
    assert tuple(map(len, side.cut(item))) == kept
    assert side.positions(item) == side.collate([item]).mask.sum() <= side.length
    assert list(side.cut(item)[0]) == side.tokenizer.encode_ids(["a b c d e"])[0][: kept[0]]


def test_three_texts_are_refused():
    with pytest.raises(BrokenData, match="found 3") as error:
        fitted().encode(["a\tb\tc"])
    assert "tabs" in error.value.hint


def test_rows_that_are_taken_keep_their_segments():
    side = fitted()
    whole = side.collate(side.encode(TEXTS))
    some = whole.take(slice(1, None, 3))
    assert torch.equal(some.segments, whole.segments[1::3, : some.data.shape[1]])
    short = whole.take(slice(4, 5))
    assert short.segments.shape == short.data.shape == (1, 3)


def test_examples_that_are_too_long_may_be_left_out():
    side = fitted(longest=3)
    assert [side.fits(item) for item in side.encode(TEXTS)] == [False, False, False, False, True]
