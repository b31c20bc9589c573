"""When, where, how and with whom: tenses and adverbials that suit a verb and its subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from regard.data.phrasebook.draw import PLAIN, Draw, stand_in
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Adverbial,
    Joined,
    Name,
    Noun,
    NounPhrase,
    Phrase,
    Pronoun,
    Tense,
    This,
)
from regard.data.phrasebook.vocabulary import FREQUENCY, GROUP, MANNERS, NAME_LIST, PEOPLE, PLACE_ADVERBS, SEX, VerbUse

Time = Literal["past", "present", "future"]


@dataclass(frozen=True)
class Plan:
    """What a clause must fit: how many words, in which time, how deep inside others, and so on."""

    length: int
    time: Time
    depth: int = 0
    tense: Tense | None = None
    subject: NounPhrase | None = None
    about: str | None = None  # the noun concept that the given subject stands for
    question: bool = False
    busy: bool = False  # something must go on: no stative verbs
    doing: str | None = None  # the verb that the noun phrase being drawn goes with
    named: frozenset[str] = frozenset()  # the people that earlier clauses speak of
    said: frozenset[str] = frozenset()  # groups of adjectives already said of the subject


class Circumstances(Draw):
    """Draws what surrounds a verb."""

    def settle(self, verb: VerbUse, plan: Plan) -> Tense:
        """The tense the plan asks for, or one that suits; how things were is always imperfect."""
        tense = plan.tense or self.tense(verb, plan.time)
        return "imperfect" if tense == "past" and verb.stative else tense

    def tense(self, verb: VerbUse, time: Time) -> Tense:
        """A tense in which this verb is natural."""
        if time == "future":
            return "future"
        if time == "past":
            if verb.stative:
                return "imperfect"
            return "past" if verb.event or self.chance(0.75) else "imperfect"
        if verb.stative:
            return "present"
        if verb.event:
            return "perfect" if "unwilled" in verb.traits or self.chance(0.5) else "present"
        kind = self.random()
        return "present" if kind < 0.5 else "progressive" if kind < 0.75 else "perfect"

    def adverbials(
        self, verb: VerbUse, tense: Tense, room: int, negative: bool, subject: NounPhrase, plan: Plan
    ) -> tuple[Adverbial, ...]:
        """How, with whom, for whom, where and when, in this order, as far as there is room."""
        found: list[Adverbial] = []
        busy = not verb.stative and not verb.event and not negative
        if busy and tense == "present" and verb.habit and room > 0 and self.chance(0.25):
            found.append(Adverb(self.pick(FREQUENCY)))
        elif busy and room > 0 and verb.concept in MANNERS and self.chance(0.3):
            found.append(Adverb(self.pick(MANNERS[verb.concept])))
            room -= 1
        if busy and room >= 3 and is_person(subject) and self.chance(0.25):
            found += self.people(verb, subject, plan)
            room -= 3 * len(found)
        bound = "placeless" in verb.traits or verb.stative or verb.frames & {"infinitive", "modal"}
        free = room >= 3 and not bound and is_person(subject)
        if verb.frames & {"motion", "place"} or (free and self.chance(0.4)):
            found.append(self.place_or_there(verb))
            room -= 3
        if room >= 1 and self.chance(0.6) and not any(is_timed(item) for item in found):
            when = self.when(verb, tense, negative)
            if when is not None:
                found.append(replace(when, front=True) if self.chance(0.25) else when)
        return tuple(found)

    def doer(self, verb: VerbUse) -> str:
        """Who can do it, more often than not one of whom it is expected: the baker sells bread."""
        return self.pick(verb.typical if verb.typical and self.chance(0.6) else verb.subject_list)

    def name(self, plan: Plan) -> Name:
        """Somebody by name, who is none of those named already."""
        name = self.pick(NAME_LIST)
        while name in plan.named:
            name = self.pick(NAME_LIST)
        return Name(name)

    def pair(self, plan: Plan) -> Joined:
        """Two or three people: Anna and my brother; the baker, his wife and I."""
        first, second = self.name(plan), self.name(plan)
        other = self.pick(PEOPLE)
        third = Noun(other, determiner=self.plain_determiner(other), owner=Pronoun(1))
        if first.concept == second.concept:
            return Joined((third, first))
        return Joined((first, second, third)) if self.chance(0.3) else Joined((first, second))

    def people(self, verb: VerbUse, subject: NounPhrase, plan: Plan) -> list[Adverbial]:
        """for my sister, where it does somebody good; with Anna, unless others take part already."""
        if "benefit" in verb.traits:
            return [Phrase("for", self.person(0, subject, plan.named))]
        if (
            not verb.willed
            or "alone" in verb.traits
            or verb.frames & {"give", "infinitive", "modal"}
            or "man" in verb.objects
        ):
            return []
        return [Phrase("with", self.company(subject, plan))]

    def place_or_there(self, verb: VerbUse) -> Adverbial:
        """Where: a place, or here and there; nobody goes here."""
        if self.chance(0.9) or verb.concept == "come":
            return self.where(verb)
        return Adverb("there" if "motion" in verb.frames else self.pick(PLACE_ADVERBS))

    def company(self, subject: NounPhrase, plan: Plan) -> NounPhrase:
        """with Anna, with her."""
        pronoun = self.other_pronoun(subject) if self.chance(0.3) else None
        return pronoun or self.person(0, subject, plan.named)

    def other_pronoun(self, subject: NounPhrase) -> Pronoun | None:
        """me, you, him, her, us, them: plainly somebody else than the subject."""
        stand, choice = stand_in(subject), self.pronoun()
        return None if isinstance(subject, Joined) or alike(stand, choice) else choice


def alike(one: Pronoun, other: Pronoun) -> bool:
    """Whether both could be taken for the same person: he and him, I and us."""
    if one.person != 3 or other.person != 3:
        return one.person == other.person
    return one.plural == other.plural and (one.plural or one.gender == other.gender)


def groups_said(phrase: NounPhrase | Adjective | None) -> frozenset[str]:
    """The groups of the adjectives in a phrase: colour, size ... so that nothing is both big and tiny."""
    if isinstance(phrase, Adjective):
        return frozenset((GROUP[phrase.concept],))
    if not isinstance(phrase, Noun):
        return frozenset()
    said = {GROUP[adjective.concept] for adjective in phrase.adjectives}
    complement = phrase.relative.clause.complement if phrase.relative is not None else None
    return frozenset(said | {GROUP[complement.concept]} if isinstance(complement, Adjective) else said)


def is_plain(phrase: NounPhrase) -> bool:
    """Whether a negation beside this subject has one reading only."""
    return not isinstance(phrase, Noun) or phrase.determiner in PLAIN


def is_person(phrase: NounPhrase) -> bool:
    """Whether the phrase is about people."""
    if isinstance(phrase, Noun):
        return bool(SEX[phrase.concept])
    if isinstance(phrase, Pronoun):
        return phrase.stands_for is None or bool(SEX[phrase.stands_for])
    return not isinstance(phrase, This)


def is_timed(adverbial: Adverbial) -> bool:
    """Whether this adverb leaves no room for a time beside it: often, quickly."""
    return isinstance(adverbial, Adverb) and adverbial.concept not in PLACE_ADVERBS
