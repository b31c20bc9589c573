"""German clauses: verb second, verb first, verb final, and what stands between the verbs.

A clause is spoken as: first place, finite verb, middle field, other verbs, after-field. In a subordinate
clause all verbs come after the middle field. The middle field is sorted into the slots below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

from regard.data.phrasebook.german import declension
from regard.data.phrasebook.german.declension import Case
from regard.data.phrasebook.german.phrases import (
    DEFINITE_KINDS,
    INDEFINITE_KINDS,
    Pending,
    Piece,
    agreement,
    core,
    date,
    gender_of,
    kind_of,
    marked,
    noun_tags,
    predicate,
    preposed,
    speak_adverb,
    speak_noun,
    speak_phrase,
)
from regard.data.phrasebook.german.verbs import PAST, bare_infinitive, lexical, verb_group, zu_infinitive
from regard.data.phrasebook.german.words import (
    ADVERB_KINDS,
    CONJUNCTIONS,
    NOUNS,
    PAST_CONJUNCTIONS,
    PREPOSITION_KINDS,
    VERBS,
)
from regard.data.phrasebook.lexicon import spell
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Adverbial,
    Clause,
    Date,
    Joined,
    Name,
    Node,
    Noun,
    NounPhrase,
    Phrase,
    Pronoun,
    Subordinate,
    Tag,
    Word,
)

Order = Literal["second", "first", "final"]
CLOSING = ",>"  # a comma that is only written if the sentence goes on without another mark

# The middle field, in order. Known objects (das Buch) come before nicht, new ones (ein Buch) close the field.
ENDING = ("manner", "place", "source", "goal", "new", "complement")
SLOTS = ("pronoun", "recipient", "time", "frequency", "company", "known", "agent", "benefit", *ENDING)
NEGATED_SLOTS = ("pronoun", "recipient", "known", "time", "nicht", "frequency", "agent", "benefit", "company",
                 *ENDING)
Slots = defaultdict[str, list[Piece]]


class Outside(NamedTuple):
    """What a clause is told from outside: its subject's person, its words, the noun it speaks of."""

    person: str = ""
    subject: tuple[Piece, ...] | None = None
    undergoer: Noun | None = None


NOTHING = Outside()


def speak(clause: Clause, order: Order, outside: Outside = NOTHING) -> list[Word]:
    """A clause in the given order."""
    fronted = next((item for item in clause.adverbials if item.front), None) if order == "second" else None
    person = person_of_clause(clause, outside)
    inner = governed(clause)
    verb = lexical(clause, None if inner else outside.undergoer)
    group = verb_group(clause, verb, person, bare_infinitive(inner) if inner else ())
    subject = subject_pieces(clause, outside)
    field = middle_field(clause, person, fronted)
    after = after_field(clause, person, order, fronted)
    early = infinitive_before(clause, order, outside.undergoer)
    if order == "final":
        return close([*subject, *field, *early], group.final(), after)
    finite, others = group.second()
    if order == "second" and fronted is None:
        return [*opened(subject), finite, *close(field, others, after)]
    opening = [] if fronted is None else opened(first_place(fronted))
    if not isinstance(clause.subject, Pronoun) and (is_reflexive(clause) or is_reflexive(inner)):
        subject, field = [*field[:1], *subject], field[1:]  # heute beeilt sich der Mann
    return [*opening, finite, *close([*subject, *field], others, after)]


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


def governed(clause: Clause) -> Clause | None:
    """The infinitive that stands without zu: after a modal verb, and alone after lernen."""
    kind, inner = VERBS[clause.verb].infinitive, clause.infinitive
    if inner is None or kind == "bare":
        return inner
    return inner if kind == "lone" and not is_extended(inner) else None


def is_reflexive(clause: Clause | None) -> bool:
    """Whether the verb has sich beside it."""
    return clause is not None and VERBS[clause.verb].reflexive


