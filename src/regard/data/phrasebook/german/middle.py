"""The middle field of a German clause: everything that stands between its verbs, sorted into slots."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from regard.data.phrasebook.german import declension
from regard.data.phrasebook.german.phrases import (
    DEFINITE_KINDS,
    INDEFINITE_KINDS,
    Piece,
    core,
    date,
    kind_of,
    marked,
    noun_tags,
    predicate,
    preposed,
    speak_adverb,
    speak_noun,
    speak_phrase,
)
from regard.data.phrasebook.german.words import ADVERB_KINDS, NOUNS, PREPOSITION_KINDS, VERBS
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
    Tag,
    Word,
)

# The slots, in order. Known objects (das Buch) come before nicht, new ones (ein Buch) close the field.
ENDING = ("manner", "place", "source", "goal", "new", "complement")
SLOTS = ("pronoun", "recipient", "time", "frequency", "here", "company", "known", "agent", "benefit", *ENDING)
NEGATED = ("nicht", "frequency", "here", "agent", "benefit", "company", *ENDING)
NEGATED_SLOTS = ("pronoun", "recipient", "known", "time", *NEGATED)
Slots: TypeAlias = defaultdict[str, list[Piece]]
Simple: TypeAlias = Phrase | Adverb | Date  # an adverbial that is not a clause


def middle_field(clause: Clause, person: str, fronted: Adverbial | None) -> list[Piece]:
    """Everything between the verbs but the subject; an infinitive without zu shares the field."""
    inner = governed(clause)
    members = [clause] if inner is None else [clause, inner]
    negation = next(((member, "negation") for member in members if member.negative), None)
    often = any(is_frequency(item) for member in members for item in member.adverbials if item is not fronted)
    slots: Slots = defaultdict(list)
    takes_kein = negation is not None and not often and any(takes_negation(member) for member in members)
    for member in members:
        fill(slots, member, person, negation if takes_kein else None)
        for item in member.adverbials:
            if item is not fronted and not isinstance(item, Subordinate):
                slots[slot_of(item, member)] += speak_adverbial(item, member)
    if negation is not None and not takes_kein:
        slots["nicht"].append(Word("nicht", (negation,), ((negation[0], "verb"),)))
    return [piece for slot in order_of(members[-1], negation) if slot in slots for piece in slots[slot]]


def order_of(clause: Clause, negation: Tag | None) -> tuple[str, ...]:
    """The order of the slots; nicht comes last before a clause that depends on the verb."""
    if negation is None:
        return SLOTS
    return NEGATED_SLOTS if clause.infinitive is None and clause.content is None else (*SLOTS, "nicht")


def is_frequency(adverbial: Adverbial) -> bool:
    """oft, immer, manchmal, selten."""
    return isinstance(adverbial, Adverb) and ADVERB_KINDS[adverbial.concept] == "frequency"


def is_repeated(clause: Clause) -> bool:
    """Whether it happens more than once: often, every day."""
    return any(
        is_frequency(item) or (isinstance(item, Adverb) and item.concept == "every_day") for item in clause.adverbials
    )


def takes_negation(clause: Clause) -> bool:
    """Whether the object, the recipient or the complement can say kein."""
    if clause.object is not None and not VERBS[clause.verb].preposition:
        return is_indefinite(clause.object) or recipient_takes_negation(clause)
    return isinstance(clause.complement, Noun) and is_indefinite(clause.complement)


def recipient_takes_negation(clause: Clause) -> bool:
    """er gibt keinem Kind das Messer; but er gibt einem Kind kein Messer."""
    if clause.recipient is None or clause.object is None:
        return False
    return is_indefinite(clause.recipient) and not is_indefinite(clause.object)


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
        pieces = speak_noun(clause.recipient, "dat", negation if recipient_takes_negation(clause) else None)
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
        slots["complement"] += preposed([particle(clause)], speak_noun(thing, "acc"))
        return
    known = "recipient" if entry.case == "dat" else "known"
    slot = "pronoun" if isinstance(thing, Pronoun) else known if is_known(thing) else "new"
    slots[slot] += speak_noun(thing, entry.case, negation)


def particle(clause: Clause) -> Word:
    """The preposition that the verb asks for before its object: warten auf."""
    return Word(VERBS[clause.verb].preposition, ((clause, "particle"),), ((clause, "verb"),))


def complement(what: Adjective | Noun, negation: Tag | None) -> list[Piece]:
    """What follows sein, werden, bleiben. A trade without adjectives has no article: er ist Bäcker."""
    if isinstance(what, Adjective):
        return [*predicate(what)]
    bare = not (what.adjectives or what.of or what.phrase or what.relative)
    if what.determiner == "indefinite" and negation is None and bare and NOUNS[what.concept].role:
        return [*core(what, "nom", "strong")]
    return speak_noun(what, "nom", negation)


def governed(clause: Clause) -> Clause | None:
    """The infinitive that stands without zu: after a modal verb, and alone after lernen."""
    kind, inner = VERBS[clause.verb].infinitive, clause.infinitive
    if inner is None or kind == "bare":
        return inner
    return inner if kind == "lone" and not is_extended(inner) else None


def is_extended(clause: Clause) -> bool:
    """Whether an infinitive has company, and so stands between commas."""
    alone = (clause.object, clause.recipient, clause.complement, clause.infinitive, clause.content)
    return any(alone) or bool(clause.adverbials) or clause.negative or is_reflexive(clause)


def is_reflexive(clause: Clause | None) -> bool:
    """Whether the verb has sich beside it."""
    return clause is not None and VERBS[clause.verb].reflexive


def needs_es(clause: Clause) -> bool:
    """er hasst es, zu arbeiten; er liebt es, Brot zu essen; er liebt es nicht, zu essen; but er liebt zu essen."""
    if clause.infinitive is None:
        return False
    kind = VERBS[clause.verb].infinitive
    return kind == "es" or (kind == "es_long" and (clause.negative or is_extended(clause.infinitive)))


def slot_of(adverbial: Simple, clause: Clause) -> str:
    """Where in the middle field an adverbial stands: hier and dort come early, hierher and dorthin late."""
    match adverbial:
        case Phrase():
            kind = PREPOSITION_KINDS[adverbial.preposition]
            return kind if kind in SLOTS else "place"
        case Adverb():
            kind = ADVERB_KINDS[adverbial.concept]
            return "here" if kind == "place" and not VERBS[clause.verb].motion else kind
        case Date():
            return "time"


def speak_adverbial(adverbial: Simple, clause: Clause) -> list[Piece]:
    """A prepositional phrase, an adverb or a date of this clause."""
    match adverbial:
        case Phrase():
            return speak_phrase(adverbial)
        case Adverb():
            return [*speak_adverb(adverbial, VERBS[clause.verb].motion)]
        case Date():
            return [*date(adverbial)]
