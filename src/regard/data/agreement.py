"""Agreement: sentences whose verb agrees with a subject that stands far before it, among nouns that may differ from it.

    the key near the old cabinets behind the door is heavy .
    the keys near the old cabinets behind the door are heavy .

What a language model has to carry to the verb is one bit, the number of the subject; how far, the sentence decides. The
verb of a line and its subject are found again by `subject_and_verb`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from regard.data.pair import Pair
from regard.data.splits import check_split, draw_distinct, split_of

NOUNS = (
    *("key", "cabinet", "door", "letter", "garden", "window", "picture", "table", "river", "house"),
    *("teacher", "doctor", "farmer", "student", "painter", "neighbour", "sailor", "baker", "singer", "driver"),
)
PLACES = ("near", "behind", "beside", "above", "under", "before")
KINDS = ("old", "new", "small", "large", "grey", "green", "quiet", "famous")
VERBS = (("is", "are"), ("was", "were"), ("has", "have"), ("seems", "seem"), ("looks", "look"), ("stays", "stay"))
ENDS = {"has": ("vanished", "changed", "moved"), "have": ("vanished", "changed", "moved")}
USUAL_ENDS = ("heavy", "strange", "familiar", "lost", "close", "pleasant")
MOST = 5  # phrases between subject and verb


def generate(*, split: str, size: int, seed: int = 0, most: int = MOST, another: float | None = None) -> Iterator[Pair]:
    """Draw `size` distinct lines; the split of a line is decided by the line. Nothing is read: the source is empty.

    At most `most` phrases stand between subject and verb: any number is as likely, or with `another`, the chance that
    one more follows, few are likelier than many.
    """
    check_split(split)
    random = Random(f"agreement {split} {seed}")
    drawn = draw_distinct(partial(_draw, random, split, most, another), size)
    return (Pair("", each.source) for each in drawn)


def subject_and_verb(line: str) -> tuple[int, int, str]:
    """The places of the subject and the verb of a line, counted from 0, and the verb's form of the other number."""
    words = line.split()
    other = {form: forms[1 - place] for forms in VERBS for place, form in enumerate(forms)}
    verb = next(place for place, word in enumerate(words) if word in other)
    subject = next(place for place, word in enumerate(words) if word.removesuffix("s") in NOUNS)
    return subject, verb, other[words[verb]]


def _draw(random: Random, split: str, most: int, another: float | None) -> Pair | None:
    number = random.randrange(2)
    words = _noun(random, number)
    for _ in range(random.randint(0, most) if another is None else _few(random, most, another)):
        words += [random.choice(PLACES), *_noun(random, random.randrange(2))]
    verb = random.choice(VERBS)[number]
    text = " ".join([*words, verb, random.choice(ENDS.get(verb, USUAL_ENDS)), "."])
    return Pair(text, "") if split_of(text) == split else None


def _few(random: Random, most: int, another: float) -> int:
    """How many times in a row it goes on."""
    return next((count for count in range(most) if random.random() >= another), most)


def _noun(random: Random, number: int) -> list[str]:
    """A noun in its number, with its article and perhaps an adjective."""
    noun = random.choice(NOUNS) + ("s" if number else "")
    return ["the", *([random.choice(KINDS)] if random.random() < 0.3 else []), noun]
