"""German conjugation: every form that the grammar uses, from a verb's principal parts.

A verb is named by its infinitive, with a bar after a prefix that separates: `an|rufen`. The other principal
parts are given only where the weak (regular) rule would miss them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

VOWELS = "aeiouäöüy"
INSEPARABLE = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer")
THIRD = ("er", "sie", "es")  # the persons that share the third person singular
PLURAL = ("wir", "they")  # the persons whose form is that of wir

IRREGULAR_PRESENT: dict[str, dict[str, str]] = {
    "sein": {"ich": "bin", "du": "bist", "er": "ist", "wir": "sind", "ihr": "seid"},
    "haben": {"ich": "habe", "du": "hast", "er": "hat", "wir": "haben", "ihr": "habt"},
    "werden": {"ich": "werde", "du": "wirst", "er": "wird", "wir": "werden", "ihr": "werdet"},
    "wissen": {"ich": "weiß", "du": "weißt", "er": "weiß", "wir": "wissen", "ihr": "wisst"},
    "wollen": {"ich": "will", "du": "willst", "er": "will", "wir": "wollen", "ihr": "wollt"},
    "können": {"ich": "kann", "du": "kannst", "er": "kann", "wir": "können", "ihr": "könnt"},
    "müssen": {"ich": "muss", "du": "musst", "er": "muss", "wir": "müssen", "ihr": "müsst"},
    "dürfen": {"ich": "darf", "du": "darfst", "er": "darf", "wir": "dürfen", "ihr": "dürft"},
    "sollen": {"ich": "soll", "du": "sollst", "er": "soll", "wir": "sollen", "ihr": "sollt"},
    "mögen": {"ich": "mag", "du": "magst", "er": "mag", "wir": "mögen", "ihr": "mögt"},
}


@dataclass(frozen=True)
class Verb:
    """The principal parts of a verb; an empty string means that the weak rule gives the form."""

    infinitive: str  # an|rufen: the bar follows a prefix that separates
    present: str = ""  # er ruft, without the prefix; needed where the vowel changes
    preterite: str = ""  # er rief, without the prefix
    participle: str = ""  # angerufen, whole
    auxiliary: str = "haben"

    @property
    def prefix(self) -> str:
        """The prefix that separates, or nothing."""
        return self.infinitive.split("|")[0] if "|" in self.infinitive else ""

    @property
    def base(self) -> str:
        """The infinitive without a separable prefix."""
        return self.infinitive.split("|")[-1]


SEIN = Verb("sein", preterite="war", participle="gewesen", auxiliary="sein")
HABEN = Verb("haben", preterite="hatte", participle="gehabt")
WERDEN = Verb("werden", preterite="wurde", participle="geworden", auxiliary="sein")


def infinitive(verb: Verb) -> str:
    """anrufen."""
    return verb.prefix + verb.base


def zu_infinitive(verb: Verb) -> tuple[str, ...]:
    """One word for a separable verb (anzurufen), two otherwise (zu essen)."""
    return (verb.prefix + "zu" + verb.base,) if verb.prefix else ("zu", verb.base)


@cache
def participle(verb: Verb) -> str:
    """angerufen, gekauft, besucht, telefoniert."""
    if verb.participle:
        return verb.participle
    bare = verb.base.startswith(INSEPARABLE) or verb.base.endswith("ieren")
    return verb.prefix + ("" if bare else "ge") + _with_e(_stem(verb.base)) + "t"


@cache
def present(verb: Verb, person: str) -> str:
    """The finite form without a separable prefix: ich rufe, du rufst."""
    person = _same_form(person)
    if verb.base in IRREGULAR_PRESENT:
        return IRREGULAR_PRESENT[verb.base][person]
    if person == "wir":
        return verb.base
    if person in ("du", "er") and verb.present:
        return verb.present if person == "er" else _second_from_third(verb)
    return _weak_present(verb.base, person)


@cache
def preterite(verb: Verb, person: str) -> str:
    """The finite form without a separable prefix: er rief, er kaufte, wir riefen."""
    person = _same_form(person)
    first = verb.preterite or _with_e(_stem(verb.base)) + "te"
    if person in ("ich", "er"):
        return first
    if person == "wir":
        return first + ("n" if first.endswith("e") else "en")
    if person == "ihr":
        return first + "t" if first.endswith("e") else _with_e(first) + "t"
    return first + ("est" if first.endswith(("s", "ß", "z", "t", "d")) else "st")


def _same_form(person: str) -> str:
    """The person whose form this one shares."""
    if person in THIRD:
        return "er"
    return "wir" if person in PLURAL else person


def _weak_present(base: str, person: str) -> str:
    stem = _stem(base)
    if person == "ich":
        return stem[:-2] + "le" if base.endswith("eln") else stem + "e"
    if person == "du":
        return stem + "t" if stem.endswith(("s", "ß", "z", "x")) else _with_e(stem) + "st"
    return _with_e(stem) + "t"


def _second_from_third(verb: Verb) -> str:
    """du nimmst from er nimmt, du liest from er liest, du hältst from er hält, du lädst from er lädt."""
    if verb.present.endswith(("st", "ßt", "zt")):
        return verb.present
    ends_in_t = _stem(verb.base).endswith("t")
    return verb.present + "st" if ends_in_t else verb.present[:-1] + "st"


def _stem(base: str) -> str:
    return base[:-2] if base.endswith("en") else base[:-1]


def _with_e(stem: str) -> str:
    """The stem as it stands before t or st: arbeit-e-t, öffn-e-t, zeichn-e-t, but lern-t and wohn-t."""
    if stem.endswith(("d", "t", "chn")):
        return stem + "e"
    hard = stem.endswith(("m", "n")) and stem[-2] not in VOWELS + "lrhmn"
    return stem + "e" if hard else stem
