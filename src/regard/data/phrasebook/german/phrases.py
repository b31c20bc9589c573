"""German noun phrases and adverbials in the case that their place in the clause asks for.

A phrase is a list of words in which a relative clause is still closed: a `Pending` stands where it belongs.
The clause that holds the phrase opens it there, or after its last verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from regard.data.phrasebook.german import declension
from regard.data.phrasebook.german.declension import Case, Gender
from regard.data.phrasebook.german.numbers import number
from regard.data.phrasebook.german.words import (
    ADJECTIVES,
    ADVERBS,
    GOAL_ADVERBS,
    MONTHS,
    NOUNS,
    PEOPLE,
    PLACE_ARTICLES,
    PLACE_DATIVES,
    PLACES,
    PREPOSITIONS,
)
from regard.data.phrasebook.lexicon import spell, tags
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Date,
    Joined,
    Name,
    Noun,
    NounPhrase,
    Phrase,
    Pronoun,
    Relative,
    Tag,
    This,
    Word,
)


class Pending(NamedTuple):
    """A relative clause that waits for its place, with the noun it speaks of."""

    relative: Relative
    noun: Noun


Piece: TypeAlias = Word | Pending
DEFINITE_KINDS = frozenset({"definite", "demonstrative", "possessive"})
INDEFINITE_KINDS = frozenset({"indefinite", "none", "some"})  # what kein can take the place of
CONTRACTIONS = {
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("bei", "dem"): "beim",
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}
LEAVING = {"in": "aus", "auf": "von"}  # out of what one goes into
QUANTITIES = {"several": "mehrer", "many": "viel"}
PERSONS = {(1, False): "ich", (2, False): "du", (1, True): "wir", (2, True): "ihr", (3, True): "they"}
JOINTS = {"and": "und", "or": "oder"}


def speak_noun(phrase: NounPhrase, case: Case, negation: Tag | None = None) -> list[Piece]:
    """Any noun phrase. With `negation`, an indefinite one takes kein, which then says the negation."""
    match phrase:
        case Noun():
            return noun_phrase(phrase, case, negation)
        case Name():
            return name(phrase, case)
        case Pronoun():
            return [Word(declension.PERSONAL[case, person_of(phrase)], ((phrase, "noun"),))]
        case This():
            return [Word("das", ((phrase, "noun"),))]
        case Joined():
            return joined(phrase, case, negation)


def joined(phrase: Joined, case: Case, negation: Tag | None) -> list[Piece]:
    """a, b und c."""
    words = speak_noun(phrase.items[0], case, negation)
    for item in phrase.items[1:-1]:
        words += [Word(",", ((item, "comma"),), ((item, "noun"),)), *speak_noun(item, case, negation)]
    last = phrase.items[-1]
    words.append(Word(JOINTS[phrase.conjunction], ((last, "conjunction"),), ((last, "noun"),)))
    return words + speak_noun(last, case, negation)


def name(phrase: Name, case: Case) -> list[Piece]:
    """Anna, Frankreich, die Schweiz."""
    near = ((phrase, "noun"),)
    if phrase.concept in PEOPLE:
        return [Word(PEOPLE[phrase.concept], near)]
    form = PLACE_DATIVES.get(phrase.concept) if case == "dat" else None
    words: list[Piece] = [*spell(form or PLACES[phrase.concept], phrase, "noun")]
    if phrase.concept in PLACE_ARTICLES:
        article = declension.DEFINITE[case, PLACE_ARTICLES[phrase.concept]]
        words.insert(0, Word(article, ((phrase, "determiner"),), near))
    return words


def noun_phrase(noun: Noun, case: Case, negation: Tag | None = None) -> list[Piece]:
    """Determiner, adjectives, noun, and what completes it. A person's name in the genitive comes first."""
    owner = noun.of
    if isinstance(owner, Name) and owner_first(noun):
        words: list[Piece] = [genitive_name(owner), *core(noun, case, "strong")]
    else:
        opening, kind = determiner(noun, case, negation)
        words = [*opening, *core(noun, case, kind)]
        if owner is not None:
            words += genitive(owner)
    if noun.phrase is not None:
        words += speak_phrase(noun.phrase)
    if noun.relative is not None:
        words.append(Pending(noun.relative, noun))
    return words


def owner_first(noun: Noun) -> bool:
    """Annas Haus, for the house of a person who has a name."""
    return isinstance(noun.of, Name) and noun.of.concept in PEOPLE and noun.determiner == "definite"


def kind_of(noun: Noun) -> str:
    """The determiner; some nouns have an article where English has none: die Freiheit."""
    bare = noun.determiner == "none" and not noun.plural
    return "definite" if bare and NOUNS[noun.concept].bare_definite else noun.determiner


