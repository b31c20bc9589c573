"""Toy tasks: right answers, right links, splits that share no line."""

import pytest

from regard.data.pair import read_gold
from regard.data.splits import split_of
from regard.data.toys import TASKS, Sizes, generate, symbols
from regard.errors import UnknownName, UsageError


@pytest.fixture(params=sorted(TASKS))
def task(request) -> str:
    return request.param


def test_answers_are_right():
    for pair in generate("copy", split="train", size=200):
        assert pair.target == pair.source
    for pair in generate("reverse", split="train", size=200):
        assert pair.target.split() == pair.source.split()[::-1]
    for pair in generate("sort", split="train", size=200):
        assert pair.target.split() == sorted(pair.source.split())
    for pair in generate("lookup", split="train", size=200):
        *slots, question = pair.source.split()
        assert len(slots) == 16 and dict(slot.split("=") for slot in slots)[question[:-1]] == pair.target


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_links_join_equal_words(task: str):
    for pair in generate(task, split="train", size=200):
        source, target = pair.source.split(), pair.target.split()
        assert all(source[s] == target[t] for s, t in pair.sure + pair.possible)
        assert sorted(s for s, _ in pair.sure) == sorted(t for _, t in pair.sure) == list(range(len(source)))
        assert not set(pair.sure) & set(pair.possible)


def test_links_of_reversal_cross():
    for pair in generate("reverse", split="train", size=50):
        assert {s + t for s, t in pair.sure} == {len(pair.source.split()) - 1}


def test_sorting_keeps_the_order_of_equal_words():
    for pair in generate("sort", split="train", size=200):
        source = pair.source.split()
        by_target = [s for _, s in sorted((t, s) for s, t in pair.sure)]
        assert by_target == sorted(range(len(source)), key=lambda place: (source[place], place))
        twins = sum(source.count(word) for word in source)
        assert len(pair.possible) == twins - len(source)


def test_lookup_links_the_slot_and_possibly_the_question():
    places = set()
    for pair in generate("lookup", split="train", size=300):
        words = pair.source.split()
        ((asked, answer),) = pair.sure
        assert words[asked].split("=") == [words[16][:-1], pair.target] and answer == 0
        assert pair.possible == ((16, 0),)
        places.add(asked)
    assert places == set(range(16))  # the slot asked for stands anywhere


def test_gold_survives_writing(task: str):
    for pair in generate(task, split="val", size=20):
        assert read_gold(pair.gold()) == (pair.sure, pair.possible)


def test_splits_are_a_property_of_the_line(task: str):
    for split in ("train", "val", "test"):
        pairs = list(generate(task, split=split, size=100, seed=5))
        assert {split_of(pair.source) for pair in pairs} == {split}
        assert len({pair.source for pair in pairs}) == 100


def test_the_seed_decides_and_more_goes_on(task: str):
    first = list(generate(task, split="test", size=20, seed=3))
    assert list(generate(task, split="test", size=40, seed=3))[:20] == first
    assert list(generate(task, split="test", size=20, seed=4)) != first


def test_sizes_can_be_asked_for():
    sizes = Sizes(shortest=5, longest=7, symbols=100, slots=3, classes=2)
    lines = [pair.source.split() for pair in generate("copy", split="train", size=300, sizes=sizes)]
    assert {len(line) for line in lines} == {5, 6, 7}
    assert {word for line in lines for word in line} == set(symbols(100))
    (pair, *_) = generate("lookup", split="train", size=1, sizes=sizes)
    assert len(pair.source.split()) == 4 and pair.target in ("1", "2")


def test_defaults_are_three_to_twenty_words_of_twenty():
    lines = [pair.source.split() for pair in generate("sort", split="train", size=1_000)]
    assert {len(line) for line in lines} == set(range(3, 21))
    assert {word for line in lines for word in line} == set("abcdefghijklmnopqrst")


def test_symbols_are_in_order_and_of_one_width():
    for count in (1, 26, 27, 700):
        words = symbols(count)
        assert words == sorted(set(words)) and len(words) == count and len({len(word) for word in words}) == 1


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match=r"no toy task is called 'revers'.*\n.*Did you mean 'reverse'"):
        generate("revers", split="train", size=1)
    with pytest.raises(UnknownName, match="no split is called 'tests'"):
        generate("copy", split="tests", size=1)
    with pytest.raises(UsageError, match="sizes of a toy task are 1 or more"):
        Sizes(shortest=5, longest=4)
    with pytest.raises(UsageError, match="50 different lines were asked for; there are only about"):
        list(generate("copy", split="train", size=50, sizes=Sizes(shortest=1, longest=2, symbols=3)))
