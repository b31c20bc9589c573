"""German verb groups: the finite verb, and the verbs that wait at the end of the clause.

English tenses are spoken so: present and progressive as Präsens, past and ongoing past as Präteritum, present
perfect as Perfekt, future as Futur with werden.
"""

from __future__ import annotations

from typing import NamedTuple

from regard.data.phrasebook.german import conjugation
from regard.data.phrasebook.german.conjugation import HABEN, SEIN, WERDEN, Verb
from regard.data.phrasebook.german.words import SENSES, VERBS
from regard.data.phrasebook.meaning import Clause, Joined, Name, Noun, NounPhrase, Pronoun, Tag, Word

MUST_NOT = Verb("dürfen", preterite="durfte", participle="gedurft")
# What befalls a thing where nobody is named as the doer: the bag was lost, die Tasche ging verloren.
BEFALLING = {"lose": Verb("verloren|gehen", preterite="ging", participle="verlorengegangen", auxiliary="sein")}
PAST = ("past", "imperfect")
SOMEBODY = "man"


class Group(NamedTuple):
    """The verbs of a clause. `prefix` is what a finite separable verb leaves at the end."""

    finite: Word
    prefix: str
    others: tuple[Word, ...]
    early: bool = False  # in a verb-final clause the finite verb comes before two infinitives

    def second(self) -> tuple[Word, list[Word]]:
        """The finite verb, and what closes a main clause: ruft ... an, hat ... angerufen."""
        if not self.prefix:
            return self.finite, list(self.others)
        return self.finite, [*self.others, Word(self.prefix, self.finite.sure, self.finite.near)]

    def final(self) -> list[Word]:
        """All verbs at the end of a subordinate clause: anruft, angerufen hat, hat anrufen wollen."""
        finite = Word(self.prefix + self.finite.text, self.finite.sure, self.finite.near)
        return [finite, *self.others] if self.early else [*self.others, finite]


def lexical(clause: Clause, undergoer: Noun | None = None, doer: Noun | None = None) -> Verb:
    """The verb to use: it may depend on the object, on the subject, on a recipient, on a negation.

    `undergoer` and `doer` are given where they stand outside the clause, before a relative clause.
    """
    thing = undergoer or (clause.subject if clause.passive else clause.object)
    somebody = doer or (clause.agent if clause.passive else clause.subject)
    sense = SENSES.get((clause.verb, concept_of(thing))) or SENSES.get((concept_of(somebody), clause.verb))
    if sense is not None:
        return sense
    if clause.verb == "must" and clause.negative:
        return MUST_NOT
    entry = VERBS[clause.verb]
    return entry.verb if clause.recipient is None else entry.with_recipient


def concept_of(phrase: NounPhrase | None) -> str:
    """The noun concept that a phrase is about: any person where it only says that it is one."""
    match phrase:
        case Noun():
            return phrase.concept
        case Joined():
            return concept_of(phrase.items[0])
        case Pronoun():
            return phrase.stands_for or SOMEBODY
        case Name():
            return SOMEBODY
        case _:
            return ""


def verb_group(clause: Clause, verb: Verb, person: str, infinitive: tuple[Word, ...] = ()) -> Group:
    """The group for a clause; `infinitive` is what the verb governs without zu."""
    befalling = BEFALLING.get(clause.verb) if clause.passive and clause.agent is None else None
    if clause.passive and befalling is None:
        return passive_group(clause, verb, person)
    verb = befalling or verb
    tag: tuple[Tag, ...] = ((clause, "verb"),)
    helper: tuple[Tag, ...] = ((clause, "tense"),)
    modal = bool(infinitive) and VERBS[clause.verb].infinitive == "bare"
    if clause.tense == "perfect":
        auxiliary = SEIN if verb.auxiliary == "sein" else HABEN
        # Ersatzinfinitiv: hat kaufen wollen, not gewollt.
        text = conjugation.infinitive(verb) if modal else conjugation.participle(verb)
        finite = Word(conjugation.present(auxiliary, person), helper, tag)
        return Group(finite, "", (*infinitive, Word(text, tag)), modal)
    if clause.tense == "future":
        finite = Word(conjugation.present(WERDEN, person), helper, tag)
        return Group(finite, "", (*infinitive, Word(conjugation.infinitive(verb), tag)), modal)
    form = conjugation.preterite if clause.tense in PAST else conjugation.present
    return Group(Word(form(verb, person), tag), verb.prefix, infinitive)


def passive_group(clause: Clause, verb: Verb, person: str) -> Group:
    """wird, wurde, ist ... worden, wird ... werden, with the participle."""
    near: tuple[Tag, ...] = ((clause, "verb"),)
    tense, passive = (clause, "tense"), (clause, "passive")
    participle = Word(conjugation.participle(verb), near)
    if clause.tense == "perfect":
        finite = Word(conjugation.present(SEIN, person), (tense,), near)
        return Group(finite, "", (participle, Word("worden", (passive,), near)))
    if clause.tense == "future":
        finite = Word(conjugation.present(WERDEN, person), (tense,), near)
        return Group(finite, "", (participle, Word("werden", (passive,), near)))
    form = conjugation.preterite if clause.tense in PAST else conjugation.present
    return Group(Word(form(WERDEN, person), (tense, passive), near), "", (participle,))


def bare_infinitive(clause: Clause) -> tuple[Word, ...]:
    """essen, anrufen."""
    return (Word(conjugation.infinitive(lexical(clause)), ((clause, "verb"),)),)


def zu_infinitive(clause: Clause) -> list[Word]:
    """zu essen, anzurufen."""
    verb, to = (clause, "verb"), (clause, "to")
    words = conjugation.zu_infinitive(lexical(clause))
    if len(words) == 1:
        return [Word(words[0], (verb, to))]
    return [Word(words[0], (to,), (verb,)), Word(words[1], (verb,))]
