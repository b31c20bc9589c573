"""Draws sentences: one clause, a question, or several clauses joined and put into one another."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

from regard.data.phrasebook.background import Background, names_in, untimed
from regard.data.phrasebook.circumstances import Plan, Time, groups_said
from regard.data.phrasebook.draw import stand_in
from regard.data.phrasebook.fitting import PERSON, is_deniable, known, verbs_of
from regard.data.phrasebook.meaning import (
    Adjective,
    Clause,
    Name,
    Noun,
    NounPhrase,
    Pronoun,
    Question,
    Sentence,
    Subordinate,
    Tense,
    This,
)
from regard.data.phrasebook.vocabulary import KINDS, NAME_LIST, PEOPLE, VERBS, VerbUse

TIMES: tuple[Time, ...] = ("past", "past", "past", "present", "present", "future")
LONGEST_CLAUSE = 16
SELF_REPORTS = frozenset({"say", "claim", "explain", "confirm", "hope"})


class Author(Background):
    """Draws the meaning of whole sentences, all from one seeded source of chance."""

    def sentence(self, length: int) -> Sentence:
        """A sentence of about `length` English words, the final mark counted."""
        words = length - 1
        if words <= 14 and self.chance(0.14):
            return self.question(words)
        time = self.pick(TIMES)
        if 9 <= words <= LONGEST_CLAUSE and self.chance(0.15):
            return self.consequence(words, time)
        if words <= LONGEST_CLAUSE:
            return Sentence((self.statement(Plan(roomy(words), time), True),))
        return self.joined(words, time)

    def joined(self, words: int, time: Time) -> Sentence:
        """Clauses about people, joined by and, but; each may take up the subject of the one before it."""
        count = max(1, round(words / (9 + self.below(6))))
        clauses: list[Clause] = []
        for place in range(count):
            share = words // (count - place)
            words -= share + 1
            named = frozenset(name for clause in clauses for name in names_in(clause))
            plan = Plan(roomy(share), time, tense="past" if clauses and time == "past" else None, named=named)
            if count > 1:
                plan = self.next_subject(plan, clauses)
            clause = self.statement(plan, place == count - 1)
            clauses.append(untimed(clause) if clauses else clause)
        return Sentence(tuple(clauses), self.joints(clauses))

    def next_subject(self, plan: Plan, clauses: list[Clause]) -> Plan:
        """The subject of the clause before, or somebody new."""
        if clauses and self.chance(0.6):
            taken = self.taking_up(plan, clauses[-1])
            if taken.subject is not None:
                return taken
        return self.someone(max(0, plan.length - 8), plan)

    def joints(self, clauses: list[Clause]) -> tuple[str, ...]:
        """and; at most once but, where somebody else is spoken of, or where one of the two is denied."""
        joints = ["and"] * (len(clauses) - 1)
        fit = [
            place
            for place, (one, other) in enumerate(pairwise(clauses))
            if one.negative != other.negative or not isinstance(other.subject, Pronoun)
        ]
        if fit and self.chance(0.4):
            joints[self.pick(fit)] = "but"
        return tuple(joints)

    def consequence(self, words: int, time: Time) -> Sentence:
        """Anna was tired, so she slept in the garden."""
        main = self.clause(self.someone(0, Plan(words - 4, time)))
        tense: Tense = "imperfect" if time == "past" else "present"
        found = [] if main.negative or main.tense == "perfect" else self.state(main, tense)
        if not found or main.subject is None:
            return Sentence((main,))
        reason = replace(found[0], subject=main.subject)
        return Sentence((reason, replace(unfronted(main), subject=stand_in(main.subject))), ("so",))

    def statement(self, plan: Plan, last: bool) -> Clause:
        """A main clause, with a clause inside it where there is room."""
        if plan.length >= 9 and self.chance(min(0.9, plan.length / 22)):
            if last and self.chance(0.25) and (plan.about is None or plan.about in VERBS["say"].subjects):
                return self.reporting(plan)
            return self.with_background(plan)
        return self.clause(plan)

    def taking_up(self, plan: Plan, earlier: Clause) -> Plan:
        """The same subject again, as a pronoun; neither `this` nor `every` is taken up."""
        subject = earlier.subject
        every = isinstance(subject, Noun) and subject.determiner == "every"
        if subject is None or isinstance(subject, This) or every:
            return plan
        stand = stand_in(subject)
        beside = [item.clause for item in earlier.adverbials if isinstance(item, Subordinate)]
        states = [clause.complement for clause in (earlier, *beside) if isinstance(clause.complement, Adjective)]
        said = groups_said(subject).union(*(groups_said(state) for state in states))
        return replace(plan, subject=stand, about=stand.stands_for or PERSON, said=said)

    def with_background(self, plan: Plan) -> Clause:
        """A clause with a reason, a time or a condition beside it; before it where the clause is long already."""
        main = self.clause(replace(plan, length=plan.length - 5))
        aside = self.aside(main, plan)
        if aside is None:
            return main
        if aside.conjunction in ("when", "while"):
            main = untimed(main)
        free = (
            not plan.named and not any(item.front for item in main.adverbials) and not refers_back(aside.clause, main)
        )
        long = isinstance(main.object, Noun) and main.object.relative is not None
        if long and not free:
            return main
        return attach(main, replace(aside, clause=untimed(aside.clause), front=long or (free and self.chance(0.3))))

    def reporting(self, plan: Plan) -> Clause:
        """The minister said that ... What is said in the past is told as going on then."""
        verb = self.pick(verbs_of("content", plan.about, False))
        while verb.concept == "hope" and plan.time == "past":
            verb = self.pick(verbs_of("content", plan.about, False))
        time: Time = "present" if plan.time == "future" else plan.time
        subject = plan.subject or self.subject(verb, min(2, plan.length // 6), plan)
        tense: Tense = "present"
        told: Tense | None = None
        if time == "past":
            told = "imperfect"
            tense = "imperfect" if verb.stative else "past"
        inside: Time = "past" if time == "past" else self.pick(("past", "present", "future"))
        if verb.concept == "hope" and time == "present":
            inside = "future"
        inner = Plan(plan.length - 4, inside, 1, told, named=plan.named | names_in(Clause(subject, verb.concept)))
        if verb.concept in SELF_REPORTS and self.chance(0.5):
            inner = self.taking_up(inner, Clause(subject, verb.concept))
        return Clause(subject, verb.concept, tense, content=unfronted(self.clause(inner)))

    def question(self, words: int) -> Sentence:
        """Yes or no, who, what, where, when, why, how."""
        kind: Question = self.pick(("yes", "yes", "yes", "who", "what", "where", "when", "why", "how"))
        time = self.pick(TIMES)
        plan = self.asked_about(Plan(words, time, question=True))
        if kind == "yes":
            return Sentence((unfronted(self.clause(plan)),), question=kind)
        transitive = kind in ("what", "how") or self.chance(0.6)
        verb = self.pick(asking(kind, "transitive" if transitive else "intransitive"))
        subject = plan.subject or Pronoun(2)
        if (kind == "when" and time == "present") or not verb.willed:
            time = "past"
        tense: Tense = "future" if time == "future" else "past" if verb.event or time == "past" else "present"
        object_ = self.object(verb, subject, plan, max(0, words - 7)) if transitive else None
        if kind == "how" and isinstance(object_, Noun):
            object_ = known(object_)
        if kind == "who":
            return Sentence((Clause(None, verb.concept, tense, object=unpossessed(object_)),), question=kind)
        if kind == "what":
            return Sentence((Clause(subject, verb.concept, tense),), question=kind)
        negative = kind == "why" and self.chance(0.3) and is_deniable(object_)
        return Sentence((Clause(subject, verb.concept, tense, negative, object=object_),), question=kind)

    def asked_about(self, plan: Plan) -> Plan:
        """The subject of a question: you, she, Anna, the baker; hardly ever I."""
        kind = self.random()
        if kind < 0.25:
            return replace(plan, subject=Pronoun(2), about=PERSON)
        if kind < 0.45:
            pronoun = self.pronoun()
            return replace(plan, subject=Pronoun(2) if pronoun.person == 1 else pronoun, about=PERSON)
        if kind < 0.6:
            return replace(plan, subject=Name(self.pick(NAME_LIST)), about=PERSON)
        concept = self.pick(PEOPLE)
        return replace(plan, subject=known(self.noun(concept, 1, as_subject=True)), about=concept)


def roomy(words: int) -> int:
    """How many words to plan for, since not every clause finds a use for its room."""
    return words if words < 8 else words * 3 // 2


@cache
def asking(kind: str, frame: str) -> tuple[VerbUse, ...]:
    """The verbs that this question goes with: how asks for a way to do it, where for a place."""
    verbs = [verb for verb in verbs_of(frame, PERSON, False) if not verb.stative and "place" not in verb.frames]
    if kind == "what":
        verbs = [verb for verb in verbs if PERSON not in verb.objects and "unasked" not in verb.traits]
    if kind == "how":
        verbs = [verb for verb in verbs if "means" in verb.traits]
    if kind == "where":
        verbs = [verb for verb in verbs if "placeless" not in verb.traits]
    return tuple(verbs)


def refers_back(clause: Clause, main: Clause) -> bool:
    """Whether the clause speaks of him, her or it, other than the subject of the main clause: then it follows."""
    if isinstance(clause.object, Pronoun) and clause.object.person == 3:
        return True
    about = clause.subject
    return (
        isinstance(about, Pronoun)
        and main.subject is not None
        and about.stands_for != stand_in(main.subject).stands_for
    )


def attach(main: Clause, aside: Subordinate) -> Clause:
    """Adds the background last, or first of all if it is fronted."""
    if aside.front:
        return replace(main, adverbials=(aside, *main.adverbials))
    return replace(main, adverbials=(*main.adverbials, aside))


def unfronted(clause: Clause) -> Clause:
    """The same clause with nothing before its subject."""
    if not any(item.front for item in clause.adverbials):
        return clause
    return replace(clause, adverbials=tuple(replace(item, front=False) for item in clause.adverbials))


def unpossessed(phrase: NounPhrase | None) -> NounPhrase | None:
    """Nobody is named in `who ...?` whose book it could be: the book; your sister."""
    if isinstance(phrase, Noun) and phrase.determiner == "possessive":
        kin = "family" in KINDS[phrase.concept]
        return replace(phrase, owner=Pronoun(2)) if kin else replace(phrase, determiner="definite", owner=None)
    return phrase
