"""French verb groups: negation, pronouns before the verb, helping verbs, participles and their agreement."""

from __future__ import annotations

from regard.data.phrasebook.french.conjugation import Conjugation, conjugate
from regard.data.phrasebook.french.forms import (
    VERBS,
    Agreement,
    Verb,
    agreement,
    participle,
    pronoun_forms,
    reflexive_form,
    subject_form,
)
from regard.data.phrasebook.french.sound import vowel_sound
from regard.data.phrasebook.meaning import Clause, Noun, Pronoun, Tag, Word

ETRE, AVOIR = conjugate("être"), conjugate("avoir")
CLITIC_ORDER = {"me": 0, "te": 0, "se": 0, "nous": 0, "vous": 0, "le": 1, "la": 1, "les": 1, "lui": 2, "leur": 2}


def finite(forms: Conjugation, tense: str, who: Agreement) -> str:
    """The form of a simple tense."""
    series = {"imperfect": forms.imperfect, "future": forms.future}.get(tense, forms.present)
    return series[who.person - 1 + 3 * who.plural]


def verb_words(clause: Clause, who: Agreement, preceding: Agreement | None) -> tuple[Word, list[Word]]:
    """The finite word, and the participles after it.

    `preceding` is the agreement of a direct object that stands before the verb: les lettres qu'il a écrites.
    """
    verb = VERBS[clause.verb]
    said: tuple[Tag, ...] = ((clause, "verb"),)
    compound = clause.tense in ("past", "perfect")
    if clause.passive:
        return passive_words(clause, verb, who, compound)
    if not compound:
        return Word(finite(verb.forms, clause.tense, who), said, said), []
    helper = ETRE if verb.with_etre else AVOIR
    agrees = who if verb.with_etre else preceding
    text = verb.forms.participle if agrees is None else participle(verb.forms.participle, agrees)
    return Word(finite(helper, "present", who), ((clause, "tense"),), said), [Word(text, said, said)]


def passive_words(clause: Clause, verb: Verb, who: Agreement, compound: bool) -> tuple[Word, list[Word]]:
    """est signé, sera signée, a été signé: the participle agrees with the subject."""
    near = ((clause, "verb"),)
    tense, passive = (clause, "tense"), (clause, "passive")
    said = Word(participle(verb.forms.participle, who), near, near)
    if compound:
        return Word(finite(AVOIR, "present", who), (tense,), near), [Word("été", (passive,), near), said]
    return Word(finite(ETRE, clause.tense, who), (tense, passive), near), [said]


def clitics(clause: Clause, who: Agreement) -> list[Word]:
    """The pronouns before the verb, in their fixed order: il me le donne, il le lui donne."""
    verb = VERBS[clause.verb]
    near = ((clause, "verb"),)
    found: list[Word] = []
    if verb.reflexive:
        found.append(Word(reflexive_form(who), (), near))
    if isinstance(clause.object, Pronoun):
        place = 2 if verb.object_preposition else 1
        found.append(Word(pronoun_forms(clause.object)[place], ((clause.object, "noun"),), near))
    if isinstance(clause.recipient, Pronoun):
        tags = ((clause.recipient, "noun"), (clause.recipient, "recipient"))
        found.append(Word(pronoun_forms(clause.recipient)[2], tags, near))
    return sorted(found, key=lambda word: CLITIC_ORDER[word.text])


def preceding_object(clause: Clause, antecedent: Noun | None) -> Agreement | None:
    """The direct object before the verb, if there is one: a pronoun, or what `que` stands for."""
    if VERBS[clause.verb].object_preposition:
        return None
    if isinstance(clause.object, Pronoun):
        return agreement(clause.object)
    return None if antecedent is None else agreement(antecedent)


def verb_group(clause: Clause, who: Agreement, adverbs: list[Word], antecedent: Noun | None) -> list[Word]:
    """ne, pronouns, the finite verb, pas, adverbs, participles."""
    first, participles = verb_words(clause, who, preceding_object(clause, antecedent))
    return surround(clause, clitics(clause, who), [first], adverbs + participles)


def surround(clause: Clause, pronouns: list[Word], finite_words: list[Word], rest: list[Word]) -> list[Word]:
    """Puts ne before the pronouns and pas after the finite verb."""
    if not clause.negative:
        return pronouns + finite_words + rest
    negation = (clause, "negation")
    before = Word("ne", (), (negation, (clause, "verb")))
    after = Word("pas", (negation,), ((clause, "verb"),))
    return [before, *pronouns, *finite_words, after, *rest]


def invert(group: list[Word], clause: Clause, who: Agreement) -> list[Word]:
    """Ties the subject pronoun to the finite verb: vend-il, habite-t-elle, a-t-il."""
    subject = clause.subject
    spoken = isinstance(subject, Pronoun)
    text = pronoun_forms(subject)[0] if isinstance(subject, Pronoun) else subject_form(who)
    extra: tuple[Tag, ...] = ((subject, "noun"),) if spoken and subject is not None else ()
    place = next(
        at for at, word in enumerate(group) if word.sure and word.sure[0] in ((clause, "verb"), (clause, "tense"))
    )
    verb = group[place]
    link = "-t-" if verb.text[-1] in "ae" and vowel_sound(text) else "-"
    tied = Word(verb.text + link + text, verb.sure + extra, verb.near)
    return [*group[:place], tied, *group[place + 1 :]]


def infinitive(clause: Clause, preposition: str, who: Agreement) -> list[Word]:
    """manger, à manger, de le manger, ne pas manger; reflexives follow the subject: je veux me lever."""
    near = ((clause, "verb"),)
    opening = [Word(preposition, ((clause, "to"),), near)] if preposition else []
    if clause.negative:
        negation = (clause, "negation")
        opening += [Word("ne", (), (negation, *near)), Word("pas", (negation,), near)]
    return [*opening, *clitics(clause, who), Word(VERBS[clause.verb].forms.infinitive, near)]
