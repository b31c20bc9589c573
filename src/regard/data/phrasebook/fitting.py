"""What fits together inside a clause: verbs and their subjects, objects and their determiners."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from regard.data.phrasebook.draw import PLAIN
from regard.data.phrasebook.meaning import Adjective, Joined, Noun, NounPhrase, Pronoun
from regard.data.phrasebook.vocabulary import COUNTED, FRAMES, GROUP, KINDS, SEX, VerbUse

PERSON = "man"  # stands for any person where only the class matters
MANY = frozenset({"many", "several", "numeral"})
UNKNOWN = frozenset({"indefinite", "every", "numeral", "many"})
# The groups of adjectives that say how somebody or something is for a while.
CHANGING = frozenset(
    {"mood", "life", "filling", "door", "warmth", "cleanness", "hungry", "thirsty", "nervous", "patient"}
)


@cache
def verbs_of(frame: str, subject: str | None, ongoing: bool) -> tuple[VerbUse, ...]:
    """The verbs of a frame with this noun as subject; `ongoing` leaves out what happens at once."""
    return tuple(
        verb for verb in FRAMES[frame] if (subject is None or subject in verb.subjects) and not (ongoing and verb.event)
    )


@cache
def deeds(frame: str, trait: str | None = None) -> tuple[VerbUse, ...]:
    """What a person may decide to do, of this frame and with this trait."""
    return tuple(
        verb
        for verb in verbs_of(frame, PERSON, True)
        if verb.willed and "place" not in verb.frames and (trait is None or trait in verb.traits)
    )


def in_general(noun: Noun) -> Noun:
    """apples, the film: what somebody loves or hates is a kind, or known to all."""
    noun = without(noun, frozenset({"worth"}))
    if noun.of is not None:
        return noun
    if KINDS[noun.concept] & {"food", "animal", "clothing"} and noun.concept in COUNTED and noun.relative is None:
        return replace(noun, plural=True, determiner="none", count=1)
    if noun.determiner in ("indefinite", "some", *MANY):
        return replace(noun, determiner="none" if "mass" in KINDS[noun.concept] else "definite", count=1)
    return noun


def known(noun: Noun) -> Noun:
    """the house rather than a house: what one describes is known."""
    return replace(noun, determiner="definite", count=1) if noun.determiner in UNKNOWN else noun


def had(noun: Noun) -> Noun:
    """What somebody has is new to us: a house, friends."""
    if noun.determiner in PLAIN:
        return replace(noun, determiner="none" if noun.plural else "indefinite", owner=None, of=None)
    return noun


def without(noun: Noun, groups: frozenset[str]) -> Noun:
    """The noun without the adjectives of these groups, and without a relative clause that says one of them.

    What comes into being has no age, and no past to tell of.
    """
    if not groups:
        return noun
    kept = tuple(adjective for adjective in noun.adjectives if GROUP[adjective.concept] not in groups)
    said = None if noun.relative is None else noun.relative.clause.complement
    silent = "age" in groups or (isinstance(said, Adjective) and GROUP[said.concept] in groups)
    return replace(noun, adjectives=kept, relative=None if silent else noun.relative)


def suits(concept: str, subject: NounPhrase) -> bool:
    """Whether the subject may have to do with this object: another noun; no wine for children, no ham for cows."""
    about = (
        subject.concept if isinstance(subject, Noun) else subject.stands_for if isinstance(subject, Pronoun) else None
    )
    if about is None:
        return True
    kinds, own = KINDS[concept], KINDS[about]
    if "animal" in own and kinds & {"food", "drink"}:
        return "fodder" in kinds
    return concept != about and not ("alcohol" in kinds and "person" in own and "adult" not in own)


def is_deniable(phrase: NounPhrase | None, unknown: bool = False) -> bool:
    """Whether `not` beside this object has one reading only. An `unknown` one may be indefinite: has no car."""
    if not isinstance(phrase, Noun):
        return not isinstance(phrase, Joined)
    if phrase.determiner in MANY or phrase.relative is not None:
        return False
    vague = phrase.determiner == "indefinite" or (phrase.determiner == "none" and bool(SEX[phrase.concept]))
    return unknown or not vague
