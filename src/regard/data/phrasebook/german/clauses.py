"""German clauses: verb second, verb first, verb final, and what stands between the verbs.

A clause is spoken as: first place, finite verb, middle field, other verbs, after-field. In a subordinate
clause all verbs come after the middle field (see `middle`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from regard.data.phrasebook.german import declension
from regard.data.phrasebook.german.declension import Case
from regard.data.phrasebook.german.middle import (
    governed,
    is_extended,
    is_repeated,
    middle_field,
    needs_es,
    particle,
    speak_adverbial,
)
from regard.data.phrasebook.german.phrases import (
    Pending,
    Piece,
    agreement,
    core,
    gender_of,
    speak_noun,
    speak_phrase,
)
from regard.data.phrasebook.german.verbs import PAST, bare_infinitive, lexical, verb_group, zu_infinitive
from regard.data.phrasebook.german.words import CONJUNCTIONS, NOUNS, PAST_CONJUNCTIONS, VERBS
from regard.data.phrasebook.lexicon import spell
from regard.data.phrasebook.meaning import Adverbial, Clause, Node, Noun, Pronoun, Subordinate, Tag, Word

Order = Literal["second", "first", "final"]
CLOSING = ",>"  # a comma that is only written if the sentence goes on without another mark


class Outside(NamedTuple):
    """What a clause is told from outside: its subject's person and words, the noun that it speaks of."""

    person: str = ""
    subject: tuple[Piece, ...] | None = None
    undergoer: Noun | None = None
    doer: Noun | None = None


NOTHING = Outside()


def speak(clause: Clause, order: Order, outside: Outside = NOTHING) -> list[Word]:
    """A clause in the given order."""
    fronted = next((item for item in clause.adverbials if item.front), None) if order == "second" else None
    person = person_of_clause(clause, outside)
    inner = governed(clause)
    verb = lexical(clause, outside.undergoer, outside.doer)
    group = verb_group(clause, verb, person, bare_infinitive(inner) if inner else ())
    subject = subject_pieces(clause, outside)
    field = middle_field(clause, person, fronted)
    after = after_field(clause, person, order, fronted)
    early = zu_infinitive(clause.infinitive) if clause.infinitive and stays_inside(clause, order) else []
    if order == "final":
        return [*opened(subject), *close([*field, *early], group.final(), after)]
    finite, others = group.second()
    if order == "second" and fronted is None:
        return [*opened(subject), finite, *close(field, others, after)]
    opening = [] if fronted is None else opened(first_place(fronted, clause))
    light = 0 if isinstance(clause.subject, Pronoun) else light_words(field)
    return [*opening, finite, *opened([*field[:light], *subject]), *close(field[light:], others, after)]


def person_of_clause(clause: Clause, outside: Outside) -> str:
    """What the verb agrees with. Where the subject of a passive is a dative (ihm wurde geholfen): nothing."""
    if clause.passive and VERBS[clause.verb].case == "dat":
        return "er"
    if outside.person:
        return outside.person
    return "er" if clause.subject is None else agreement(clause.subject)


def subject_case(clause: Clause) -> Case:
    """Nominative; but what undergoes helfen stays a dative in the passive."""
    return "dat" if clause.passive and VERBS[clause.verb].case == "dat" else "nom"


def subject_pieces(clause: Clause, outside: Outside) -> list[Piece]:
    """The subject, unless it stands outside the clause."""
    if outside.subject is not None:
        return list(outside.subject)
    return [] if clause.subject is None else speak_noun(clause.subject, subject_case(clause))


def light_words(field: list[Piece]) -> int:
    """How many pronouns come before a subject that is a noun: heute beeilt sich der Mann.

    Not sie and es, which could be taken for the subject.
    """
    light = (isinstance(piece, Word) and is_light(piece) for piece in field)
    return next((place for place, found in enumerate(light) if not found), len(field))


def is_light(word: Word) -> bool:
    """A personal pronoun or sich; a reflexive says nothing of its own, and so has no tag."""
    personal = any(isinstance(node, Pronoun) and role == "noun" for node, role in word.sure)
    reflexive = not word.sure and word.text in declension.REFLEXIVE.values()
    return (personal or reflexive) and word.text not in ("sie", "es")


def first_place(adverbial: Adverbial, clause: Clause) -> list[Piece]:
    """What stands before the verb in the place of the subject; only a clause is followed by a comma."""
    if not isinstance(adverbial, Subordinate):
        return speak_adverbial(adverbial, clause)
    near = ((adverbial, "conjunction"), (adverbial.clause, "verb"))
    return [*subordinate(adverbial), Word(",", ((adverbial, "comma"),), near)]


def close(field: list[Piece], verbs: list[Word], after: list[Word]) -> list[Word]:
    """The end of the clause. A relative clause that would keep nicht or the last verbs waiting comes last.

    That of the subject does not: the subject is not part of `field`.
    """
    waiting: list[Piece] = field[-1:] if is_negation(field) else []
    before = field[: len(field) - len(waiting)]
    waiting += verbs
    if after or not waiting or not before or not isinstance(before[-1], Pending):
        return [*opened(field), *verbs, *after]
    return opened([*before[:-1], *waiting, before[-1]])


