"""Blocks: long text in stretches of one length, across rows, resumable from epoch, pool and place."""

from random import Random

import pytest

from regard.data.batches import Batches
from regard.data.examples.blocks import Blocks
from regard.data.pairs import Pairs
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Framed, Text
from regard.data.tokenizer import END, START, Tokenizer
from regard.errors import UsageError
from regard.task import Example

LINES = [f"{' '.join(f'w{(row * 7 + place) % 13}' for place in range(1 + row % 5))}" for row in range(23)]


@pytest.fixture(scope="module")
def goal():
    target = Text.of(Tokenizer.train(LINES, kind="words"), "target")
    target.framed = True
    return Pairs(Nothing("source"), target)


def pool(lines, goal):
    items = goal.target.encode(lines)
    return [Example(None, item, row, goal.target.predictions(item)) for row, item in enumerate(items)]


def stream(lines, goal):
    return [piece for item in goal.target.encode(lines) for piece in item.ids[1:]]


def test_mixed_blocks_are_the_same_in_another_order(goal):
    """So that a batch has blocks from all over its pool."""
    plain, mixed = (Blocks(length=3, mixed=mixed)(pool(LINES, goal), Random(1)) for mixed in (False, True))
    assert [each.target.ids for each in mixed] != [each.target.ids for each in plain]
    assert sorted(each.target.ids for each in mixed) == sorted(each.target.ids for each in plain)


def test_blocks_by_hand():
    target = [Framed((END, 5, 6, END)), Framed((END, 7, END)), Framed((END, 8, 9, 10))]
    rows = [Example(None, item, row) for row, item in enumerate(target)]
    found = Blocks(length=3)(rows, Fixed(2))
    assert [each.target.ids for each in found] == [(END, 5, 6), (6, END, 7, END), (END, 8, 9, 10)]
    assert [each.weight for each in found] == [2, 3, 3]
    assert [each.row for each in found] == [0, 0, 2]


class Fixed(Random):
    """Draws one number."""

    def __init__(self, number):
        super().__init__(0)
        self.number = number

    def randint(self, low, high):
        return min(max(self.number, low), high)


@pytest.mark.parametrize("length", [1, 2, 7, 31, 1000])
def test_every_piece_is_predicted_once_after_the_one_before(goal, length):
    whole = stream(LINES, goal)
    found = Blocks(length=length)(pool(LINES, goal), Random(5))
    assert [piece for each in found for piece in each.target.ids[1:]] == whole
    assert all(len(each.target.ids) <= length + 1 for each in found)
    assert all(each.weight == goal.target.predictions(each.target) >= 1 for each in found)
    firsts = [each.target.ids[0] for each in found]
    lasts = [END, *(each.target.ids[-1] for each in found)]
    assert firsts == lasts[:-1], "a block begins with the last piece of the one before"
    middle = found[1:-1]
    assert all(each.weight == length for each in middle)


def test_where_the_first_block_ends_is_drawn(goal):
    firsts = {Blocks(length=11)(pool(LINES, goal), Random(seed))[0].weight for seed in range(40)}
    assert len(firsts) > 5 and firsts <= set(range(1, 12))


def test_what_is_read_is_packed_too(goal):
    source = Text.of(goal.target.tokenizer, "source")
    rows = [Example(item, None, row) for row, item in enumerate(source.encode(LINES))]
    found = Blocks(length=7)(rows, Random(3))
    assert [piece for each in found for piece in each.source] == stream(LINES, goal)
    assert all(each.target is None for each in found)


class Rows:
    """One column, as a split."""

    def __init__(self, lines):
        self.lines = lines

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, rows, /):
        return {"target": [self.lines[row] for row in rows]}


def batches(goal, **settings):
    asked = {"tokens": 41, "pool": 9, "seed": 3, "examples": Blocks(length=7), **settings}
    return Batches(Rows(LINES), goal, **asked)


def pieces(batch):
    return [row[mask].tolist() for row, mask in zip(batch.target.data, batch.target.mask, strict=True)]


def test_an_epoch_has_every_piece_and_rows_stay_in_their_order(goal):
    made = batches(goal)
    for _ in range(2):
        found = [line for batch in made for line in pieces(batch)]
        assert sum(len(line) - 1 for line in found) == len(stream(LINES, goal))
        inside = {tuple(line[1:]) for line in found}
        whole = tuple(stream(LINES, goal))
        assert all(any(whole[at : at + len(line)] == line for at in range(len(whole))) for line in inside)
    assert made.epochs == 2


def test_batches_are_shuffled_and_differ_from_epoch_to_epoch(goal):
    made = batches(goal)
    first, second = ([line for batch in made for line in pieces(batch)] for _ in range(2))
    assert first != second
    assert all(START not in line for line in first)


@pytest.mark.parametrize("stop", [1, 4, 6, 9, 13])
def test_a_stream_of_blocks_goes_on_where_it_stopped(goal, stop):
    whole = batches(goal).forever()
    wanted = [pieces(next(whole)) for _ in range(20)]
    first = batches(goal)
    flow = first.forever()
    before = [pieces(next(flow)) for _ in range(stop)]
    second = batches(goal)
    second.restore(first.state())
    flow = second.forever()
    assert before + [pieces(next(flow)) for _ in range(20 - stop)] == wanted
    assert set(first.state()) == {"epoch", "pool", "place", "tally", "before", "of"}


def test_blocks_of_another_length_do_not_go_on(goal):
    other = batches(goal, examples=Blocks(length=5))
    with pytest.raises(UsageError, match="blocks is 5, was 7"):
        other.restore(batches(goal).state())


def test_without_shuffle_every_epoch_is_the_same(goal):
    made = batches(goal, shuffle=False)
    assert [pieces(batch) for batch in made] == [pieces(batch) for batch in made]
