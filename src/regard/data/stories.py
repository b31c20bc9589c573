"""Stories: a few lines each, in which somebody fetches something and uses it; words fit one another across lines.

    Mary walked to the market in the morning .
    she looked for a ripe pear .
    an old dog barked behind the fountain .
    she paid seven coins for the pear .
    in the evening Mary ate the pear .

What is hidden in such a text can be told from both sides: the kind of a thing from the thing after it, an animal from
the sound it makes, a thing from what is done with it. The lines have one order: a name comes before its pronoun, a
thing is looked for, paid for, then used. Every line of a story but the last ends with a line feed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from random import Random
from typing import NamedTuple

from regard.data.pair import Pair
from regard.data.splits import check_split, draw_distinct, split_of

WOMEN = ("Mary", "Anna", "Clara", "Ruth", "Nora", "Ida", "Vera", "Lucy")
MEN = ("John", "Peter", "Hugo", "Simon", "Oscar", "Felix", "Martin", "Paul")


class Place(NamedTuple):
    """Where things are, and what stands there."""

    name: str
    things: tuple[str, ...]
    marks: tuple[str, ...]


class Thing(NamedTuple):
    """What it may be like, and what is done with it."""

    kinds: tuple[str, ...]
    uses: tuple[str, ...]


PLACES = (
    Place("market", ("pear", "melon", "cheese", "fish"), ("fountain", "bench", "stall")),
    Place("bakery", ("loaf", "cake", "pie"), ("oven", "counter", "shelf")),
    Place("library", ("book", "map", "letter"), ("desk", "stairs", "lamp")),
    Place("harbour", ("fish", "rope", "boat"), ("crane", "pier", "lighthouse")),
    Place("workshop", ("chair", "boat", "violin", "hammer"), ("bench", "stove", "window")),
    Place("garden", ("rose", "melon", "tree"), ("fence", "pond", "gate")),
    Place("shop", ("coat", "hat", "lantern", "clock"), ("mirror", "counter", "window")),
)
THINGS = {
    "pear": Thing(("ripe", "sweet", "yellow"), ("ate", "peeled")),
    "melon": Thing(("ripe", "sweet", "heavy"), ("ate", "cut")),
    "cheese": Thing(("salty", "soft", "yellow"), ("ate", "cut")),
    "fish": Thing(("fresh", "silver", "salty"), ("cooked", "fried")),
    "loaf": Thing(("fresh", "warm", "brown"), ("ate", "cut")),
    "cake": Thing(("sweet", "warm", "round"), ("ate", "shared")),
    "pie": Thing(("warm", "sweet", "round"), ("ate", "shared")),
    "book": Thing(("thick", "famous", "long"), ("read", "opened")),
    "map": Thing(("torn", "large", "folded"), ("unfolded", "studied")),
    "letter": Thing(("long", "sealed", "folded"), ("read", "answered")),
    "rope": Thing(("strong", "long", "thick"), ("tied", "coiled")),
    "boat": Thing(("wooden", "narrow", "painted"), ("rowed", "launched")),
    "chair": Thing(("wooden", "painted", "broken"), ("mended", "polished")),
    "violin": Thing(("polished", "small", "precious"), ("played", "tuned")),
    "hammer": Thing(("heavy", "strong", "rusty"), ("swung", "sharpened")),
    "rose": Thing(("red", "wild", "young"), ("planted", "watered")),
    "tree": Thing(("young", "small", "wild"), ("planted", "watered")),
    "coat": Thing(("woollen", "grey", "thick"), ("wore", "brushed")),
    "hat": Thing(("grey", "woollen", "elegant"), ("wore", "brushed")),
    "lantern": Thing(("rusty", "bright", "small"), ("lit", "hung")),
    "clock": Thing(("precious", "broken", "large"), ("wound", "mended")),
}
SOUNDS = {
    "dog": ("barked", "growled"),
    "cat": ("purred", "hissed"),
    "cow": ("mooed",),
    "sheep": ("bleated",),
    "horse": ("neighed", "snorted"),
    "duck": ("quacked",),
    "owl": ("hooted",),
    "frog": ("croaked",),
}
ANIMAL_KINDS = ("old", "black", "lazy", "big")
WAYS = ("walked", "went", "ran", "drove", "hurried")
MORNINGS = ("in the morning", "at dawn", "before noon")
EVENINGS = ("in the evening", "at night", "after supper")
COINS = ("two", "three", "five", "seven", "nine")
LIKED = ("smiled", "laughed", "nodded")


def generate(*, split: str, size: int, seed: int = 0, read: bool = True) -> Iterator[Pair]:
    """Draw stories with `size` lines in all; the split of a story is decided by the story. No two are the same.

    A line is the source of its pair, or, with `read` false, the target: a language model reads nothing.
    """
    check_split(split)
    random = Random(f"stories {split} {seed}")
    stories = draw_distinct(partial(_draw, random, split), size)
    lines = (line for story in stories for line in story.source.splitlines(keepends=True))
    return (Pair(line, "") if read else Pair("", line) for line in islice(lines, size))


def _draw(random: Random, split: str) -> Pair | None:
    text = "\n".join(f"{line} ." for line in _story(random))
    return Pair(text, "") if split_of(text) == split else None


def _story(random: Random) -> list[str]:
    """The lines of one story."""
    woman = random.random() < 0.5
    name, pronoun = random.choice(WOMEN if woman else MEN), "she" if woman else "he"
    place = random.choice(PLACES)
    thing = random.choice(place.things)
    about = THINGS[thing]
    lines = [
        f"{name} {random.choice(WAYS)} to the {place.name} {random.choice(MORNINGS)}",
        f"{pronoun} looked for a {random.choice(about.kinds)} {thing}",
    ]
    if random.random() < 0.6:
        lines.append(_animal(random, place))
    if random.random() < 0.7:
        lines.append(f"{pronoun} found the {thing} near the {random.choice(place.marks)} and {random.choice(LIKED)}")
    lines.append(f"{pronoun} paid {random.choice(COINS)} coins for the {thing}")
    if random.random() < 0.5:
        lines.append(f"then {pronoun} carried the {thing} home")
    lines.append(f"{random.choice(EVENINGS)} {name} {random.choice(about.uses)} the {thing}")
    return lines


def _animal(random: Random, place: Place) -> str:
    animal = random.choice(tuple(SOUNDS))
    kind, sound = random.choice(ANIMAL_KINDS), random.choice(SOUNDS[animal])
    article = "an" if kind[0] in "aeiou" else "a"
    return f"{article} {kind} {animal} {sound} behind the {random.choice(place.marks)}"
