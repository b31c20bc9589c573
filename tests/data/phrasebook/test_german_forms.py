"""German forms against tables written by hand: declension, conjugation, numbers."""

import pytest

from regard.data.phrasebook.german import conjugation, declension
from regard.data.phrasebook.german.conjugation import HABEN, SEIN, WERDEN, Verb
from regard.data.phrasebook.german.declension import Noun
from regard.data.phrasebook.german.numbers import number

NOUNS = [
    (Noun("Mann", "m", "Männer"), "Mann Mann Mann Mannes", "Männer Männer Männern Männer"),
    (Noun("Frau", "f", "Frauen"), "Frau Frau Frau Frau", "Frauen Frauen Frauen Frauen"),
    (Noun("Haus", "n", "Häuser"), "Haus Haus Haus Hauses", "Häuser Häuser Häusern Häuser"),
    (Noun("Lehrer", "m", "Lehrer"), "Lehrer Lehrer Lehrer Lehrers", "Lehrer Lehrer Lehrern Lehrer"),
    (Noun("Auto", "n", "Autos"), "Auto Auto Auto Autos", "Autos Autos Autos Autos"),
    (Noun("Dach", "n", "Dächer"), "Dach Dach Dach Daches", "Dächer Dächer Dächern Dächer"),
    (Noun("Schuh", "m", "Schuhe"), "Schuh Schuh Schuh Schuhs", "Schuhe Schuhe Schuhen Schuhe"),
    (
        Noun("Student", "m", "Studenten", oblique="Studenten"),
        "Student Studenten Studenten Studenten",
        "Studenten Studenten Studenten Studenten",
    ),
    (
        Noun("Herz", "n", "Herzen", genitive="Herzens"),
        "Herz Herz Herz Herzens",
        "Herzen Herzen Herzen Herzen",
    ),
    (
        Noun("Zeugnis", "n", "Zeugnisse"),
        "Zeugnis Zeugnis Zeugnis Zeugnisses",
        "Zeugnisse Zeugnisse Zeugnissen Zeugnisse",
    ),
]


@pytest.mark.parametrize(("entry", "singular", "plural"), NOUNS)
def test_nouns_take_their_four_cases(entry, singular, plural):
    cases = ("nom", "acc", "dat", "gen")
    assert " ".join(declension.noun(entry, case, plural=False) for case in cases) == singular
    assert " ".join(declension.noun(entry, case, plural=True) for case in cases) == plural


# Determiner, kind of adjective ending, case, gender, the whole written out.
PHRASES = [
    ("der", "weak", "nom", "m", "der alte"),
    ("der", "weak", "acc", "m", "den alten"),
    ("der", "weak", "dat", "f", "der alten"),
    ("der", "weak", "gen", "n", "des alten"),
    ("der", "weak", "nom", "p", "die alten"),
    ("der", "weak", "dat", "p", "den alten"),
    ("ein", "mixed", "nom", "m", "ein alter"),
    ("ein", "mixed", "acc", "m", "einen alten"),
    ("ein", "mixed", "nom", "n", "ein altes"),
    ("ein", "mixed", "nom", "f", "eine alte"),
    ("ein", "mixed", "dat", "n", "einem alten"),
    ("ein", "mixed", "gen", "f", "einer alten"),
    ("euer", "mixed", "nom", "n", "euer altes"),
    ("euer", "mixed", "acc", "m", "euren alten"),
    ("unser", "mixed", "dat", "p", "unseren alten"),
    ("dies", "weak", "nom", "n", "dieses alte"),
    ("dies", "weak", "gen", "m", "dieses alten"),
    ("", "strong", "nom", "p", " alte"),
    ("", "strong", "gen", "p", " alter"),
    ("", "strong", "acc", "n", " altes"),
    ("", "strong", "dat", "m", " altem"),
    ("", "strong", "gen", "m", " alten"),
]


@pytest.mark.parametrize(("stem", "kind", "case", "gender", "expected"), PHRASES)
def test_determiners_and_adjectives_agree(stem, kind, case, gender, expected):
    if stem == "der":
        word = declension.DEFINITE[case, gender]
    elif stem == "dies":
        word = declension.dieser_word(stem, case, gender)
    else:
        word = declension.ein_word(stem, case, gender) if stem else ""
    assert f"{word} {declension.adjective('alt', kind, case, gender)}" == expected