def core(noun: Noun, case: Case, kind: str) -> list[Word]:
    """The adjectives and the noun itself; `kind` is the adjectives' ending: strong, weak or mixed."""
    entry, gender = NOUNS[noun.concept], gender_of(noun)
    words: list[Word] = []
    for item in noun.adjectives:
        words += very(item)
        text = declension.adjective(ADJECTIVES[item.concept][1], kind, case, gender)
        words.append(Word(text, ((item, "adjective"),)))
    for stem, parts in entry.adjectives:
        words.append(Word(declension.adjective(stem, kind, case, gender), tags(noun, "noun", parts)))
    if entry.adjectival:
        text = declension.adjective(entry.forms.singular, kind, case, gender)
    else:
        text = declension.noun(entry.forms, case, plural=noun.plural)
    words.append(Word(text, tags(noun, "noun", entry.parts)))
    return words


def very(adjective: Adjective) -> list[Word]:
    """sehr, if the adjective has it."""
    return [Word("sehr", ((adjective, "very"),), ((adjective, "adjective"),))] if adjective.very else []


def predicate(adjective: Adjective) -> list[Word]:
    """An adjective after sein: no ending."""
    return [*very(adjective), Word(ADJECTIVES[adjective.concept][0], ((adjective, "adjective"),))]


def determiner(noun: Noun, case: Case, negation: Tag | None) -> tuple[list[Word], str]:
    """The word before the adjectives, if there is one, and the kind of ending that it leaves to them."""
    gender, kind = gender_of(noun), kind_of(noun)
    tag: tuple[Tag, ...] = ((noun, "determiner"),)
    ending = "weak"
    if kind in INDEFINITE_KINDS and negation is not None:
        text, tag, ending = declension.ein_word("kein", case, gender), (negation, *tag), "mixed"
    elif kind == "none" or (kind == "indefinite" and noun.plural):
        return [], "strong"
    elif kind == "indefinite":
        text, ending = declension.ein_word("ein", case, gender), "mixed"
    elif kind == "possessive" and noun.owner is not None:
        text, ending = possessive(noun.owner, case, gender), "mixed"
    elif kind == "definite":
        text = declension.DEFINITE[case, gender]
    elif kind in ("demonstrative", "every"):
        text = declension.dieser_word("jed" if kind == "every" else "dies", case, gender)
    else:
        text, ending = quantity(noun, case), "strong"
    return [Word(text, tag, ((noun, "noun"),))], ending


def possessive(owner: Pronoun, case: Case, gender: Gender) -> str:
    """mein, dein, sein, ihr ... in agreement with what is owned."""
    return declension.ein_word(declension.POSSESSIVE[person_of(owner)], case, gender)


def quantity(noun: Noun, case: Case) -> str:
    """zwei, mehrere, viele, einige; etwas before a noun that is not counted."""
    if noun.determiner == "numeral":
        return number(noun.count)
    if noun.determiner == "some":
        return declension.dieser_word("einig", case, "p") if noun.plural else "etwas"
    return declension.dieser_word(QUANTITIES[noun.determiner], case, "p")


def gender_of(noun: Noun) -> Gender:
    """The column of the tables that the noun stands in."""
    return "p" if noun.plural else NOUNS[noun.concept].forms.gender


def person_of(pronoun: Pronoun) -> str:
    """The person, as the paradigms name it; a noun passes its gender on, but das Mädchen is taken up as sie."""
    if pronoun.person != 3 or pronoun.plural:
        return PERSONS[pronoun.person, pronoun.plural]
    if pronoun.stands_for is None:
        return "sie" if pronoun.gender == "feminine" else "er"
    entry = NOUNS[pronoun.stands_for]
    return "sie" if entry.sex == "female" else {"m": "er", "f": "sie", "n": "es"}[entry.forms.gender]


def agreement(phrase: NounPhrase) -> str:
    """The person that the verb agrees with."""
    match phrase:
        case Pronoun():
            return person_of(phrase)
        case Noun() | This():
            return "they" if phrase.plural else "er"
        case Name():
            return "they" if PLACE_ARTICLES.get(phrase.concept) == "p" else "er"
        case Joined():
            return joined_agreement(phrase)


def joined_agreement(phrase: Joined) -> str:
    """du und ich: wir. du und er: ihr. er und sie: they. With oder, the last one counts."""
    persons = [agreement(item) for item in phrase.items]
    if phrase.conjunction == "or":
        return persons[-1]
    if "ich" in persons or "wir" in persons:
        return "wir"
    return "ihr" if "du" in persons or "ihr" in persons else "they"


def genitive_name(owner: Name) -> Word:
    """Annas, Thomas'."""
    text = PEOPLE[owner.concept]
    ending = "'" if text.endswith(("s", "x", "z")) else "s"
    return Word(text + ending, ((owner, "noun"), (owner, "of")))


