"""German declension: articles, pronouns, adjective endings and the cases of nouns.

Every paradigm is a table as grammar books print it: a row a case, a column a gender, `p` for the plural.
The functions below only look things up in these tables and apply the few spelling rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Case = Literal["nom", "acc", "dat", "gen"]
Gender = Literal["m", "f", "n", "p"]  # p: the plural, which knows no gender
Table = dict[tuple[str, str], str]


def _table(text: str) -> Table:
    """A paradigm from its printed form; `-` stands for no ending."""
    header, *rows = [line.split() for line in text.strip().splitlines()]
    return {
        (case, column): "" if form == "-" else form
        for case, *forms in rows
        for column, form in zip(header, forms, strict=True)
    }


DEFINITE = _table("""
         m    f    n    p
    nom  der  die  das  die
    acc  den  die  das  die
    dat  dem  der  dem  den
    gen  des  der  des  der
""")

RELATIVE = _table("""
         m      f      n      p
    nom  der    die    das    die
    acc  den    die    das    die
    dat  dem    der    dem    denen
    gen  dessen deren  dessen deren
""")

# Endings of dieser, jeder, welcher.
DIESER = _table("""
         m    f    n    p
    nom  er   e    es   e
    acc  en   e    es   e
    dat  em   er   em   en
    gen  es   er   es   er
""")

# Endings of ein, kein, mein.
EIN = _table("""
         m    f    n    p
    nom  -    e    -    e
    acc  en   e    -    e
    dat  em   er   em   en
    gen  es   er   es   er
""")

# Adjective endings after no article, after der and dieser, and after ein, kein and mein.
STRONG = _table("""
         m    f    n    p
    nom  er   e    es   e
    acc  en   e    es   e
    dat  em   er   em   en
    gen  en   er   en   er
""")

WEAK = _table("""
         m    f    n    p
    nom  e    e    e    en
    acc  en   e    e    en
    dat  en   en   en   en
    gen  en   en   en   en
""")

MIXED = _table("""
         m    f    n    p
    nom  er   e    es   en
    acc  en   e    es   en
    dat  en   en   en   en
    gen  en   en   en   en
""")

ENDINGS: dict[str, Table] = {"strong": STRONG, "weak": WEAK, "mixed": MIXED}

# Columns: the person; `they` is the plural sie.
PERSONAL = _table("""
         ich    du     er     sie    es     wir    ihr    they
    nom  ich    du     er     sie    es     wir    ihr    sie
    acc  mich   dich   ihn    sie    es     uns    euch   sie
    dat  mir    dir    ihm    ihr    ihm    uns    euch   ihnen
""")

REFLEXIVE = _table("""
         ich    du     er     sie    es     wir    ihr    they
    acc  mich   dich   sich   sich   sich   uns    euch   sich
""")

POSSESSIVE = {
    "ich": "mein",
    "du": "dein",
    "er": "sein",
    "sie": "ihr",
    "es": "sein",
    "wir": "unser",
    "ihr": "euer",
    "they": "ihr",
}


@dataclass(frozen=True)
class Noun:
    """What must be known of a noun to decline it; the empty string means that the rule gives the form."""

    singular: str
    gender: Gender
    plural: str
    genitive: str = ""  # where the rule for -s and -es would miss it
    oblique: str = ""  # weak masculines: every singular case but the nominative


def ein_word(stem: str, case: Case, gender: Gender) -> str:
    """A form of ein, kein or a possessive: `euer` loses its second e before an ending."""
    ending = EIN[case, gender]
    return "eur" + ending if stem == "euer" and ending else stem + ending


def dieser_word(stem: str, case: Case, gender: Gender) -> str:
    """A form of dies-, jed- or welch-."""
    return stem + DIESER[case, gender]


def adjective(stem: str, kind: str, case: Case, gender: Gender) -> str:
    """An adjective before its noun; `kind` is strong, weak or mixed."""
    ending = ENDINGS[kind][case, gender]
    return stem + ending.removeprefix("e") if stem.endswith("e") else stem + ending


def noun(entry: Noun, case: Case, *, plural: bool) -> str:
    """One form of a noun."""
    if plural:
        return _dative_plural(entry.plural) if case == "dat" else entry.plural
    if case == "gen" and entry.genitive:
        return entry.genitive
    if entry.oblique and case != "nom":
        return entry.oblique
    if case == "gen" and entry.gender in ("m", "n"):
        return _genitive(entry.singular)
    return entry.singular


def _dative_plural(plural: str) -> str:
    """den Häusern, but den Frauen and den Autos."""
    return plural if plural.endswith(("n", "s")) else plural + "n"


def _genitive(singular: str) -> str:
    """des Hauses after a hissing sound, des Mannes for one syllable, des Lehrers otherwise."""
    if singular.endswith("nis"):
        return singular + "ses"
    hissing = singular.endswith(("s", "ß", "x", "z", "sch", "st"))
    short = _syllables(singular) == 1 and (singular[-1] not in "aeiouäöühw" or singular.endswith("ch"))
    return singular + ("es" if hissing or short else "s")


def _syllables(word: str) -> int:
    """Groups of vowels, which is what German syllables are counted by."""
    marked = "".join("a" if letter in "aeiouyäöü" else " " for letter in word.lower())
    return len(marked.split())
