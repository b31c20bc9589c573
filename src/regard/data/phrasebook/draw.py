"""Draws noun phrases and adverbials that make sense, out of a seeded source of chance.

`room` is the number of English words that may be spent beyond the shortest way to say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Adverbial,
    Date,
    Determiner,
    Gender,
    Joined,
    Name,
    Noun,
    NounPhrase,
    Phrase,
    Pronoun,
    Relative,
    Tense,
)
from regard.data.phrasebook.vocabulary import (
    ADJECTIVES,
    CITIES,
    COMPLETIONS,
    COUNTED,
    COUNTRIES,
    EVENTS,
    GRADED,
    GROUP,
    HOMES,
    KINDS,
    MONTHS,
    NAME_LIST,
    NAMES,
    PEOPLE,
    PLACES,
    SEX,
    TIMES,
    WEEKDAYS,
    VerbUse,
)

Item = TypeVar("Item")

SINGULAR_SUBJECT: tuple[Determiner, ...] = (
    "definite",
    "definite",
    "definite",
    "indefinite",
    "demonstrative",
    "possessive",
    "every",
)
PLURAL_SUBJECT: tuple[Determiner, ...] = (
    "definite",
    "definite",
    "possessive",
    "demonstrative",
    "numeral",
    "several",
    "many",
)
SINGULAR_OBJECT: tuple[Determiner, ...] = (
    "definite",
    "definite",
    "indefinite",
    "indefinite",
    "demonstrative",
    "possessive",
)
PLURAL_OBJECT: tuple[Determiner, ...] = (
    "definite",
    "none",
    "some",
    "possessive",
    "demonstrative",
    "numeral",
    "several",
    "many",
)
MASS: tuple[Determiner, ...] = ("none", "none", "some", "definite", "demonstrative")
PLAIN = frozenset({"definite", "possessive", "demonstrative"})  # safe beside a negation


class Draw:
    """A seeded source of phrases."""

    def __init__(self, rng: Random) -> None:
        self.random = rng.random

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely."""
        return items[int(self.random() * len(items))]

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.random() < share

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        return int(self.random() * limit)

    def pronoun(self) -> Pronoun:
        """Any subject pronoun that needs no noun before it: I, you, he, she, we, they."""
        person = self.pick((1, 2, 3, 3, 3, 3))
        if person == 2:
            return Pronoun(2)
        plural = self.chance(0.3)
        feminine = person == 3 and not plural and self.chance(0.5)
        return Pronoun(1 if person == 1 else 3, plural, "feminine" if feminine else "masculine")

    def owner(self, subject: NounPhrase | None) -> Pronoun:
        """Whose something is: mostly the subject's; beside `he`, another `his` would mislead."""
        stand = None if subject is None else stand_in(subject)
        if stand is not None and self.chance(0.7):
            return stand
        return Pronoun(1, self.chance(0.3)) if stand is None or self.chance(0.8) else Pronoun(2)

    def noun(
        self,
        concept: str,
        room: int,
        subject: NounPhrase | None = None,
        as_subject: bool = False,
        relative: Relative | None = None,
        plural: bool | None = None,
    ) -> Noun:
        """A noun phrase around this concept. `subject` is the clause's, for possessives."""
        kinds = KINDS[concept]
        if plural is None:
            plural = self.is_plural(concept)
        completion = None
        if relative is None and room >= 3 and concept in COMPLETIONS and self.chance(0.6):
            completion = self.pick(COMPLETIONS[concept])
            room -= 3
        of = phrase = None
        if completion is not None and completion[0] == "of":
            of = self.complete(completion[1], concept)
        elif completion is not None:
            phrase = Phrase(completion[0], self.place(completion[1]))
        adjectives = () if kinds & {"unique", "bare"} or room < 1 else self.adjectives(concept, room)
        if of is not None:
            return Noun(concept, plural, "definite", None, 1, adjectives, of)
        determiner = self.determiner(kinds, plural, as_subject, relative is not None or phrase is not None)
        owner = self.owned_by(concept, subject) if determiner == "possessive" else None
        count = self.count(kinds) if determiner == "numeral" else 1
        return Noun(concept, plural, determiner, owner, count, adjectives, None, phrase, relative)

    def is_plural(self, concept: str) -> bool:
        """Now and then what can be counted; shoes and beans always."""
        return "plenty" in KINDS[concept] or (concept in COUNTED and self.chance(0.3))

    def count(self, kinds: frozenset[str]) -> int:
        """How many: small things and animals may be many."""
        few = not kinds & {"small", "livestock", "fruit"} or self.chance(0.6)
        return 2 + self.below(5) if few else self.pick((7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 80))

    def owned_by(self, concept: str, subject: NounPhrase | None) -> Pronoun:
        """The owner; a wife has a husband, a husband a wife; an animal has nobody, a child no sons."""
        if SEX[concept] and isinstance(subject, Noun):
            grown = "adult" in KINDS[subject.concept] or "younger" not in KINDS[concept]
            if not SEX[subject.concept] or not grown:
                return Pronoun(1)
        if "spouse" not in KINDS[concept]:
            return self.owner(subject)
        gender: Gender = "feminine" if SEX[concept] == "male" else "masculine"
        stand = None if subject is None else stand_in(subject)
        strange = stand is not None and stand.person == 3 and (stand.plural or stand.gender != gender)
        return Pronoun(1) if strange or self.chance(0.5) else Pronoun(3, False, gender)

    def determiner(self, kinds: frozenset[str], plural: bool, as_subject: bool, completed: bool) -> Determiner:
        """A determiner that suits the noun: mass, abstract, of the family, counted."""
        if "bare" in kinds:
            return "none"
        if kinds & {"unique", "span", "meal"}:
            return "definite"
        if "spouse" in kinds or ("family" in kinds and not completed):
            return "possessive"
        if "mass" in kinds:
            return "definite" if as_subject else self.pick(MASS)
        if completed:
            return "definite" if as_subject or self.chance(0.6) else "indefinite"
        if as_subject:
            choice = self.pick(PLURAL_SUBJECT if plural else SINGULAR_SUBJECT)
        else:
            choice = self.pick(PLURAL_OBJECT if plural else SINGULAR_OBJECT)
        return "definite" if choice == "possessive" and "owned" not in kinds else choice

    def complete(self, nouns: tuple[str, ...], concept: str) -> NounPhrase:
        """What follows `of`: a name for people now and then, else a plain noun other than the concept."""
        other = self.pick(nouns)
        if SEX[other] and self.chance(0.4):
            return Name(self.pick(NAME_LIST))
        while other == concept or "spouse" in KINDS[other]:
            other = self.pick(nouns)
        return Noun(other, determiner=self.plain_determiner(other), owner=Pronoun(1))

    def plain_determiner(self, concept: str) -> Determiner:
        """the, or my for the family."""
        kinds = KINDS[concept]
        return "none" if "bare" in kinds else "possessive" if "family" in kinds else "definite"

    def place(self, nouns: tuple[str, ...]) -> Noun:
        """A short noun phrase after a preposition: the station, freedom."""
        concept = self.pick(nouns)
        return Noun(concept, determiner=self.plain_determiner(concept), owner=Pronoun(1))

    def adjectives(self, concept: str, room: int) -> tuple[Adjective, ...]:
        """Up to two adjectives, a general one first: big, old French, very heavy."""
        first, second = ADJECTIVES[concept]
        chosen: list[Adjective] = []
        if first and self.chance(0.45):
            chosen.append(self.adjective(first, 0.12 if room >= 2 else 0.0))
        if second and room > len(chosen) and not (chosen and SEX[concept]) and self.chance(0.5):
            other = self.adjective(second, 0.1 if room >= 2 and not chosen else 0.0)
            if not chosen or GROUP[other.concept] != GROUP[chosen[0].concept]:
                chosen.append(other)
        return tuple(chosen)

    def adjective(self, words: Sequence[str], share: float) -> Adjective:
        """One of the words, in this share of cases with `very` where that makes sense."""
        word = self.pick(words)
        return Adjective(word, word in GRADED and self.chance(share))

    def person(self, room: int, subject: NounPhrase, named: frozenset[str] = frozenset()) -> NounPhrase:
        """Somebody else than the subject and those named already: a name or a noun."""
        taken = named | {subject.concept} if isinstance(subject, Noun | Name) else named
        if self.chance(0.3):
            name = self.pick(NAME_LIST)
            if name not in taken:
                return Name(name)
        concept = self.pick(PEOPLE)
        while concept in taken:
            concept = self.pick(PEOPLE)
        noun = self.noun(concept, room, subject, as_subject=True)
        return replace(noun, determiner="definite") if noun.determiner == "every" else noun

    def where(self, verb: VerbUse) -> Phrase:
        """A place where somebody does something, lives, or goes to."""
        if "motion" in verb.frames:
            preposition = "from" if verb.concept == "come" and self.chance(0.4) else "to"
        elif "place" in verb.frames:
            preposition = self.pick(("in", "in", "near"))
        else:
            preposition = self.pick(("in", "in", "at", "near", "behind", "in_front_of", "next_to"))
        far = "dated" in verb.traits and preposition in ("in", "to", "from")
        if far and self.chance(0.4):
            return Phrase(preposition, Name(self.pick(COUNTRIES if self.chance(0.6) else CITIES)))
        nouns = HOMES if preposition == "in" and "place" in verb.frames else PLACES[preposition]
        return Phrase(preposition, self.place(nouns))

    def when(self, verb: VerbUse, tense: Tense, negative: bool = False) -> Adverbial | None:
        """A time that fits verb and tense, or nothing where a time would sound odd."""
        if "timeless" in verb.traits:
            return None
        if tense in ("past", "imperfect"):
            ongoing = tense == "imperfect" and not verb.stative
            return None if ongoing or (verb.stative and not verb.dated) else self.past_time(verb)
        if tense == "perfect" or verb.stative or (tense == "present" and not verb.habit):
            return None
        if tense == "future" and self.chance(0.4):
            return Date(weekday=self.pick(WEEKDAYS)) if self.chance(0.6) else Date(month=self.pick(MONTHS))
        if tense == "future" and self.chance(0.3):
            return Phrase(self.pick(("after", "before", "during")), self.place(EVENTS))
        adverb = self.pick(TIMES[tense])
        return None if negative and adverb in ("soon", "every_day") else Adverb(adverb)

    def past_time(self, verb: VerbUse) -> Adverbial:
        """A date, an event or an adverb of the past; only what people remember for years has a year."""
        year = 1900 + self.below(121)
        if verb.stative:
            return Date(year=year)
        if verb.dated and self.chance(0.6):
            day = 1 + self.below(28) if self.chance(0.3) else None
            return Date(day, self.pick(MONTHS), year) if self.chance(0.7) else Date(year=year)
        kind = self.below(4)
        if kind == 0:
            return Date(1 + self.below(28), self.pick(MONTHS))
        if kind == 1:
            return Date(weekday=self.pick(WEEKDAYS))
        if kind == 2:
            preposition = self.pick(("after", "before", "during"))
            return Phrase(preposition, self.place(PLACES[preposition] if verb.dated else EVENTS))
        adverb = self.pick(TIMES["past"])
        return Adverb("yesterday" if adverb == "last_year" and not verb.dated else adverb)


def stand_in(phrase: NounPhrase) -> Pronoun:
    """The pronoun that takes up a noun phrase again."""
    match phrase:
        case Noun():
            female = SEX[phrase.concept] == "female"
            return Pronoun(3, phrase.plural, "feminine" if female else "masculine", phrase.concept)
        case Name():
            return Pronoun(3, False, "feminine" if NAMES[phrase.concept] == "female" else "masculine")
        case Pronoun():
            return Pronoun(phrase.person, phrase.plural, phrase.gender, phrase.stands_for)
        case Joined():
            parts = [stand_in(item) for item in phrase.items]
            female = all(part.gender == "feminine" for part in parts)
            return Pronoun(min(part.person for part in parts), True, "feminine" if female else "masculine")
        case _:
            return Pronoun(3)
