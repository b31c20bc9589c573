"""English verb groups: helping verbs, `not`, and the verb itself.

A group is a list of words whose first is the finite one, so that a question can put it before the subject.
"""

from __future__ import annotations

from regard.data.phrasebook.english.forms import VERBS, Agreement, Verb
from regard.data.phrasebook.meaning import Clause, Tag, Word

# The verb group of each tense. {be}, {have} and {do} are inflected; the other names are forms of the verb.
ACTIVE = {
    "present": "{present}",
    "progressive": "{be} {ing}",
    "past": "{past}",
    "perfect": "{have} {participle}",
    "imperfect": "{was} {ing}",
    "future": "will {base}",
}
PASSIVE = {
    "present": "{be} {participle}",
    "progressive": "{be} being {participle}",
    "past": "{was} {participle}",
    "perfect": "{have} been {participle}",
    "imperfect": "{was} being {participle}",
    "future": "will be {participle}",
}
SUPPORTED = {"present": "{do} {base}", "past": "did {base}"}
BE = {(1, False): "am", (3, False): "is"}
MODALS = {"can": {"present": "can", "imperfect": "could"}, "must": {"present": "must"}}
LEXICAL = ("{present}", "{past}", "{base}", "{ing}", "{participle}")


def finite_forms(verb: Verb, who: Agreement) -> dict[str, str]:
    """Every form a group may ask for, for this verb and subject."""
    third = who == (3, False)
    be = BE.get(who, "are")
    was = "were" if be == "are" else "was"
    if verb.base == "be":
        present, past = be, was
    else:
        present, past = (verb.third if third else verb.base), verb.past
    if verb.base == "have" and third:
        present = "has"
    return {
        "{present}": present,
        "{past}": past,
        "{base}": verb.base,
        "{ing}": verb.ing,
        "{participle}": verb.participle,
        "{be}": be,
        "{was}": was,
        "{have}": "has" if third else "have",
        "{do}": "does" if third else "do",
    }


def pattern(clause: Clause, verb: Verb, inverted: bool) -> str:
    """Which group the clause needs; `do` helps a bare verb that is negated or asked about."""
    if clause.passive:
        return PASSIVE[clause.tense]
    tense = "past" if clause.tense == "imperfect" and verb.stative else clause.tense
    if clause.verb in MODALS:
        return MODALS[clause.verb][clause.tense]
    if tense in SUPPORTED and (clause.negative or inverted) and verb.base != "be":
        return SUPPORTED[tense]
    return ACTIVE[tense]


def verb_group(clause: Clause, who: Agreement, inverted: bool = False) -> list[Word]:
    """The verb group without `not`. Helping verbs say the tense; be before a participle says passive."""
    verb = VERBS[clause.verb]
    forms = finite_forms(verb, who)
    names = pattern(clause, verb, inverted).split(" ")
    near = ((clause, "verb"),)
    group = []
    for place, name in enumerate(names):
        text = forms.get(name, name)
        if name in LEXICAL or clause.verb in MODALS:
            group.append(Word(text, near, near))
        else:
            group.append(Word(text, helper_tags(clause, place, len(names)), near))
    if verb.particle:
        group.append(Word(verb.particle, (), near))
    return group


def helper_tags(clause: Clause, place: int, length: int) -> tuple[Tag, ...]:
    """A single helper of a passive says both that it is passive and when."""
    if not clause.passive:
        return ((clause, "tense"),)
    if length == 2:
        return (clause, "tense"), (clause, "passive")
    return ((clause, "tense"),) if place == 0 else ((clause, "passive"),)


def infinitive(clause: Clause, bare: bool) -> list[Word]:
    """to eat, not to eat; after a modal: eat."""
    verb = VERBS[clause.verb]
    near = ((clause, "verb"),)
    words = [] if bare else [Word("to", ((clause, "to"),), near)]
    if clause.negative:
        words.insert(0, Word("not", ((clause, "negation"),), near))
    words.append(Word(verb.base, near))
    if verb.particle:
        words.append(Word(verb.particle, (), near))
    return words


def negate(group: list[Word], clause: Clause) -> list[Word]:
    """Puts `not` after the finite verb; can and not are written as one word."""
    negation = (clause, "negation")
    first = group[0]
    if first.text == "can":
        return [Word("cannot", (*first.sure, negation), first.near), *group[1:]]
    return [first, Word("not", (negation,), ((clause, "verb"),)), *group[1:]]
