"""What goes on beside a clause: why it is so, on what condition, at which moment, during what.

The two clauses always share somebody or something, or happen at the same time, so that they belong together.
"""

from __future__ import annotations

from dataclasses import replace

from regard.data.phrasebook.circumstances import Plan, Time, alike, groups_said, is_person
from regard.data.phrasebook.compose import Composer
from regard.data.phrasebook.draw import stand_in
from regard.data.phrasebook.fitting import CHANGING, PERSON
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Adverbial,
    Clause,
    Date,
    Joined,
    Name,
    Noun,
    NounPhrase,
    Phrase,
    Pronoun,
    Subordinate,
    Tense,
    This,
)
from regard.data.phrasebook.vocabulary import FREQUENCY, GROUP, PREDICATES, REASONS, TIME_WORDS, VERBS

CONJUNCTIONS: dict[Time, tuple[str, ...]] = {
    "past": ("because", "because", "since", "when", "when", "while"),
    "present": ("because", "because", "since", "when"),
    "future": ("because", "since", "if", "if"),
}
PURPOSES = ("help", "help", "thank")
ENCOUNTERS = ("help", "call", "invite", "wait_for")
MOMENTS = ("call", "greet", "interrupt", "see")
ENTRANCES = ("arrive", "arrive", "go_out", "get_up")


class Background(Composer):
    """Draws a clause beside another one."""

    def aside(self, main: Clause, plan: Plan) -> Subordinate | None:
        """A reason, a condition, a moment for the main clause; nothing where none suits it."""
        if main.subject is None or isinstance(main.subject, This) or main.negative or main.tense == "perfect":
            return None
        if any(isinstance(item, Adverb) and item.concept == "rarely" for item in main.adverbials):
            return None
        named = plan.named | names_in(main)
        conjunction = self.pick(CONJUNCTIONS[plan.time])
        if conjunction == "while" or (conjunction == "when" and plan.time == "past"):
            clause = self.meanwhile(main, named) if conjunction == "while" else self.moment(main, named)
        elif conjunction in ("when", "if") and main.tense not in ("present", "future"):
            clause = None
        else:
            clause = self.circumstance(conjunction, main, named)
        return None if clause is None else Subordinate(conjunction, clause)

    def meanwhile(self, main: Clause, named: frozenset[str]) -> Clause | None:
        """While Anna was sleeping: somebody else does something at the same time."""
        if main.passive or VERBS[main.verb].stative or not has_person(main):
            return None
        plan = self.someone(0, Plan(6, "past", 1, "imperfect", busy=True, named=named))
        return None if same_speaker(plan.subject, main.subject) else self.clause(plan)

    def moment(self, main: Clause, named: frozenset[str]) -> Clause | None:
        """When Anna arrived; when my brother called him."""
        if main.passive or main.tense not in ("past", "imperfect") or not has_person(main):
            return None
        passing = isinstance(main.complement, Adjective) and GROUP[main.complement.concept] in CHANGING
        if VERBS[main.verb].stative and not passing:
            return None
        plan = self.someone(0, Plan(4, "past", 2, named=named))
        if same_speaker(plan.subject, main.subject):
            return None
        if self.chance(0.5) and main.subject is not None:
            return Clause(plan.subject, self.pick(MOMENTS), "past", object=stand_in(main.subject))
        return Clause(plan.subject, self.pick(ENTRANCES), "past")

    def circumstance(self, conjunction: str, main: Clause, named: frozenset[str]) -> Clause | None:
        """A clause for because, since, if, or when in general: one of those that the main clause allows."""
        tense: Tense = "imperfect" if main.tense in ("past", "imperfect") else "present"
        found = [*self.state(main, tense, conjunction in ("when", "if")), *self.state_of_object(main, tense)]
        if conjunction in ("because", "since"):
            found += self.cause(main, named)
            if not found and self.chance(0.4):
                found += self.purpose(main, tense, named)
        if conjunction == "if" and VERBS[main.verb].willed:
            found += self.encounter(main, ENCOUNTERS, "present", named)
        return self.pick(found) if found else None

    def state(self, main: Clause, tense: Tense, changing: bool = False) -> list[Clause]:
        """because he is hungry: how the subject is explains what it does. when he is: only what may change."""
        if main.subject is None or main.passive:
            return []
        words = REASONS.get(("subject", main.verb), ())
        if changing:
            words = tuple(word for word in words if GROUP[word] in CHANGING)
        return self.being(main.subject, words, tense)

    def state_of_object(self, main: Clause, tense: Tense) -> list[Clause]:
        """because it is dirty: how the object is explains what is done to it."""
        undergoing = main.subject if main.passive else main.object
        if not isinstance(undergoing, Noun) or undergoing.relative is not None:
            return []
        if undergoing.plural and main.recipient is not None:
            return []  # he sold them the chairs because they were old: who was?
        other = None if main.passive else main.subject
        if (
            other is not None
            and (is_person(undergoing) or undergoing.plural)
            and alike(stand_in(undergoing), stand_in(other))
        ):
            return []
        return self.being(undergoing, REASONS.get(("object", main.verb), ()), tense)

    def being(self, phrase: NounPhrase, words: tuple[str, ...], tense: Tense) -> list[Clause]:
        """The pronoun for the phrase and be with one of the adjectives that suit it."""
        fitting = set(PREDICATES[concept_of(phrase)])
        said = groups_said(phrase)
        choices = [word for word in words if word in fitting and GROUP[word] not in said]
        if not choices:
            return []
        return [Clause(stand_in(phrase), "be", tense, complement=self.adjective(choices, 0.2))]

    def cause(self, main: Clause, named: frozenset[str]) -> list[Clause]:
        """She is happy because Paul helped her: what happened explains how somebody feels."""
        if not isinstance(main.complement, Adjective) or main.tense == "future":
            return []
        return self.encounter(main, REASONS.get(("event", main.complement.concept), ()), "past", named)

    def purpose(self, main: Clause, tense: Tense, named: frozenset[str]) -> list[Clause]:
        """because he wants to help my sister: good for whatever one decides to do."""
        verb = VERBS[main.verb]
        if any(isinstance(item, Adverb) and item.concept in FREQUENCY for item in main.adverbials):
            return []
        if main.passive or not verb.willed or main.infinitive is not None or not has_person(main):
            return []
        if main.subject is None or main.verb in PURPOSES or verb.frames & {"become", "copula"} or main.verb == "come":
            return []
        someone = self.someone(0, Plan(4, "past", 2, named=named)).subject
        if not isinstance(someone, Noun | Name):
            return []
        away = "motion" in verb.frames or main.verb in ("travel", "stay")
        deed = Clause(None, "meet" if away else self.pick(PURPOSES), object=someone)
        return [Clause(stand_in(main.subject), "want", tense, infinitive=deed)]

    def encounter(self, main: Clause, verbs: tuple[str, ...], tense: Tense, named: frozenset[str]) -> list[Clause]:
        """if Anna helps him: somebody else does something to the subject."""
        if not verbs or main.subject is None or not has_person(main):
            return []
        plan = self.someone(0, Plan(4, "past", 2, named=named))
        if same_speaker(plan.subject, main.subject):
            return []
        return [Clause(plan.subject, self.pick(verbs), tense, object=stand_in(main.subject))]


