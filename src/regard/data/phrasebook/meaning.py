"""What a sentence says, before any language says it.

A `Sentence` is a tree of the small frozen values below. It holds concepts (the ids of `lexicon/*.tsv`), never
words. Each language has a realiser that turns the tree into `Word`s; a word carries the tags of what it
expresses. A tag is a pair (node, role): `(the Noun, "determiner")` is the article of that noun in every
language. Words of two languages that share a tag are translations of one another: so gold links arise.

Nodes are compared by identity: one node stands at one place of one tree. Make a new one for every use.

The roles, by node:

    Sentence     stop (the final mark), question (est-ce que, do), asked (where, what, who ...)
    Clause       verb, tense (a helping verb), passive (be, être, werden), negation, to (of an infinitive),
                 conjunction (joins this clause to the one before it), that (opens a content clause), comma
    Noun         noun (noun2, noun3: further parts of a compound), determiner, of (the preposition or ending
                 that ties it to the noun it completes), agent (by), recipient (to), conjunction, comma
    Name, Pronoun, Joined   noun, and of, agent, recipient, conjunction, comma as above
    Adjective    adjective, very
    Phrase       preposition, comma        Adverb  adverb, comma      Subordinate  conjunction, comma
    Date         preposition, weekday, day, month, year, comma        Relative     relative, comma
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Tense = Literal["present", "progressive", "past", "perfect", "imperfect", "future"]
Determiner = Literal[
    "definite", "indefinite", "demonstrative", "possessive", "numeral", "some", "every", "several", "many", "none"
]
Gender = Literal["masculine", "feminine"]
Question = Literal["yes", "who", "what", "where", "when", "why", "how"]


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """I, you, he, she, it, we, they; as subject, object, recipient, or after a preposition.

    In the third person `stands_for` may name the noun concept meant: the pronoun then takes that noun's
    gender in each language (it / elle / er). Without it, `gender` says he or she.
    """

    person: Literal[1, 2, 3]
    plural: bool = False
    gender: Gender = "masculine"
    stands_for: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class This:
    """The subject of `this is my house`, `these are my books`: c'est, das ist. Its verb is always `be`."""

    plural: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A person, a city or a country: a concept of names.tsv or countries.tsv."""

    concept: str


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective beside its noun or after `be`: `very` adds very, très, sehr."""

    concept: str
    very: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun phrase with everything that belongs to it.

    `determiner` "none" is the bare noun of English: `bread`, `houses` (French: du pain, des maisons; German:
    Brot, Häuser). "some" is `some bread`, `some houses`. "possessive" needs `owner`, "numeral" needs `count`
    (2 or more, and then `plural`). `of` is a completing noun phrase (the door of the house), `phrase` any
    other completion (the agreement on the area, the house near the river). Adjectives stand in English order.
    """

    concept: str
    plural: bool = False
    determiner: Determiner = "definite"
    owner: Pronoun | None = None
    count: int = 1
    adjectives: tuple[Adjective, ...] = ()
    of: NounPhrase | None = None
    phrase: Phrase | None = None
    relative: Relative | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Two or more noun phrases joined by and / or: `the baker, his brother and I`."""

    items: tuple[NounPhrase, ...]
    conjunction: Literal["and", "or"] = "and"


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """A preposition (a concept of prepositions.tsv) and a noun phrase; `front` puts it before the clause."""

    preposition: str
    noun: NounPhrase
    front: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """A concept of adverbs.tsv; its kind there says where it stands. `front` puts it before the clause."""

    concept: str
    front: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Date:
    """`on Monday` | `on 3 May 1992` | `on 3 May` | `in August 1992` | `in August` | `in 1992`.

    `weekday` stands alone; a `day` needs a `month`. Weekday and month are concepts of months.tsv.
    """

    day: int | None = None
    month: str | None = None
    year: int | None = None
    weekday: str | None = None
    front: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Subordinate:
    """`because`, `when`, `if`, `while`, `although`-clauses: a concept of conjunctions.tsv and a clause."""

    conjunction: str
    clause: Clause
    front: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """A relative clause. What the noun is inside the clause is its `role`, and is left out of `clause`.

    subject: the man who sells bread (clause.subject is None). object: the bread that he sells (clause.object
    is None). place: the house where he lives. whose: the man whose brother sells bread (the clause's subject
    is a definite Noun: whose brother, dont le frère, dessen Bruder).
    """

    role: Literal["subject", "object", "place", "whose"]
    clause: Clause


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A verb (a concept of verbs.tsv) with all that goes with it.

    `subject` is None where somebody else is the subject: in an infinitive, in a subject relative, in the
    question `who`. `object` is None in an object relative and in the question `what`. With `passive` the
    subject is what undergoes, and `agent` may say by whom. `complement` goes with be, become, seem;
    `infinitive` with want, love, begin (its tense says nothing); `content` with say, think, know (that ...).
    `imperfect` is the ongoing past: `was eating` (stative verbs: `loved`) / il mangeait / er aß; `past` and
    `perfect` (ate, has eaten) are both il a mangé; `progressive` (is eating) is il mange.
    """

    subject: NounPhrase | None
    verb: str
    tense: Tense = "present"
    negative: bool = False
    passive: bool = False
    agent: NounPhrase | None = None
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    complement: Adjective | Noun | None = None
    infinitive: Clause | None = None
    content: Clause | None = None
    adverbials: tuple[Adverbial, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One or more clauses. `conjunctions` (and, but, or, so) has one less: it joins each clause to the next.

    A question has one clause. Where, when, why and how ask for an adverbial that the clause does not have.
    """

    clauses: tuple[Clause, ...]
    conjunctions: tuple[str, ...] = ()
    question: Question | None = None


NounPhrase: TypeAlias = Noun | Name | Pronoun | This | Joined
Adverbial: TypeAlias = Phrase | Adverb | Date | Subordinate
Node: TypeAlias = (
    Sentence
    | Clause
    | Noun
    | Name
    | Pronoun
    | This
    | Joined
    | Adjective
    | Phrase
    | Adverb
    | Date
    | Subordinate
    | Relative
)
Tag: TypeAlias = tuple[Node, str]


def head(part: NounPhrase | Adverbial) -> Tag:
    """The tag of the word that every language speaks for this phrase: what its small words belong with."""
    match part:
        case Joined():
            return head(part.items[0])
        case Phrase():
            return head(part.noun)
        case Adverb():
            return part, "adverb"
        case Subordinate():
            return part.clause, "verb"
        case Date():
            return part, "month" if part.month else "weekday" if part.weekday else "year"
        case _:
            return part, "noun"


class Word(NamedTuple):
    """One word of one language, and what it expresses.

    `sure` holds what the word itself says. `near` is for a word that may lack a counterpart (French `ne`,
    English `do`, a comma): the tags of what it belongs with, the best first. It counts only if `sure` finds
    no partner.
    """

    text: str
    sure: tuple[Tag, ...] = ()
    near: tuple[Tag, ...] = ()
