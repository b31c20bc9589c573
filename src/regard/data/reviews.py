"""Reviews: short judgements of films, restaurants and books, written by a small grammar, with their polarity.

    The soup was not bad, and the bread was crisp.          pos
    Although I loved the cast, the ending was wooden.       neg    the main clause decides
    We were four people. The fish was cold, yet delicious.  pos    what follows decides

A negation turns a judgement round; of two that disagree, the one after `but` or `yet`, or after an `although` clause,
decides. Sentences about other things stand around. In the long version five of them do. The gold links of a pair name
the words that decide (sure: the polar words and what negates them) and those that are overruled (possible). The polar
words themselves are in `reviews_words`: `POSITIVE`, `NEGATIVE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import NamedTuple

from regard.data import reviews_words as lexicon
from regard.data.pair import Pair
from regard.data.reviews_words import NEGATIVE, POSITIVE, Subject
from regard.data.splits import check_split, draw_distinct, split_of

__all__ = ["NEGATIVE", "POSITIVE", "generate"]


class Said(NamedTuple):
    """A stretch of a review: its words, and whether they decide (`-`), are overruled (`?`) or say nothing (empty)."""

    text: str
    mark: str = ""


def generate(*, split: str, size: int, seed: int = 0, asides: int | None = None) -> Iterator[Pair]:
    """Draw `size` distinct reviews; `asides` is how many sentences about other things stand around, else 0 to 2."""
    check_split(split)
    random = Random(f"reviews {split} {seed} {asides}")
    return draw_distinct(partial(_draw, random, split, asides), size)


def _draw(random: Random, split: str, asides: int | None) -> Pair | None:
    subject = random.choice(lexicon.SUBJECTS)
    positive = random.random() < 0.5
    count = random.choice((0, 0, 0, 1, 2)) if asides is None else asides
    others = [[Said(text)] for text in _asides(random, subject, count)]
    place = random.randint(0, len(others))
    sentences = [*others[:place], _judgement(random, subject, positive), *others[place:]]
    pair = _pair(sentences, "pos" if positive else "neg")
    return pair if split_of(pair.source) == split else None


def _asides(random: Random, subject: Subject, count: int) -> list[str]:
    """Different sentences that say nothing about the thing reviewed."""
    own = random.sample(subject.neutral, min(count, random.randint(0, 2)))
    found = own + random.sample(lexicon.ASIDES, count - len(own))
    random.shuffle(found)
    return found


def _judgement(random: Random, subject: Subject, positive: bool) -> list[Said]:
    """A sentence that judges."""
    way = random.random()
    if way < 0.45:
        return _clause(random, subject, positive)
    if way < 0.6:
        return [*_clause(random, subject, positive), Said(", and "), *_clause(random, subject, positive)]
    first, last = _clause(random, subject, not positive), _clause(random, subject, positive)
    overruled = [Said(text, "?" if mark else "") for text, mark in first]
    if way < 0.85:
        return [*overruled, Said(f",{random.choice(lexicon.CONTRASTS)}"), *last]
    return [Said("although "), *overruled, Said(", "), *last]


def _clause(random: Random, subject: Subject, positive: bool) -> list[Said]:
    """A clause with one judgement, by an adjective or a verb, negated or not."""
    negated = random.random() < 0.3
    good = positive != negated  # the polarity of the word itself
    thing = random.choice(subject.names + 2 * subject.things)
    if random.random() < 0.3:
        base, past = random.choice(lexicon.POSITIVE_VERBS if good else lexicon.NEGATIVE_VERBS)
        verb = [Said(random.choice(lexicon.VERB_NEGATORS), "-"), Said(" "), Said(base, "-")]
        return [Said(f"{random.choice(('I', 'we'))} "), *(verb if negated else [Said(past, "-")]), Said(f" {thing}")]
    own = subject.positive if good else subject.negative
    word = random.choice(own + (lexicon.POSITIVE_ADJECTIVES if good else lexicon.NEGATIVE_ADJECTIVES))
    before = [Said(random.choice(lexicon.NEGATORS), "-"), Said(" ")] if negated else []
    if not negated and random.random() < 0.4:
        before = [Said(f"{random.choice(lexicon.INTENSIFIERS)} ")]
    where = f" {random.choice(subject.places)}" if random.random() < 0.25 else ""
    return [Said(f"{thing} was "), *before, Said(word, "-"), Said(where)]


def _pair(sentences: list[list[Said]], label: str) -> Pair:
    """The text, and links from its marked words to the label. Words are what stands between spaces."""
    text = ""
    marked: dict[int, str] = {}
    for sentence in sentences:
        text += " " if text else ""
        begun = len(text)
        for said, mark in sentence:
            first = len(text.split(" ")) - 1
            text += said
            if mark:
                marked.update((first + place, mark) for place in range(len(said.split(" "))))
        text = f"{text[:begun]}{text[begun].upper()}{text[begun + 1 :]}."
    links = {mark: tuple((word, 0) for word, own in sorted(marked.items()) if own == mark) for mark in "-?"}
    return Pair(text, label, links["-"], links["?"])
