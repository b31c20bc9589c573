"""The German lexicon, read once: `lexicon/german/*.tsv` as nouns, verbs and forms ready for the grammar.

nouns.tsv: gender (m, f, n); singular (compound parts marked, `Haustür/1+2`; words before the last are
adjectives that decline, `Europäisch/3`); plural; then, where needed, genitive; oblique (weak masculines:
every singular case but the nominative); kind (`adjectival`: der Fremde, ein Fremder); place (`auf`, `an`: one
is not *in* it); goal (`in`: one does not go *zu* it, but ins Kino); bare (`definite`: German has an article
where English has none, die Freiheit).

verbs.tsv: principal parts, auxiliary, the case or the preposition of the object, reflexive, how an infinitive
follows (`bare`: will essen; `lone`: lernt schwimmen, but lernt, Brot zu schneiden; `es`: hasst es, zu essen;
`es_long`: the same, but only when it is negated or the infinitive has company), and the separable verb that
takes over when there is a recipient (`vor|lesen`).

verb_senses.tsv: other verbs for some classes of objects (`watch:film`) or of subjects (`animal:eat`).

adverbs.tsv: words; goal, the words with verbs of motion (`hierher`).

countries.tsv: words; the article, if it has one (m, f, p); its dative, if that is another form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from regard.data.phrasebook.german.conjugation import Verb
from regard.data.phrasebook.german.declension import Case, Gender, Noun
from regard.data.phrasebook.lexicon import Form, Row, classes, form, table


@dataclass(frozen=True)
class NounEntry:
    """A noun with the compound parts it says, and the adjectives that belong to it as to a proper name."""

    forms: Noun
    parts: tuple[int, ...]
    adjectives: Form
    adjectival: bool
    place: str  # the preposition of being there
    goal: str  # the preposition of going there, where it is not zu: in die Stadt
    role: bool  # a trade: er ist Bäcker, without an article
    sex: str
    bare_definite: bool  # English says freedom, German die Freiheit


@dataclass(frozen=True)
class VerbEntry:
    """A verb and what it asks of its companions."""

    verb: Verb
    case: Case
    preposition: str
    reflexive: bool
    infinitive: str
    with_recipient: Verb
    motion: bool


def _noun(concept: str, row: Row) -> NounEntry:
    *adjectives, (singular, parts) = form(row["singular"])
    kinds = table("nouns")[concept]["classes"].split()
    forms = Noun(singular, cast(Gender, row["gender"]), row["plural"], row["genitive"], row["oblique"])
    return NounEntry(
        forms,
        parts,
        tuple(adjectives),
        adjectival=row["kind"] == "adjectival",
        place=row["place"] or "in",
        goal=row["goal"],
        role="worker" in kinds,
        sex=table("nouns")[concept]["sex"],
        bare_definite=row["bare"] == "definite",
    )


def _verb(concept: str, row: Row) -> VerbEntry:
    verb = _principal_parts(row)
    return VerbEntry(
        verb,
        cast(Case, row["case"] or "acc"),
        row["preposition"],
        bool(row["reflexive"]),
        row["infinitive_kind"],
        _with_recipient(verb, row["with_recipient"]),
        motion="motion" in table("verbs")[concept]["frames"].split(),
    )


def _principal_parts(row: Row) -> Verb:
    return Verb(row["infinitive"], row["present"], row["preterite"], row["participle"], row["auxiliary"] or "haben")


def _with_recipient(verb: Verb, separable: str) -> Verb:
    """The same verb with a prefix: lesen, vor|lesen."""
    if not separable:
        return verb
    prefix = separable.split("|")[0]
    return Verb(separable, verb.present, verb.preterite, prefix + verb.participle, verb.auxiliary)


def _senses() -> dict[tuple[str, str], Verb]:
    """The verb to use for (verb, object) or (subject, verb), where it is not the usual one."""
    found: dict[tuple[str, str], Verb] = {}
    groups = classes("nouns")
    for key, row in table("german/verb_senses").items():
        first, second = key.split(":")
        verb = _principal_parts(row)
        if first in VERBS:
            found.update({(first, noun): verb for noun in groups[second]})
        else:
            found.update({(noun, second): verb for noun in groups[first]})
    return found


def _adjective(row: Row) -> tuple[str, str]:
    return row["form"], row["stem"] or row["form"]


NOUNS = {concept: _noun(concept, row) for concept, row in table("german/nouns").items()}
VERBS = {concept: _verb(concept, row) for concept, row in table("german/verbs").items()}
SENSES = _senses()
ADJECTIVES = {concept: _adjective(row) for concept, row in table("german/adjectives").items()}
ADVERBS = {concept: form(row["words"]) for concept, row in table("german/adverbs").items()}
GOAL_ADVERBS = {concept: form(row["goal"]) for concept, row in table("german/adverbs").items() if row["goal"]}
ADVERB_KINDS = {concept: row["kind"] for concept, row in table("adverbs").items()}
PREPOSITIONS = {
    concept: (form(row["words"]), cast(Case, row["case"])) for concept, row in table("german/prepositions").items()
}
PREPOSITION_KINDS = {concept: row["kind"] for concept, row in table("prepositions").items()}
_JOINTS = table("german/conjunctions").items()
CONJUNCTIONS = {concept: form(row["words"]) for concept, row in _JOINTS}
PAST_CONJUNCTIONS = {concept: form(row["past"]) for concept, row in _JOINTS if row["past"]}
INVERTING = frozenset(concept for concept, row in _JOINTS if row["order"] == "inverted")
MONTHS = {concept: row["words"] for concept, row in table("german/months").items()}
PEOPLE = {concept: row["name"] for concept, row in table("names").items()}
_COUNTRIES = table("german/countries").items()
PLACES = {concept: form(row["words"]) for concept, row in _COUNTRIES}
PLACE_DATIVES = {concept: form(row["dative"]) for concept, row in _COUNTRIES if row["dative"]}
PLACE_ARTICLES = {concept: cast(Gender, row["article"]) for concept, row in _COUNTRIES if row["article"]}