def is_negation(field: list[Piece]) -> bool:
    """Whether the field ends with nicht."""
    return bool(field) and isinstance(field[-1], Word) and field[-1].text == "nicht"


def opened(pieces: Iterable[Piece]) -> list[Word]:
    """The words, with every relative clause spoken."""
    words: list[Word] = []
    for piece in pieces:
        words += relative(piece) if isinstance(piece, Pending) else [piece]
    return words


def enclosed(words: list[Word], node: Node, near: tuple[Tag, ...]) -> list[Word]:
    """A clause between commas."""
    tag = ((node, "comma"),)
    return [Word(",", tag, near), *words, Word(CLOSING, tag, near)]


def subordinate(adverbial: Subordinate) -> list[Word]:
    """weil er schläft; `when` is als for what happened once, wenn for what happened often."""
    words = CONJUNCTIONS[adverbial.conjunction]
    if adverbial.clause.tense in (*PAST, "perfect") and not is_repeated(adverbial.clause):
        words = PAST_CONJUNCTIONS.get(adverbial.conjunction, words)
    return [*spell(words, adverbial, "conjunction"), *speak(adverbial.clause, "final")]


def after_field(clause: Clause, person: str, order: Order, fronted: Adverbial | None) -> list[Word]:
    """What follows the last verb: infinitives with zu, dass-clauses, subordinate clauses."""
    inner = governed(clause)
    if inner is not None:
        words = after_field(inner, person, order, None)
    elif clause.infinitive is not None and not stays_inside(clause, order):
        words = following_infinitive(clause, clause.infinitive, person)
    else:
        words = []
    if clause.content is not None:
        that = Word("dass", ((clause.content, "that"),), ((clause.content, "verb"),))
        near = ((clause.content, "that"), (clause.content, "verb"))
        words += enclosed([that, *speak(clause.content, "final")], clause.content, near)
    for item in clause.adverbials:
        if isinstance(item, Subordinate) and item is not fronted:
            words += enclosed(subordinate(item), item, ((item, "conjunction"), (item.clause, "verb")))
    return words


def stays_inside(clause: Clause, order: Order) -> bool:
    """In a verb-final clause a lone infinitive comes before the verb: weil er zu essen liebte."""
    inner = clause.infinitive
    if order != "final" or inner is None or governed(clause) or is_extended(inner) or needs_es(clause):
        return False
    return not VERBS[clause.verb].verb.prefix  # weil er fortfuhr zu lachen


def following_infinitive(clause: Clause, inner: Clause, person: str) -> list[Word]:
    """zu essen, or between commas: , das Brot zu essen,."""
    deeper = governed(inner)
    verbs = [*(bare_infinitive(deeper) if deeper else ()), *zu_infinitive(inner)]
    words = close(middle_field(inner, person, None), verbs, after_field(inner, person, "second", None))
    if not (is_extended(inner) or needs_es(clause) or clause.negative):
        return words
    return enclosed(words, inner, ((inner, "to"), (inner, "verb")))


def relative(pending: Pending) -> list[Word]:
    """A relative clause between commas, opened by a pronoun in the case that the clause asks for."""
    node, noun = pending
    clause = node.clause
    tag: tuple[Tag, ...] = ((node, "relative"),)
    near: tuple[Tag, ...] = ((clause, "verb"),)
    opening, case = relative_case(pending)
    words = [*opening, Word(declension.RELATIVE[case, gender_of(noun)], tag, near)]
    if node.role == "subject":
        roles = (noun, None) if clause.passive else (None, noun)
        rest = speak(clause, "final", Outside("they" if noun.plural else "er", None, *roles))
    elif node.role == "whose" and isinstance(clause.subject, Noun):
        owned: list[Piece] = [*core(clause.subject, subject_case(clause), "strong")]
        if clause.subject.phrase is not None:
            owned += speak_phrase(clause.subject.phrase)
        rest = speak(clause, "final", Outside(subject=tuple(owned)))
    else:
        rest = speak(clause, "final", Outside(undergoer=noun if node.role == "object" else None))
    return enclosed(words + rest, node, (*tag, *near))


def relative_case(pending: Pending) -> tuple[list[Word], Case]:
    """The preposition, if any, and the case of the relative pronoun. `where` is both: in dem."""
    node = pending.relative
    role, clause = node.role, node.clause
    if role == "subject":
        return [], subject_case(clause)
    if role == "whose":
        return [], "gen"
    if role == "place":
        return [Word(NOUNS[pending.noun.concept].place, ((node, "relative"),), ((clause, "verb"),))], "dat"
    entry = VERBS[clause.verb]
    return [particle(clause)] if entry.preposition else [], entry.case