def first_place(adverbial: Adverbial) -> list[Piece]:
    """What stands before the verb in the place of the subject; only a clause is followed by a comma."""
    if not isinstance(adverbial, Subordinate):
        return speak_adverbial(adverbial)
    near = ((adverbial, "conjunction"), (adverbial.clause, "verb"))
    return [*subordinate(adverbial), Word(",", ((adverbial, "comma"),), near)]


def close(field: list[Piece], verbs: list[Word], after: list[Word]) -> list[Word]:
    """The end of the clause. A relative clause that would keep nicht or the last verbs waiting comes last."""
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


def middle_field(clause: Clause, person: str, fronted: Adverbial | None) -> list[Piece]:
    """Everything between the verbs but the subject; an infinitive without zu shares the field."""
    inner = governed(clause)
    members = [clause] if inner is None else [clause, inner]
    adverbials = [item for member in members for item in member.adverbials if item is not fronted]
    negation = next(((member, "negation") for member in members if member.negative), None)
    often = any(isinstance(item, Adverb) and ADVERB_KINDS[item.concept] == "frequency" for item in adverbials)
    slots: Slots = defaultdict(list)
    takes_kein = negation is not None and not often and any(takes_negation(member) for member in members)
    for member in members:
        fill(slots, member, person, negation if takes_kein else None)
    for item in adverbials:
        if not isinstance(item, Subordinate):
            slots[slot_of(item)] += speak_adverbial(item)
    if negation is not None and not takes_kein:
        slots["nicht"].append(Word("nicht", (negation,), ((negation[0], "verb"),)))
    order = SLOTS if negation is None else NEGATED_SLOTS
    return [piece for slot in order if slot in slots for piece in slots[slot]]


def takes_negation(clause: Clause) -> bool:
    """Whether the object or the complement can say kein."""
    if clause.object is not None and not VERBS[clause.verb].preposition:
        return is_indefinite(clause.object)
    return isinstance(clause.complement, Noun) and is_indefinite(clause.complement)


def is_indefinite(phrase: NounPhrase) -> bool:
    """Whether kein can stand before it: ein Brot, Brot, Brot und Milch."""
    if isinstance(phrase, Joined):
        return all(is_indefinite(item) for item in phrase.items)
    return isinstance(phrase, Noun) and kind_of(phrase) in INDEFINITE_KINDS


def is_known(phrase: NounPhrase) -> bool:
    """Whether it speaks of something already known: das Buch, mein Buch, Anna."""
    if isinstance(phrase, Joined):
        return all(is_known(item) for item in phrase.items)
    return not isinstance(phrase, Noun) or kind_of(phrase) in DEFINITE_KINDS


def fill(slots: Slots, clause: Clause, person: str, negation: Tag | None) -> None:
    """Puts objects, agent and complement into their slots; `negation` is for the one that takes kein."""
    entry = VERBS[clause.verb]
    if entry.reflexive:
        slots["pronoun"].append(Word(declension.REFLEXIVE["acc", person], (), ((clause, "verb"),)))
    if needs_es(clause):
        slots["pronoun"].append(Word("es", (), ((clause.infinitive or clause, "to"), (clause, "verb"))))
    if clause.object is not None:
        fill_object(slots, clause, clause.object, negation)
    if clause.recipient is not None:
        pieces = speak_noun(clause.recipient, "dat")
        if not isinstance(clause.recipient, Name):
            pieces = marked(pieces, (clause.recipient, "recipient"))
        slots["pronoun" if isinstance(clause.recipient, Pronoun) else "recipient"] += pieces
    if clause.agent is not None:
        opening = Word("von", ((clause.agent, "agent"),), noun_tags(clause.agent))
        slots["agent"] += preposed([opening], speak_noun(clause.agent, "dat"))
    if clause.complement is not None:
        slots["complement"] += complement(clause.complement, negation)


