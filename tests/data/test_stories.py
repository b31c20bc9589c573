"""Stories: what fits what, one order, no story in two splits."""

import pytest

from regard.data import stories
from regard.data.builtin import examples


def told(split="train", size=600, seed=0):
    """The stories of a split, each a list of lines; the last may be cut off."""
    text = "".join(pair.source + ("" if pair.source.endswith("\n") else "\n\n") for pair in lines(split, size, seed))
    return [story.splitlines() for story in text.split("\n\n")][:-1]


def lines(split="train", size=600, seed=0):
    return list(stories.generate(split=split, size=size, seed=seed))


def test_size_counts_lines_and_the_first_ones_stay():
    assert len(lines(size=97)) == 97
    assert lines(size=300)[:97] == lines(size=97) != lines(size=97, seed=1)
    assert all(pair.target == "" for pair in lines(size=97))


def test_a_language_model_reads_nothing():
    found = list(examples("stories", split="val", size=11, source="nothing", target="text"))
    assert [pair.target for pair in found] == [pair.source for pair in lines("val", 11)]
    assert all(pair.source == "" for pair in found)


def test_lines_go_on_to_the_end_of_a_story():
    for story in told():
        assert 4 <= len(story) <= 7
        assert all(line.endswith(" .") for line in story)
        name = story[0].split()[0]
        assert name in stories.WOMEN + stories.MEN
        assert name in story[-1].split() and not any(name in line.split() for line in story[1:-1])


def test_words_fit_across_lines():
    for story in told():
        kind, thing = story[1].split()[-3:-1]
        assert kind in stories.THINGS[thing].kinds
        assert story[-1].split()[-4] in stories.THINGS[thing].uses
        assert story[1].split()[0] == ("she" if story[0].split()[0] in stories.WOMEN else "he")
        for line in story:
            for animal, sounds in stories.SOUNDS.items():
                if animal in line.split():
                    assert line.split()[line.split().index(animal) + 1] in sounds


def test_no_story_is_in_two_splits_or_twice():
    found = {split: ["\n".join(story) for story in told(split)] for split in ("train", "val", "test")}
    every = [story for some in found.values() for story in some]
    assert len(set(every)) == len(every) > 200


def test_every_thing_is_somewhere_and_known():
    placed = {thing for place in stories.PLACES for thing in place.things}
    assert placed == set(stories.THINGS)


@pytest.mark.parametrize("split", ["train", "val"])
def test_reviews_may_be_read_without_their_labels(split):
    bare = list(examples("reviews", split=split, size=13, source="text", target="nothing"))
    whole = list(examples("reviews", split=split, size=13))
    assert [each.source for each in bare] == [each.source for each in whole]
    assert {each.target for each in bare} == {""} and {each.target for each in whole} == {"pos", "neg"}
