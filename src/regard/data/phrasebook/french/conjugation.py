"""French verb forms: present, imperfect, future and past participle.

Regular verbs (-er, -ir like finir, -re like vendre) follow the rules here, with the spelling changes of
manger, commencer, acheter, appeler, préférer and nettoyer. The others are in `lexicon/french/irregular.tsv`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regard.data.phrasebook.lexicon import table

PRESENT = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
DOUBLING = ("appeler", "rejeter")


class Conjugation(NamedTuple):
    """The forms of one verb; each tense is a list of six: je, tu, il, nous, vous, ils."""

    infinitive: str
    present: tuple[str, ...]
    imperfect: tuple[str, ...]
    future: tuple[str, ...]
    participle: str


def conjugate(infinitive: str) -> Conjugation:
    """All forms of a verb."""
    row = table("french/irregular").get(infinitive)
    if row is not None:
        return Conjugation(
            infinitive,
            tuple(row["present"].split()),
            join(row["imperfect"], IMPERFECT),
            join(row["future"], FUTURE),
            row["participle"],
        )
    stem, group = infinitive[:-2], infinitive[-2:]
    if group == "er":
        return first_group(infinitive, stem)
    long_stem = stem + "iss" if group == "ir" else stem
    return Conjugation(
        infinitive,
        join(stem, PRESENT[group]),
        join(long_stem, IMPERFECT),
        join(infinitive.removesuffix("e"), FUTURE),
        stem + ("i" if group == "ir" else "u"),
    )


def first_group(infinitive: str, stem: str) -> Conjugation:
    """-er verbs. Before a silent e the stem may change: achète, appelle, préfère, nettoie."""
    silent = silent_stem(infinitive, stem)
    present = tuple(soften(silent if ending in ("e", "es", "ent") else stem, ending) for ending in PRESENT["er"])
    future_stem = stem if re.search("é[^é]+$", stem) else silent
    return Conjugation(
        infinitive,
        present,
        tuple(soften(stem, ending) for ending in IMPERFECT),
        join(future_stem + "er", FUTURE),
        stem + "é",
    )


def silent_stem(infinitive: str, stem: str) -> str:
    """The stem as it is written before a silent e."""
    if infinitive in DOUBLING:
        return stem + stem[-1]
    if stem.endswith("y"):
        return stem[:-1] + "i"
    return re.sub("[eé]([bcdfghjklmnpqrstvwxz])$", r"è\1", stem)


def soften(stem: str, ending: str) -> str:
    """Keeps the sound of g and c before a and o: mangeons, commençait."""
    if ending[0] in "ao":
        stem = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    return stem + ending


def join(stem: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    """One form an ending."""
    return tuple(stem + ending for ending in endings)