def test_an_adjective_in_e_does_not_double_it():
    assert declension.adjective("müde", "mixed", "nom", "m") == "müder"
    assert declension.adjective("müde", "weak", "nom", "m") == "müde"


PERSONS = ("ich", "du", "er", "wir", "ihr", "they")
VERBS = [
    (Verb("kaufen"), "kaufe kaufst kauft kaufen kauft kaufen", "kaufte", "gekauft"),
    (Verb("arbeiten"), "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten", "arbeitete", "gearbeitet"),
    (Verb("öffnen"), "öffne öffnest öffnet öffnen öffnet öffnen", "öffnete", "geöffnet"),
    (Verb("zeichnen"), "zeichne zeichnest zeichnet zeichnen zeichnet zeichnen", "zeichnete", "gezeichnet"),
    (Verb("lernen"), "lerne lernst lernt lernen lernt lernen", "lernte", "gelernt"),
    (Verb("wohnen"), "wohne wohnst wohnt wohnen wohnt wohnen", "wohnte", "gewohnt"),
    (Verb("tanzen"), "tanze tanzt tanzt tanzen tanzt tanzen", "tanzte", "getanzt"),
    (Verb("sammeln"), "sammle sammelst sammelt sammeln sammelt sammeln", "sammelte", "gesammelt"),
    (Verb("wandern"), "wandere wanderst wandert wandern wandert wandern", "wanderte", "gewandert"),
    (Verb("besuchen"), "besuche besuchst besucht besuchen besucht besuchen", "besuchte", "besucht"),
    (Verb("reparieren"), "repariere reparierst repariert reparieren repariert reparieren", "reparierte", "repariert"),
    (Verb("lesen", "liest", "las", "gelesen"), "lese liest liest lesen lest lesen", "las", "gelesen"),
    (Verb("halten", "hält", "hielt", "gehalten"), "halte hältst hält halten haltet halten", "hielt", "gehalten"),
    (Verb("ein|laden", "lädt", "lud", "eingeladen"), "lade lädst lädt laden ladet laden", "lud", "eingeladen"),
    (Verb("nehmen", "nimmt", "nahm", "genommen"), "nehme nimmst nimmt nehmen nehmt nehmen", "nahm", "genommen"),
    (Verb("auf|machen"), "mache machst macht machen macht machen", "machte", "aufgemacht"),
    (SEIN, "bin bist ist sind seid sind", "war", "gewesen"),
    (HABEN, "habe hast hat haben habt haben", "hatte", "gehabt"),
    (WERDEN, "werde wirst wird werden werdet werden", "wurde", "geworden"),
]


@pytest.mark.parametrize(("verb", "present", "preterite", "participle"), VERBS)
def test_verbs_conjugate(verb, present, preterite, participle):
    assert " ".join(conjugation.present(verb, person) for person in PERSONS) == present
    assert conjugation.preterite(verb, "er") == preterite
    assert conjugation.participle(verb) == participle


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        (Verb("rufen", "", "rief"), "rief riefst rief riefen rieft riefen"),
        (Verb("finden", "", "fand"), "fand fandest fand fanden fandet fanden"),
        (Verb("bringen", "", "brachte"), "brachte brachtest brachte brachten brachtet brachten"),
        (Verb("kaufen"), "kaufte kauftest kaufte kauften kauftet kauften"),
    ],
)
def test_preterite_persons(verb, expected):
    assert " ".join(conjugation.preterite(verb, person) for person in PERSONS) == expected


def test_zu_stands_inside_a_separable_verb():
    assert conjugation.zu_infinitive(Verb("an|rufen")) == ("anzurufen",)
    assert conjugation.zu_infinitive(Verb("essen")) == ("zu", "essen")


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (2, "zwei"),
        (12, "zwölf"),
        (16, "sechzehn"),
        (17, "siebzehn"),
        (20, "zwanzig"),
        (21, "21"),
        (30, "dreißig"),
        (1992, "1992"),
    ],
)
def test_numbers(value, word):
    assert number(value) == word
