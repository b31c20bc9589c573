"""French by hand-written cases: each meaning below is spoken in both languages and compared with `cases_fr.tsv`.

The table says what a careful speaker expects; the meanings say how each sentence is built.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from regard.data.phrasebook import english, french, pair
from regard.data.phrasebook.french.conjugation import conjugate
from regard.data.phrasebook.french.forms import Agreement, participle
from regard.data.phrasebook.french.sound import vowel_sound
from regard.data.phrasebook.lexicon import table
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Clause,
    Date,
    Joined,
    Name,
    Noun,
    Phrase,
    Pronoun,
    Relative,
    Sentence,
    Subordinate,
    This,
)

with (Path(__file__).parent / "cases_fr.tsv").open(encoding="utf-8", newline="") as file:
    CASES = {row["case"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


def S(*clauses, joints=(), ask=None):
    return Sentence(clauses, joints, ask)


def noun(concept, determiner="definite", plural=False, owner=None, words="", very=False):
    adjectives = tuple(Adjective(word, very) for word in words.split())
    return Noun(concept, plural, determiner, owner, 1, adjectives)


def the(concept, words=""):
    return noun(concept, words=words)


def all_the(concept, words=""):
    return noun(concept, plural=True, words=words)


def a(concept, words="", very=False):
    return noun(concept, "indefinite", words=words, very=very)


def bare(concept, plural=False, words=""):
    return noun(concept, "none", plural, words=words)


def this(concept, words="", plural=False):
    return noun(concept, "demonstrative", plural, words=words)


def mine(concept, owner=None, words="", plural=False):
    return noun(concept, "possessive", plural, owner or me(), words)


def me():
    return Pronoun(1)


def you():
    return Pronoun(2)


def he():
    return Pronoun(3)


def she():
    return Pronoun(3, gender="feminine")


def we():
    return Pronoun(1, True)


def they():
    return Pronoun(3, True)


def is_(subject, adjective, tense="present"):
    return Clause(subject, "be", tense, complement=Adjective(adjective))


def who(concept, role, clause, plural=False):
    return Noun(concept, plural, relative=Relative(role, clause))


def at(preposition, place):
    return (Phrase(preposition, Name(place) if place in table("countries") else the(place)),)


MEANINGS = {
    "garden": S(is_(the("garden", "small"), "beautiful")),
    "house": S(is_(the("house", "small"), "beautiful")),
    "gardens": S(is_(all_the("garden", "small"), "beautiful")),
    "houses": S(is_(all_the("house", "small"), "beautiful")),
    "newspapers": S(is_(all_the("newspaper"), "boring")),
    "horses": S(is_(all_the("horse"), "tired")),
    "mixed_pair": S(is_(Joined((Name("paul"), Name("marie"))), "happy")),
    "women": S(is_(Joined((Name("anna"), Name("marie"))), "happy")),
    "three_joined": S(Clause(Joined((the("baker"), the("butcher"), the("farmer"))), "work")),
    "man": S(Clause(the("man"), "sleep")),
    "school": S(is_(the("school"), "open")),
    "church_door": S(is_(Noun("door", of=the("church")), "closed")),
    "many_friends": S(Clause(noun("friend", "many", True), "arrive")),
    "think": S(Clause(me(), "think", content=Clause(he(), "work"))),
    "music": S(Clause(me(), "love", object=bare("music"))),
    "no_car": S(Clause(she(), "have", negative=True, object=a("car"))),
    "got_up": S(Clause(the("girl"), "get_up", "past")),
    "my_house": S(Clause(This(), "be", complement=mine("house"))),
    "my_books": S(Clause(This(True), "be", complement=mine("book", plural=True))),
    "loves_me": S(Clause(she(), "love", object=me())),
    "help_you": S(Clause(me(), "help", "future", object=you())),
    "if_he": S(Clause(me(), "work", adverbials=(Subordinate("if", Clause(he(), "work"), front=True),))),
    "castle_roof": S(is_(Noun("roof", of=the("castle")), "old")),
    "house_doors": S(is_(Noun("door", True, of=all_the("house")), "small")),
    "to_market": S(Clause(she(), "go", adverbials=at("to", "market"))),
    "tourists": S(Clause(he(), "show", object=the("map"), recipient=all_the("tourist"))),
    "see_it": S(Clause(me(), "try", infinitive=Clause(None, "see", object=Pronoun(3, stands_for="book")))),
    "near_lake": S(Clause(he(), "wait", adverbials=at("near", "lake"))),
    "hero": S(Clause(the("hero"), "sleep")),
    "hatred": S(Clause(he(), "describe", "past", object=bare("hatred"))),
    "owl": S(Clause(the("owl"), "sleep", negative=True)),
    "many_heroes": S(Clause(noun("hero", "many", True), "die", "past")),
    "tree": S(Clause(a("tree", "beautiful"), "grow")),
    "old_man": S(Clause(the("man", "old"), "sleep")),
    "computer": S(Clause(he(), "have", object=a("computer", "new"))),
    "this_man": S(Clause(this("man"), "work")),
    "this_hero": S(Clause(this("hero", "old"), "sleep")),
    "this_woman": S(Clause(this("woman"), "laugh")),
    "these_men": S(Clause(this("man", plural=True), "laugh")),
    "old_men": S(Clause(this("man", "old", True), "laugh")),
    "red_car": S(is_(the("car", "big red"), "expensive")),
    "fine_houses": S(Clause(they(), "have", object=bare("house", True, "beautiful"))),
    "red_cars": S(Clause(they(), "have", object=bare("car", True, "red"))),
    "old_coat": S(Clause(she(), "wear", object=a("coat", "old", very=True))),
    "white_dresses": S(is_(all_the("dress"), "white")),
    "not_sleep": S(Clause(the("baker"), "sleep", negative=True)),
    "no_meat": S(Clause(we(), "eat", negative=True, object=bare("meat"))),
    "not_signed": S(Clause(they(), "sign", "past", negative=True, object=the("treaty"))),
    "not_cheese": S(Clause(she(), "like", negative=True, object=bare("cheese"))),
    "any_apples": S(Clause(he(), "buy", "past", negative=True, object=noun("apple", "some", True))),
    "not_to_eat": S(Clause(he(), "promise", "past", infinitive=Clause(None, "eat", negative=True))),
    "cannot": S(Clause(me(), "can", negative=True, infinitive=Clause(None, "sleep"))),
    "read_book": S(Clause(the("student"), "read", "past", object=the("book"))),
    "queen": S(Clause(the("queen"), "arrive", "past")),
    "girls_out": S(Clause(all_the("girl"), "go_out", "past")),
    "examined": S(Clause(the("doctor"), "examine", "perfect", object=all_the("patient"))),
    "letters": S(is_(who("letter", "object", Clause(he(), "write", "past"), True), "long")),
    "saw_her": S(Clause(he(), "see", "past", object=she())),
    "cherries": S(Clause(all_the("child"), "eat", "imperfect", object=bare("cherry", True))),
    "loved_to_eat": S(Clause(he(), "love", "imperfect", infinitive=Clause(None, "eat"))),
    "decision": S(Clause(the("minister"), "announce", "future", object=mine("decision", he()))),
    "send": S(Clause(me(), "send", "future", object=the("letter"))),
    "buying": S(Clause(she(), "buy", "progressive", object=bare("bread"))),
    "begin": S(Clause(we(), "begin", infinitive=Clause(None, "work"))),
    "prefer": S(Clause(they(), "prefer", object=bare("tea"))),
    "get_up": S(Clause(me(), "get_up")),
    "area": S(
        Clause(
            Noun("agreement", phrase=Phrase("about", the("european_economic_area"))),
            "sign",
            "past",
            passive=True,
            adverbials=(Date(month="august", year=1992),),
        )
    ),
    "by_sister": S(Clause(the("letter"), "write", "past", passive=True, agent=mine("sister"))),
    "apples_sold": S(Clause(bare("apple", True), "sell", passive=True, adverbials=at("at", "market"))),
    "bridges": S(Clause(all_the("bridge"), "build", "future", passive=True, adverbials=(Date(year=2030),))),
    "not_changed": S(Clause(the("law"), "change", "perfect", True, True)),
    "coffee": S(Clause(she(), "drink", object=bare("coffee"))),
    "soup": S(Clause(me(), "eat", object=bare("soup"))),
    "water": S(Clause(the("horse"), "drink", object=noun("water", "some"))),
    "flowers": S(Clause(he(), "sell", object=noun("flower", "some", True))),
    "neighbour": S(
        Clause(who("man", "subject", Clause(None, "sell", object=bare("bread"))), "be", complement=mine("neighbour"))
    ),
    "film": S(is_(who("film", "object", Clause(we(), "watch", "past")), "boring", "imperfect")),
    "village": S(is_(who("village", "place", Clause(she(), "live")), "quiet")),
    "whose_father": S(Clause(who("boy", "whose", Clause(the("father"), "work")), "eat", object=bare("bread"))),
    "obey": S(is_(who("teacher", "object", Clause(all_the("pupil"), "obey")), "patient")),
    "soup_and_wine": S(
        Clause(the("cook"), "prepare", object=the("soup")),
        Clause(the("waiter"), "bring", object=the("wine")),
        joints=("and",),
    ),
    "poor_happy": S(is_(he(), "poor"), is_(he(), "happy"), joints=("but",)),
    "dog_or_cat": S(Clause(she(), "want", infinitive=Clause(None, "buy", object=Joined((a("dog"), a("cat")), "or")))),
    "to_both": S(Clause(she(), "give", "past", object=the("key"), recipient=Joined((Name("anna"), Name("paul"))))),
    "obey_both": S(Clause(they(), "obey", object=Joined((the("teacher"), the("doctor"))))),
    "tired_child": S(Clause(the("child"), "cry", adverbials=(Subordinate("because", is_(he(), "tired")),))),
    "when_train": S(
        Clause(
            we(),
            "sleep",
            "imperfect",
            adverbials=(Subordinate("when", Clause(the("train"), "arrive", "past"), front=True),),
        )
    ),
    "cold_soup": S(Clause(she(), "say", "past", content=is_(the("soup"), "cold", "imperfect"))),
    "you_like": S(Clause(you(), "like", object=bare("coffee")), ask="yes"),
    "in_paris": S(Clause(she(), "work", adverbials=at("in", "paris")), ask="yes"),
    "where_live": S(Clause(he(), "live"), ask="where"),
    "flour": S(Clause(the("baker"), "buy", "past", object=the("flour")), ask="where"),
    "when_signed": S(Clause(the("agreement"), "sign", "past", passive=True), ask="when"),
    "why_not": S(Clause(they(), "sell", negative=True, object=the("house")), ask="why"),
    "what_see": S(Clause(you(), "see"), ask="what"),
    "who_broke": S(Clause(None, "break", "past", object=the("window")), ask="who"),
    "why_work": S(Clause(me(), "work"), ask="why"),
    "how_cross": S(Clause(they(), "cross", "past", object=the("river")), ask="how"),
    "three_soldiers": S(Clause(Noun("soldier", True, "numeral", count=3), "protect", object=the("bridge"))),
    "eighty_coins": S(Clause(she(), "count", object=Noun("coin", True, "numeral", count=80))),
    "books": S(Clause(he(), "buy", "past", object=Noun("book", True, "numeral", count=25))),
    "eight_sheep": S(Clause(he(), "have", object=Noun("sheep", True, "numeral", count=8))),
    "third_may": S(Clause(the("treaty"), "sign", "past", passive=True, adverbials=(Date(3, "may", 1992),))),
    "first_may": S(Clause(all_the("worker"), "rest", adverbials=(Date(1, "may", front=True),))),
    "monday": S(Clause(he(), "arrive", "future", adverbials=(Date(weekday="monday"),))),
    "in_1990": S(Clause(the("conference"), "begin_i", "past", adverbials=(Date(year=1990),))),
    "france": S(Clause(mine("brother"), "live", adverbials=at("in", "france"))),
    "japan": S(Clause(they(), "go", "future", adverbials=at("to", "japan"))),
    "states": S(Clause(she(), "work", adverbials=at("in", "united_states"))),
    "cuba": S(Clause(all_the("sailor"), "go", "past", adverbials=at("to", "cuba"))),
    "iran": S(Clause(he(), "work", adverbials=at("in", "iran"))),
    "portugal": S(Clause(she(), "come", adverbials=at("from", "portugal"))),
    "italy": S(Clause(me(), "come", adverbials=at("from", "italy"))),
    "netherlands": S(Clause(they(), "come", adverbials=at("from", "netherlands"))),
    "near_hungary": S(Clause(he(), "live", adverbials=at("near", "hungary"))),
    "my_friend": S(is_(mine("friend_f"), "kind")),
    "your_school": S(is_(mine("school", you(), "old"), "empty")),
    "their_sons": S(Clause(mine("son", they(), plural=True), "travel", adverbials=(Phrase("with", they()),))),
    "anna": S(Clause(Noun("brother", of=Name("anna")), "be", complement=a("doctor"))),
    "baker_house": S(is_(Noun("house", of=the("baker")), "old")),
    "sees_her": S(Clause(he(), "see", object=she())),
    "give_it": S(Clause(me(), "give", object=Pronoun(3, stands_for="key"), recipient=she())),
    "book_to_me": S(Clause(she(), "give", object=the("book"), recipient=me())),
    "answered": S(Clause(we(), "answer", "past", object=they())),
    "invite": S(Clause(me(), "want", infinitive=Clause(None, "invite", object=he()))),
    "juice": S(Clause(he(), "drink", object=bare("apple_juice"))),
    "machine": S(is_(the("washing_machine"), "broken")),
    "living_room": S(is_(the("living_room"), "dark")),
    "often": S(Clause(she(), "read", object=the("newspaper"), adverbials=(Adverb("often"),))),
    "always": S(Clause(he(), "drink", "past", object=bare("tea"), adverbials=(Adverb("always"),))),
    "yesterday": S(
        Clause(the("mayor"), "open", "past", object=the("museum"), adverbials=(Adverb("yesterday", front=True),))
    ),
    "must": S(Clause(you(), "must", infinitive=Clause(None, "read", object=this("letter")))),
    "without": S(Clause(he(), "drink", object=bare("tea"), adverbials=(Phrase("without", bare("sugar")),))),
    "slowly": S(Clause(he(), "read", object=the("letter"), adverbials=(Adverb("slowly"),))),
    "carefully": S(Clause(she(), "wash", "past", object=all_the("plate"), adverbials=(Adverb("carefully"),))),
    "soon": S(Clause(she(), "prepare", "future", object=the("dinner"), adverbials=(Adverb("soon"),))),
    "in_israel": S(Clause(she(), "work", adverbials=at("in", "israel"))),
    "from_israel": S(Clause(he(), "come", adverbials=at("from", "israel"))),
    "near_israel": S(Clause(he(), "live", adverbials=at("near", "israel"))),
    "diary": S(Clause(he(), "hide", "past", object=mine("diary", she()))),
    "machine_works": S(Clause(the("washing_machine"), "work_f")),
    "onions": S(Clause(she(), "hate", object=bare("onion", True))),
    "so_slept": S(is_(Name("anna"), "tired", "imperfect"), Clause(she(), "sleep", "past"), joints=("so",)),
    "was_helped": S(
        Clause(
            she(),
            "be",
            complement=Adjective("happy"),
            adverbials=(Subordinate("because", Clause(Name("paul"), "help", "past", object=she())),),
        )
    ),
    "to_meet": S(
        Clause(
            he(),
            "go",
            "past",
            adverbials=(
                *at("to", "paris"),
                Subordinate(
                    "because", Clause(he(), "want", "imperfect", infinitive=Clause(None, "meet", object=Name("nina")))
                ),
            ),
        )
    ),
    "dirty_shirt": S(
        Clause(
            the("man"),
            "wash",
            object=this("shirt"),
            adverbials=(Subordinate("since", is_(Pronoun(3, stands_for="shirt"), "dirty")),),
        )
    ),
    "professions": S(Clause(mine("aunt", plural=True), "become", "past", complement=Adjective("rich"))),
}
CONTENT = ("noun", "verb", "adjective", "adverb", "month", "year", "day", "asked")


def test_every_case_has_a_meaning_and_the_other_way_round():
    assert set(CASES) == set(MEANINGS)
    assert len(CASES) >= 90


@pytest.mark.parametrize("case", CASES)
def test_spoken_as_expected(case):
    made = pair(MEANINGS[case], "fr")
    assert (made.source, made.target) == (CASES[case]["english"], CASES[case]["french"])


@pytest.mark.parametrize("case", [case for case, row in CASES.items() if row["links"]])
def test_linked_as_expected(case):
    assert pair(MEANINGS[case], "fr").gold() == CASES[case]["links"]


@pytest.mark.parametrize("case", CASES)
def test_links_follow_the_rules(case):
    sentence = MEANINGS[case]
    made = pair(sentence, "fr")
    source, target = english.realise(sentence), french.realise(sentence)
    linked = set(made.sure) | set(made.possible)
    assert not set(made.sure) & set(made.possible)
    assert {at for at, _ in linked} == set(range(len(source)))
    assert {to for _, to in linked} == set(range(len(target)))
    for at_, word in enumerate(source):
        for tag in word.sure:
            if tag[1] in CONTENT:
                partners = [to for to, other in enumerate(target) if tag in other.sure]
                assert partners, f"nobody says {tag[1]} of '{word.text}'"
                assert all((at_, to) in made.sure for to in partners)


@pytest.mark.parametrize(
    ("infinitive", "present", "imperfect", "future", "participle"),
    [
        ("manger", "nous mangeons", "il mangeait", "je mangerai", "mangé"),
        ("commencer", "nous commençons", "il commençait", "je commencerai", "commencé"),
        ("acheter", "il achète", "il achetait", "il achètera", "acheté"),
        ("appeler", "ils appellent", "nous appelions", "il appellera", "appelé"),
        ("préférer", "tu préfères", "vous préfériez", "il préférera", "préféré"),
        ("nettoyer", "il nettoie", "il nettoyait", "ils nettoieront", "nettoyé"),
        ("cacher", "je cache", "il cachait", "il cachera", "caché"),
        ("finir", "ils finissent", "il finissait", "nous finirons", "fini"),
        ("vendre", "il vend", "ils vendaient", "il vendra", "vendu"),
        ("être", "vous êtes", "nous étions", "il sera", "été"),
        ("aller", "ils vont", "tu allais", "elle ira", "allé"),
    ],
)
def test_conjugation(infinitive, present, imperfect, future, participle):
    order = {"je": 0, "tu": 1, "il": 2, "elle": 2, "nous": 3, "vous": 4, "ils": 5}
    forms = conjugate(infinitive)
    for series, expected in ((forms.present, present), (forms.imperfect, imperfect), (forms.future, future)):
        pronoun, form = expected.split()
        assert series[order[pronoun]] == form
    assert forms.participle == participle


@pytest.mark.parametrize(
    ("text", "feminine", "plural", "expected"),
    [
        ("vendu", True, True, "vendues"),
        ("pris", False, True, "pris"),
        ("pris", True, False, "prise"),
        ("goûté", True, False, "goûtée"),
        ("dû", True, False, "due"),
        ("dû", False, False, "dû"),
    ],
)
def test_participles_agree(text, feminine, plural, expected):
    assert participle(text, Agreement(3, plural, feminine)) == expected


def test_every_irregular_verb_has_six_persons():
    for infinitive, row in table("french/irregular").items():
        assert len(row["present"].split()) == 6, infinitive


@pytest.mark.parametrize(
    ("word", "vowel"),
    [
        ("eau", True),
        ("homme", True),
        ("États-Unis", True),
        ("œuf", True),
        ("héros", False),
        ("haine", False),
        ("huit", False),
        ("1er", False),
        ("yaourt", False),
        ("Hongrie", False),
        ("Henri", True),
    ],
)
def test_what_counts_as_a_vowel(word, vowel):
    assert vowel_sound(word) is vowel


def test_plain_text():
    lecture = pair(MEANINGS["area"], "fr")
    assert french.plain(lecture.target.removesuffix(" .")) == (
        "l'accord sur la zone économique européenne a été signé en août 1992"
    )
    assert english.plain(lecture.source.removesuffix(" .")) == (
        "the agreement on the European Economic Area was signed in August 1992"
    )
    assert french.plain("qu' est-ce que tu vois ?") == "qu'est-ce que tu vois ?"
