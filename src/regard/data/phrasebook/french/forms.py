"""French inflection: nouns, adjectives, determiners, pronouns, numbers."""

from __future__ import annotations

from typing import NamedTuple

from regard.data.phrasebook.french.conjugation import Conjugation, conjugate
from regard.data.phrasebook.lexicon import Form, form, table
from regard.data.phrasebook.meaning import Joined, Name, Noun, NounPhrase, Pronoun, This

SMALL_NUMBERS = (
    "zéro",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
    "dix-sept",
    "dix-huit",
    "dix-neuf",
    "vingt",
)
TENS = {
    30: "trente",
    40: "quarante",
    50: "cinquante",
    60: "soixante",
    70: "soixante-dix",
    80: "quatre-vingts",
    90: "quatre-vingt-dix",
}

# (person, plural) -> subject, direct object, indirect object, after a preposition, reflexive
PRONOUNS = {
    (1, False): ("je", "me", "me", "moi", "me"),
    (1, True): ("nous", "nous", "nous", "nous", "nous"),
    (2, False): ("tu", "te", "te", "toi", "te"),
    (2, True): ("vous", "vous", "vous", "vous", "vous"),
}
MASCULINE = {False: ("il", "le", "lui", "lui", "se"), True: ("ils", "les", "leur", "eux", "se")}
FEMININE = {False: ("elle", "la", "lui", "elle", "se"), True: ("elles", "les", "leur", "elles", "se")}

# (owner's person, owner plural) -> before a masculine, a feminine, a plural noun
POSSESSIVES = {
    (1, False): ("mon", "ma", "mes"),
    (1, True): ("notre", "notre", "nos"),
    (2, False): ("ton", "ta", "tes"),
    (2, True): ("votre", "votre", "vos"),
    (3, False): ("son", "sa", "ses"),
    (3, True): ("leur", "leur", "leurs"),
}


class Agreement(NamedTuple):
    """What a French verb, adjective or participle needs to know of its noun."""

    person: int
    plural: bool
    feminine: bool


class NounForms(NamedTuple):
    """Both numbers of a noun, and its gender."""

    singular: Form
    plural: Form
    feminine: bool


class AdjectiveForms(NamedTuple):
    """The four forms, the one before a vowel (bel), and whether it stands before its noun."""

    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    before_vowel: str
    before: bool


class Verb(NamedTuple):
    """A verb's forms, its helping verb (être or avoir) and the prepositions it asks for."""

    forms: Conjugation
    with_etre: bool
    reflexive: bool
    object_preposition: str
    infinitive_preposition: str
    generic: bool


class Country(NamedTuple):
    """A country or city: its name, gender, and kind: article, plural, bare (à Cuba), en (en Israël: no article)."""

    words: Form
    feminine: bool
    kind: str


def plural(word: str) -> str:
    """The regular plural of nouns and adjectives: maisons, bras, gâteaux."""
    if word.endswith(("s", "x", "z")):
        return word
    return word + "x" if word.endswith(("eau", "eu")) else word + "s"


def number(count: int) -> str:
    """Words up to twenty and for round tens, digits for the others."""
    return SMALL_NUMBERS[count] if count <= 20 else TENS.get(count, str(count))


def inflect(adjective: AdjectiveForms, who: Agreement) -> str:
    """The form that agrees."""
    if who.plural:
        return adjective.feminine_plural if who.feminine else adjective.masculine_plural
    return adjective.feminine if who.feminine else adjective.masculine


def participle(text: str, who: Agreement) -> str:
    """vendu, vendue, vendus, vendues; pris stays pris in the plural; dû becomes due, dus."""
    if (who.feminine or who.plural) and text == "dû":
        text = "du"
    if who.feminine:
        text += "e"
    return text if not who.plural or text.endswith("s") else text + "s"