def concept_of(phrase: NounPhrase) -> str:
    """The noun concept that the phrase is about; people without a noun are people."""
    if isinstance(phrase, Noun):
        return phrase.concept
    return (phrase.stands_for if isinstance(phrase, Pronoun) else None) or PERSON


def has_person(clause: Clause) -> bool:
    """Whether the subject is a person, or several."""
    return clause.subject is not None and is_person(clause.subject)


def same_speaker(one: NounPhrase | None, other: NounPhrase | None) -> bool:
    """Whether both are I, we or you: I would not see me."""
    if not isinstance(one, Pronoun) or other is None:
        return False
    return one.person == stand_in(other).person


def names_in(clause: Clause) -> frozenset[str]:
    """The names and nouns that the clause already speaks of."""
    found: set[str] = set()
    for adverbial in clause.adverbials:
        if isinstance(adverbial, Subordinate):
            found |= names_in(adverbial.clause)
    for phrase in (clause.subject, clause.object, clause.recipient):
        for item in phrase.items if isinstance(phrase, Joined) else (phrase,):
            if isinstance(item, Noun | Name):
                found.add(item.concept)
            elif isinstance(item, Pronoun) and item.stands_for is not None:
                found.add(item.stands_for)
    return frozenset(found)


def untimed(clause: Clause) -> Clause:
    """The same clause without a time of its own, and with nothing before its subject."""
    if not clause.adverbials:
        return clause
    kept = [replace(item, front=False) for item in clause.adverbials if not says_when(item)]
    return replace(clause, adverbials=tuple(sorted(kept, key=lambda item: isinstance(item, Subordinate))))


def says_when(adverbial: Adverbial) -> bool:
    """A date, yesterday, after the concert."""
    match adverbial:
        case Adverb():
            return adverbial.concept in TIME_WORDS
        case Phrase():
            return adverbial.preposition in TIME_WORDS
        case _:
            return isinstance(adverbial, Date)