def genitive(owner: NounPhrase) -> list[Piece]:
    """des Hauses; where no article shows the case, von."""
    if shows_genitive(owner):
        return marked(speak_noun(owner, "gen"), (owner, "of"))
    return preposed([Word("von", ((owner, "of"),), noun_tags(owner))], speak_noun(owner, "dat"))


def shows_genitive(phrase: NounPhrase) -> bool:
    """Whether the first word of the phrase has a genitive that can be seen."""
    match phrase:
        case Noun():
            kind = kind_of(phrase)
            indefinite = kind in ("several", "many", "every") or (kind == "indefinite" and not phrase.plural)
            return (kind in DEFINITE_KINDS or indefinite) and not owner_first(phrase)
        case Name():
            return phrase.concept in PLACE_ARTICLES
        case Joined():
            return all(shows_genitive(item) for item in phrase.items)
        case _:
            return False


def marked(pieces: Sequence[Piece], tag: Tag) -> list[Piece]:
    """The phrase with its first word also saying `tag`: the case of the article does what of and to do."""
    first = pieces[0]
    if isinstance(first, Pending):
        return list(pieces)
    return [Word(first.text, (*first.sure, tag), first.near), *pieces[1:]]


def preposed(opening: list[Word], pieces: list[Piece]) -> list[Piece]:
    """Preposition and phrase, contracted where German does: im, zum, vom."""
    last, first = opening[-1], pieces[0]
    if isinstance(first, Pending) or not is_article(first):
        return [*opening, *pieces]
    text = CONTRACTIONS.get((last.text, first.text))
    if text is None:
        return [*opening, *pieces]
    return [*opening[:-1], Word(text, (*last.sure, *first.sure), last.near), *pieces[1:]]


def is_article(word: Word) -> bool:
    """A definite article, not a pronoun of the same form."""
    return any(role == "determiner" for _, role in word.sure)


def noun_tags(phrase: NounPhrase) -> tuple[Tag, ...]:
    """What a preposition before the phrase belongs with."""
    if isinstance(phrase, Joined):
        return tuple(tag for item in phrase.items for tag in noun_tags(item))
    return ((phrase, "noun"),)


def speak_phrase(phrase: Phrase) -> list[Piece]:
    """A prepositional phrase: the preposition may depend on the noun (auf dem Markt, nach Paris)."""
    words, case = PREPOSITIONS[phrase.preposition]
    near = ((phrase, "preposition"), *noun_tags(phrase.noun))
    text, case = fitting(phrase, case)
    if text:
        opening = [Word(text, ((phrase, "preposition"),), near)]
    else:
        opening = [Word(word.text, word.sure, near) for word in spell(words, phrase, "preposition")]
    if case == "gen" and not shows_genitive(phrase.noun):
        if len(opening) > 1:
            opening.append(Word("von", (), near))
        case = "dat"
    return preposed(opening, speak_noun(phrase.noun, case))


def fitting(phrase: Phrase, case: Case) -> tuple[str, Case]:
    """The preposition that this noun asks for in the place of the usual one, and its case."""
    noun = phrase.noun.items[0] if isinstance(phrase.noun, Joined) else phrase.noun
    kind = phrase.preposition
    if isinstance(noun, Name) and noun.concept in PLACES:
        article = noun.concept in PLACE_ARTICLES
        goal: tuple[str, Case] = ("in", "acc") if article else ("nach", "dat")
        return {"to": goal, "from": ("aus", case), "at": ("in", case)}.get(kind, ("", case))
    if isinstance(noun, Noun):
        entry = NOUNS[noun.concept]
        if kind in ("in", "at"):
            return entry.place, case
        if entry.goal and kind in ("to", "from"):
            return (entry.goal, "acc") if kind == "to" else (LEAVING[entry.goal], case)
    return "", case


def speak_adverb(adverb: Adverb, motion: bool) -> list[Word]:
    """gestern, letzte Woche; with a verb of motion, dorthin and not dort."""
    words = GOAL_ADVERBS.get(adverb.concept) if motion else None
    return spell(words or ADVERBS[adverb.concept], adverb, "adverb")


def date(when: Date) -> list[Word]:
    """am Montag, am 3. Mai 1992, im August 1992, im Jahr 1992."""
    parts: list[Word] = []
    if when.weekday is not None:
        parts.append(Word(MONTHS[when.weekday], ((when, "weekday"),)))
    if when.day is not None:
        parts.append(Word(f"{when.day}.", ((when, "day"),)))
    if when.month is not None:
        parts.append(Word(MONTHS[when.month], ((when, "month"),)))
    if when.year is not None:
        if when.month is None:
            parts.append(Word("Jahr", (), ((when, "year"),)))
        parts.append(Word(str(when.year), ((when, "year"),)))
    opening = "am" if when.day is not None or when.weekday is not None else "im"
    return [Word(opening, ((when, "preposition"),), parts[-1].sure), *parts]
