"""Draws sentences: one clause, a question, or several clauses joined and put into one another."""

from __future__ import annotations

from dataclasses import replace

from regard.data.phrasebook.circumstances import Plan, Time, groups_said, is_plain
from regard.data.phrasebook.compose import PERSON, Composer, verbs_of
from regard.data.phrasebook.draw import stand_in
from regard.data.phrasebook.meaning import (
    Adjective,
    Clause,
    Name,
    Noun,
    NounPhrase,
    Question,
    Sentence,
    Subordinate,
    Tense,
    This,
)
from regard.data.phrasebook.vocabulary import VERBS

TIMES: tuple[Time, ...] = ("past", "past", "past", "present", "present", "future")
LONGEST_CLAUSE = 16
BACKGROUND = {
    "past": ("because", "when", "while", "since"),
    "present": ("because", "when", "if", "since"),
    "future": ("because", "if", "since"),
}


class Author(Composer):
    """Draws the meaning of whole sentences, all from one seeded source of chance."""

    def sentence(self, length: int) -> Sentence:
        """A sentence of about `length` English words, the final mark counted."""
        words = length - 1
        if words <= 14 and self.chance(0.14):
            return self.question(words)
        time = self.pick(TIMES)
        if words <= LONGEST_CLAUSE:
            return Sentence((self.statement(words, time),))
        return self.joined(words, time)

    def joined(self, words: int, time: Time) -> Sentence:
        """Clauses joined by and, but, so; the second may take up the first's subject again."""
        count = max(1, round(words / (10 + self.below(9))))
        clauses: list[Clause] = []
        for place in range(count):
            share = words // (count - place)
            words -= share + 1
            earlier = clauses[-1] if clauses else None
            clause = self.statement(share, time, earlier)
            while earlier is not None and same_name(clause.subject, earlier.subject):
                clause = self.statement(share, time, earlier)
            clauses.append(clause)
        turn = self.below(2 * len(clauses))  # at most one `but` or `so` in a sentence
        other = self.pick(("but", "but", "so"))
        joints = tuple(other if place == turn else "and" for place in range(len(clauses) - 1))
        return Sentence(tuple(clauses), joints)

    def statement(self, words: int, time: Time, earlier: Clause | None = None) -> Clause:
        """A main clause, with a clause inside it where there is room."""
        plan = Plan(words, time)
        if earlier is not None and self.chance(0.5):
            plan = self.taking_up(plan, earlier)
        if words >= 9 and self.chance(min(0.9, words / 25)):
            if self.chance(0.25) and (plan.about is None or plan.about in VERBS["say"].subjects):
                return self.reporting(plan)
            return self.with_background(plan)
        return self.clause(plan)

    def taking_up(self, plan: Plan, earlier: Clause) -> Plan:
        """The same subject again, as a pronoun; `this` is not taken up."""
        subject = earlier.subject
        if subject is None or isinstance(subject, This):
            return plan
        stand = stand_in(subject)
        complement = earlier.complement if isinstance(earlier.complement, Adjective) else None
        return replace(
            plan, subject=stand, about=stand.stands_for or PERSON, said=groups_said(subject) | groups_said(complement)
        )

    def with_background(self, plan: Plan) -> Clause:
        """A clause with a reason, a time or a condition beside it."""
        inner = 5 + self.below(max(1, plan.length // 2 - 3))
        main = self.clause(replace(plan, length=plan.length - inner - 1))
        if isinstance(main.subject, This):
            return main
        conjunction = self.pick(BACKGROUND[plan.time])
        if conjunction in ("when", "if") and main.tense == "perfect":
            conjunction = "because"
        aside = self.aside(conjunction, replace(plan, length=inner, depth=1, subject=None, about=None))
        free = not any(item.front for item in main.adverbials)
        if free and self.chance(0.45):
            clause = unfronted(self.clause(self.taking_up(aside, main)))
            return attach(main, Subordinate(conjunction, clause))
        clause = unfronted(self.clause(aside))
        return attach(main, Subordinate(conjunction, clause, free and self.chance(0.3)))

    def aside(self, conjunction: str, plan: Plan) -> Plan:
        """The time and tense that the clause after this conjunction asks for."""
        if conjunction == "while":
            return replace(plan, tense="imperfect", busy=True)
        if conjunction == "when":
            return replace(plan, tense="past" if plan.time == "past" else "present", busy=True)
        if conjunction == "if":
            return replace(plan, time="present", tense="present")
        return replace(plan, time="present" if plan.time == "future" else plan.time)

    def reporting(self, plan: Plan) -> Clause:
        """The minister said that ... What is said in the past is told as going on then."""
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
        inner = Plan(plan.length - 4, inside, 1, told)
        if self.chance(0.35):
            inner = self.taking_up(inner, Clause(subject, verb.concept))
        return Clause(subject, verb.concept, tense, content=unfronted(self.clause(inner)))

    def question(self, words: int) -> Sentence:
        """Yes or no, who, what, where, when, why, how."""
        kind: Question = self.pick(("yes", "yes", "yes", "who", "what", "where", "when", "why", "how"))
        time = self.pick(TIMES)
        plan = Plan(words, time, question=True)
        if kind == "yes":
            return Sentence((unfronted(self.clause(plan)),), question=kind)
        frame = "transitive" if kind in ("what", "how") or self.chance(0.6) else "intransitive"
        verbs = [verb for verb in verbs_of(frame, PERSON, False) if not verb.stative and "place" not in verb.frames]
        if kind == "what":
            verbs = [verb for verb in verbs if PERSON not in verb.objects]
        verb = self.pick(verbs)
        subject = self.subject(verb, 1, plan)
        while not is_plain(subject):
            subject = self.subject(verb, 1, plan)
        tense: Tense = "future" if time == "future" else "past" if verb.event or time == "past" else "present"
        object_ = None if frame == "intransitive" else self.object(verb, subject, plan, max(0, words - 7))
        negative = kind == "why" and self.chance(0.3) and is_plain(subject)
        if kind == "who":
            return Sentence((Clause(None, verb.concept, tense, object=unpossessed(object_)),), question=kind)
        if kind == "what":
            return Sentence((Clause(subject, verb.concept, tense),), question=kind)
        return Sentence((Clause(subject, verb.concept, tense, negative, object=object_),), question=kind)


def same_name(one: NounPhrase | None, other: NounPhrase | None) -> bool:
    """Whether both are the same person by name: a pronoun should stand there instead."""
    return isinstance(one, Name) and isinstance(other, Name) and one.concept == other.concept


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
    """Nobody is named in `who ...?` whose book it could be: the book."""
    if isinstance(phrase, Noun) and phrase.determiner == "possessive":
        return replace(phrase, determiner="definite", owner=None)
    return phrase
