"""English inflection: plurals, verb forms, articles, pronouns and numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

from regard.data.phrasebook.lexicon import Form, form, table
from regard.data.phrasebook.meaning import Joined, Name, Noun, NounPhrase, Pronoun, This

VOWELS = "aeiou"
SMALL_NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
)
TENS = {30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}

# (person, plural) -> subject, object, possessive; the third person singular is told apart by sex.
PRONOUNS = {
    (1, False): ("I", "me", "my"),
    (1, True): ("we", "us", "our"),
    (2, False): ("you", "you", "your"),
    (2, True): ("you", "you", "your"),
    (3, True): ("they", "them", "their"),
}
HE_SHE_IT = {"male": ("he", "him", "his"), "female": ("she", "her", "her"), "": ("it", "it", "its")}


class Agreement(NamedTuple):
    """What an English verb needs to know of its subject."""

    person: int
    plural: bool


class Verb(NamedTuple):
    """The forms of one verb. `particle` follows the verb: look for, get up."""

    base: str
    third: str
    past: str
    participle: str
    ing: str
    particle: str
    stative: bool


def plural(word: str) -> str:
    """The regular plural: city, cities; box, boxes; boy, boys."""
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def third_person(base: str) -> str:
    """he sees, he carries, he watches, he goes."""
    return base + "es" if base.endswith("o") else plural(base)


def doubles(base: str) -> bool:
    """Whether the last consonant is written twice before an ending: stop, stopping; begin, beginning."""
    if base in ("begin", "forget", "prefer", "travel"):
        return True
    short = re.fullmatch(rf"[^{VOWELS}]*[{VOWELS}][^{VOWELS}wxy]", base)
    return short is not None


def past(base: str) -> str:
    """The regular past: loved, carried, planned, watched."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in VOWELS:
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if doubles(base) else base + "ed"


def ing(base: str) -> str:
    """being, dying, writing, running, reading."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and base[-2] not in "eo" and base != "be":
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if doubles(base) else base + "ing"


def article(following: str) -> str:
    """a or an, by how the next word begins: an apple, a university, an honest man."""
    word = following.lower()
    if word.startswith(("uni", "eu", "use", "one")):
        return "a"
    silent_h = word.startswith(("honest", "hour", "heir"))
    return "an" if word[0] in VOWELS or silent_h else "a"


def number(count: int) -> str:
    """Words up to twenty and for round tens, digits for the others."""
    return SMALL_NUMBERS[count] if count <= 20 else TENS.get(count, str(count))


def pronoun_forms(pronoun: Pronoun) -> tuple[str, str, str]:
    """Subject, object and possessive form."""
    if pronoun.person == 3 and not pronoun.plural:
        if pronoun.stands_for is not None:
            return HE_SHE_IT[table("nouns")[pronoun.stands_for]["sex"]]
        return HE_SHE_IT["female" if pronoun.gender == "feminine" else "male"]
    return PRONOUNS[pronoun.person, pronoun.plural]


def agreement(phrase: NounPhrase) -> Agreement:
    """Person and number of a noun phrase. What is joined by `and` is plural."""
    match phrase:
        case Noun() | This():
            return Agreement(3, phrase.plural)
        case Pronoun():
            return Agreement(phrase.person, phrase.plural)
        case Name():
            return Agreement(3, False)
        case Joined():
            parts = [agreement(item) for item in phrase.items]
            plural = phrase.conjunction == "and" or parts[-1].plural
            return Agreement(min(part.person for part in parts), plural)


def read_verb(concept: str) -> Verb:
    """The forms of a verb from its row, the regular ones by rule."""
    row = table("english/verbs")[concept]
    base = row["base"]
    regular = past(base)
    return Verb(
        base,
        third_person(base),
        row["past"] or regular,
        row["participle"] or regular,
        ing(base),
        row["particle"],
        "stative" in table("verbs")[concept]["traits"].split(),
    )


def read_noun(concept: str) -> tuple[Form, Form]:
    """Singular and plural; the plural of a compound is the plural of its head."""
    row = table("english/nouns")[concept]
    singular = form(row["singular"])
    if row["plural"]:
        return singular, form(row["plural"])
    return singular, tuple((plural(text) if 1 in parts else text, parts) for text, parts in singular)


def plain(text: str) -> str:
    """Ordinary typography: no space before a comma or a final mark."""
    return re.sub(r" (?=[,.?])", "", text)


VERBS = {concept: read_verb(concept) for concept in table("verbs")}
NOUNS = {concept: read_noun(concept) for concept in table("nouns")}
ADJECTIVES = {concept: row["word"] for concept, row in table("english/adjectives").items()}
ADVERBS = {concept: form(row["words"]) for concept, row in table("english/adverbs").items()}
PREPOSITIONS = {concept: form(row["words"]) for concept, row in table("english/prepositions").items()}
CONJUNCTIONS = {concept: form(row["words"]) for concept, row in table("english/conjunctions").items()}
MONTHS = {concept: row["word"] for concept, row in table("english/months").items()}
NAMES = {concept: form(row["name"]) for concept, row in table("names").items()} | {
    concept: form(row["words"]) for concept, row in table("english/countries").items()
}
PEOPLE = frozenset(concept for concept, row in table("nouns").items() if row["sex"])