def fill_object(slots: Slots, clause: Clause, thing: NounPhrase, negation: Tag | None) -> None:
    """A pronoun comes early, a known object before an unknown one, a prepositional object last.

    A known dative stands where a recipient does: after a time it would be read as a genitive (vor der Sitzung
    der Königin).
    """
    entry = VERBS[clause.verb]
    if entry.preposition:
        opening = Word(entry.preposition, (), ((clause, "verb"),))
        slots["complement"] += preposed([opening], speak_noun(thing, "acc"))
        return
    known = "recipient" if entry.case == "dat" else "known"
    slot = "pronoun" if isinstance(thing, Pronoun) else known if is_known(thing) else "new"
    slots[slot] += speak_noun(thing, entry.case, negation)


def complement(what: Adjective | Noun, negation: Tag | None) -> list[Piece]:
    """What follows sein, werden, bleiben. A trade without adjectives has no article: er ist Bäcker."""
    if isinstance(what, Adjective):
        return [*predicate(what)]
    bare = not (what.adjectives or what.of or what.phrase or what.relative)
    if what.determiner == "indefinite" and negation is None and bare and NOUNS[what.concept].role:
        return [*core(what, "nom", "strong")]
    return speak_noun(what, "nom", negation)


def slot_of(adverbial: Adverbial) -> str:
    """Where in the middle field an adverbial stands."""
    match adverbial:
        case Phrase():
            kind = PREPOSITION_KINDS[adverbial.preposition]
            return kind if kind in SLOTS else "place"
        case Adverb():
            return ADVERB_KINDS[adverbial.concept]
        case _:
            return "time"


def speak_adverbial(adverbial: Adverbial) -> list[Piece]:
    """A prepositional phrase, an adverb, a date or a subordinate clause (without its commas)."""
    match adverbial:
        case Phrase():
            return speak_phrase(adverbial)
        case Adverb():
            return [*speak_adverb(adverbial)]
        case Date():
            return [*date(adverbial)]
        case Subordinate():
            return [*subordinate(adverbial)]


def subordinate(adverbial: Subordinate) -> list[Word]:
    """weil er schläft; `when` is als for what happened once."""
    words = CONJUNCTIONS[adverbial.conjunction]
    if adverbial.clause.tense in (*PAST, "perfect"):
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


def is_extended(clause: Clause) -> bool:
    """Whether an infinitive has company, and so stands between commas."""
    alone = (clause.object, clause.recipient, clause.complement, clause.infinitive, clause.content)
    return any(alone) or bool(clause.adverbials) or clause.negative or is_reflexive(clause)


def needs_es(clause: Clause) -> bool:
    """er hasst es, zu arbeiten; er liebt es, Brot zu essen; but er liebt zu essen."""
    if clause.infinitive is None:
        return False
    kind = VERBS[clause.verb].infinitive
    return kind == "es" or (kind == "es_long" and is_extended(clause.infinitive))


def stays_inside(clause: Clause, order: Order) -> bool:
    """In a verb-final clause a lone infinitive comes before the verb: weil er zu essen liebte."""
    inner = clause.infinitive
    if order != "final" or inner is None or is_extended(inner) or needs_es(clause):
        return False
    return not VERBS[clause.verb].verb.prefix  # weil er fortfuhr zu lachen


def infinitive_before(clause: Clause, order: Order, undergoer: Noun | None) -> list[Piece]:
    """The infinitive that stays inside the clause, if there is one."""
    if clause.infinitive is None or governed(clause) is not None or not stays_inside(clause, order):
        return []
    return [*zu_infinitive(clause.infinitive, undergoer)]


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
        rest = speak(clause, "final", Outside(person="they" if noun.plural else "er"))
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
    while clause.infinitive is not None:  # the bread that he wants to buy: buy has the object
        clause = clause.infinitive
    entry = VERBS[clause.verb]
    return [Word(entry.preposition, (), ((clause, "verb"),))] if entry.preposition else [], entry.case
