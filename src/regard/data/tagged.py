"""Tagged sentences: one tag for every word, by a small grammar whose words mean several things.

    the light plans help her .          DET ADJ NOUN VERB PRON PUNCT
    they light her park to help .       PRON VERB DET NOUN PART VERB PUNCT

`watch`, `plans`, `light`, `clean`, `fast`, `that`, `her`, `to`, `before`, `can` have two or three tags each, and only
what stands around tells which. Every noun has a determiner and every clause a verb, so that a sentence has one reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from regard.data.pair import Pair
from regard.data.splits import check_split, draw_distinct, split_of

TAGS = ("ADJ", "ADP", "ADV", "AUX", "DET", "NOUN", "PART", "PRON", "PUNCT", "SCONJ", "VERB")

Tagged = list[tuple[str, str]]  # words with their tags


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((one, several) for one, _, several in (pair.partition("/") for pair in text.split()))


# One/several of a noun, and to/he of a verb. The first are both.
_BOTH = _pairs(
    "walk/walks watch/watches plan/plans answer/answers play/plays light/lights fish/fishes book/books park/parks "
    "ship/ships drink/drinks dance/dances dream/dreams help/helps call/calls cook/cooks guard/guards train/trains "
    "paint/paints hammer/hammers nurse/nurses judge/judges visit/visits promise/promises"
)
_NOUNS = _pairs(
    "dog/dogs garden/gardens teacher/teachers river/rivers city/cities letter/letters child/children bridge/bridges "
    "window/windows can/cans will/wills farmer/farmers"
)
_VERBS = _pairs(
    "see/sees find/finds hear/hears bring/brings follow/follows clean/cleans warm/warms dry/dries like/likes"
)
_TELLING = _pairs("know/knows say/says believe/believes")  # that ...
_ADJECTIVES = _words("old small green quiet light clean warm dry fast hard early late open")
_ADVERBS = _words("fast hard early late often today there")
_ONE, _MANY = _words("the a this that her his their"), _words("the these those her his their two")  # determiners
_SUBJECTS = {False: _words("he she it"), True: _words("they we you")}
_OBJECTS = _words("her him them it us you")
_PREPOSITIONS = _words("in near behind before after to like")
_MODALS = _words("can will may must")
_CONNECTIVES = _words("before after because while")
_AMBIGUOUS = 0.75  # how often a word is drawn from those that are noun and verb


def generate(*, split: str, size: int, seed: int = 0) -> Iterator[Pair]:
    """Draw `size` distinct sentences with their tags; the split of a sentence is decided by the sentence."""
    check_split(split)
    random = Random(f"tagged {split} {seed}")
    return draw_distinct(partial(_draw, random, split), size)


def _draw(random: Random, split: str) -> Pair | None:
    words = _sentence(random)
    text = " ".join(word for word, _ in words)
    if split_of(text) != split:
        return None
    return Pair(text, " ".join(tag for _, tag in words))


def _sentence(random: Random) -> Tagged:
    found = _clause(random)
    way = random.random()
    if way < 0.25:
        found += [(random.choice(_CONNECTIVES), "SCONJ"), *_clause(random)]
    elif way < 0.4:
        several = random.random() < 0.5
        verb = random.choice(_TELLING)[0 if several else 1]
        found = [*_subject(random, several), (verb, "VERB"), ("that", "SCONJ"), *_clause(random)]
    return [*found, (".", "PUNCT")]


def _clause(random: Random) -> Tagged:
    """Somebody does something, perhaps somewhere, perhaps in some way."""
    several = random.random() < 0.5
    found = _subject(random, several)
    way = random.random()
    base, finite = _verb(random)
    if way < 0.55:
        found += [(base if several else finite, "VERB"), *_object(random)]
    elif way < 0.8:
        found += [(random.choice(_MODALS), "AUX"), (base, "VERB"), *_object(random)]
    else:
        other, _ = _verb(random)
        found += [
            (base if several else finite, "VERB"),
            *_object(random),
            ("to", "PART"),
            (other, "VERB"),
            *_object(random),
        ]
    if random.random() < 0.35:
        found += [(random.choice(_PREPOSITIONS), "ADP"), *_noun_phrase(random, random.random() < 0.5)]
    if random.random() < 0.3:
        found.append((random.choice(_ADVERBS), "ADV"))
    return found


def _subject(random: Random, several: bool) -> Tagged:
    if random.random() < 0.35:
        return [(random.choice(_SUBJECTS[several]), "PRON")]
    return _noun_phrase(random, several)


def _object(random: Random) -> Tagged:
    if random.random() < 0.3:
        return [(random.choice(_OBJECTS), "PRON")]
    return _noun_phrase(random, random.random() < 0.5)


def _noun_phrase(random: Random, several: bool) -> Tagged:
    noun = random.choice(_BOTH if random.random() < _AMBIGUOUS else _NOUNS)[several]
    adjective = [(random.choice(_ADJECTIVES), "ADJ")] if random.random() < 0.35 else []
    return [(random.choice(_MANY if several else _ONE), "DET"), *adjective, (noun, "NOUN")]


def _verb(random: Random) -> tuple[str, str]:
    base, finite = random.choice(_BOTH if random.random() < _AMBIGUOUS else _VERBS)
    return base, finite