def agreement(phrase: NounPhrase) -> Agreement:
    """Person, number and gender. Joined phrases are feminine only if all their parts are."""
    match phrase:
        case Noun():
            return Agreement(3, phrase.plural, NOUNS[phrase.concept].feminine)
        case Pronoun():
            return Agreement(phrase.person, phrase.plural, is_feminine(phrase))
        case This():
            return Agreement(3, phrase.plural, False)
        case Name():
            return Agreement(3, False, phrase.concept in WOMEN)
        case Joined():
            parts = [agreement(item) for item in phrase.items]
            plural = phrase.conjunction == "and" or parts[-1].plural
            return Agreement(min(part.person for part in parts), plural, all(part.feminine for part in parts))


def is_feminine(pronoun: Pronoun) -> bool:
    """By the noun it stands for, if it says; else he or she."""
    if pronoun.stands_for is not None:
        return NOUNS[pronoun.stands_for].feminine
    return pronoun.gender == "feminine"


def pronoun_forms(pronoun: Pronoun) -> tuple[str, ...]:
    """Subject, direct object, indirect object, after a preposition, reflexive."""
    if pronoun.person == 3:
        return (FEMININE if is_feminine(pronoun) else MASCULINE)[pronoun.plural]
    return PRONOUNS[pronoun.person, pronoun.plural]


def subject_form(who: Agreement) -> str:
    """The subject pronoun that agrees: for the il of `où le boulanger habite-t-il`."""
    return (FEMININE if who.feminine else MASCULINE)[who.plural][0]


def reflexive_form(who: Agreement) -> str:
    """me, te, se, nous, vous."""
    return "se" if who.person == 3 else PRONOUNS[who.person, who.plural][4]


def read_noun(concept: str) -> NounForms:
    """The forms of a noun from its row; the regular plural is that of the head."""
    row = table("french/nouns")[concept]
    singular = form(row["singular"])
    regular = tuple((plural(text) if 1 in parts else text, parts) for text, parts in singular)
    return NounForms(singular, form(row["plural"]) if row["plural"] else regular, row["gender"] == "feminine")


def read_adjective(concept: str) -> AdjectiveForms:
    """The forms of an adjective from its row."""
    row = table("french/adjectives")[concept]
    masculine, feminine = row["masculine"], row["feminine"]
    return AdjectiveForms(
        masculine,
        feminine,
        row["plural"] or plural(masculine),
        plural(feminine),
        row["before_vowel"] or masculine,
        row["position"] == "before",
    )


def read_verb(concept: str) -> Verb:
    """A verb from its row; `se` before the infinitive makes it reflexive."""
    row = table("french/verbs")[concept]
    infinitive = row["infinitive"].removeprefix("se ")
    return Verb(
        conjugate(infinitive),
        row["auxiliary"] == "être",
        infinitive != row["infinitive"],
        row["object_preposition"],
        row["infinitive_preposition"],
        "generic" in table("verbs")[concept]["traits"].split(),
    )


NOUNS = {concept: read_noun(concept) for concept in table("nouns")}
ADJECTIVES = {concept: read_adjective(concept) for concept in table("adjectives")}
VERBS = {concept: read_verb(concept) for concept in table("verbs")}
ADVERBS = {concept: form(row["words"]) for concept, row in table("french/adverbs").items()}
PREPOSITIONS = {concept: form(row["words"]) for concept, row in table("french/prepositions").items()}
CONJUNCTIONS = {concept: form(row["words"]) for concept, row in table("french/conjunctions").items()}
MONTHS = {concept: row["word"] for concept, row in table("french/months").items()}
NAMES = {concept: form(row["name"]) for concept, row in table("names").items()}
COUNTRIES = {
    concept: Country(form(row["words"]), row["gender"] == "feminine", row["kind"])
    for concept, row in table("french/countries").items()
}
WOMEN = frozenset(concept for concept, row in table("names").items() if row["sex"] == "female")
WORKERS = frozenset(concept for concept, row in table("nouns").items() if "worker" in row["classes"].split())
ABSTRACT = frozenset(concept for concept, row in table("nouns").items() if "bare" in row["classes"].split())
