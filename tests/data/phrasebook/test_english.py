"""English inflection and word order, by hand-written cases."""

from __future__ import annotations

import pytest

from regard.data.phrasebook import english
from regard.data.phrasebook.english import forms
from regard.data.phrasebook.meaning import (
    Adjective,
    Adverb,
    Clause,
    Joined,
    Name,
    Noun,
    Phrase,
    Pronoun,
    Relative,
    Sentence,
    Subordinate,
)


def spoken(*clauses, question=None):
    joints = ("and",) * (len(clauses) - 1)
    return " ".join(word.text for word in english.realise(Sentence(clauses, joints, question)))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("boy", "boys"),
        ("city", "cities"),
        ("box", "boxes"),
        ("church", "churches"),
        ("glass", "glasses"),
    ],
)
def test_regular_plural(word, expected):
    assert forms.plural(word) == expected


@pytest.mark.parametrize(
    ("concept", "expected"),
    [
        ("man", "men"),
        ("child", "children"),
        ("sheep", "sheep"),
        ("knife", "knives"),
        ("potato", "potatoes"),
        ("washing_machine", "washing machines"),
        ("front_door", "front doors"),
    ],
)
def test_plural_from_the_lexicon(concept, expected):
    assert " ".join(text for text, _ in forms.NOUNS[concept][1]) == expected


@pytest.mark.parametrize(
    ("base", "third", "past", "ing"),
    [
        ("carry", "carries", "carried", "carrying"),
        ("watch", "watches", "watched", "watching"),
        ("love", "loves", "loved", "loving"),
        ("stop", "stops", "stopped", "stopping"),
        ("die", "dies", "died", "dying"),
        ("visit", "visits", "visited", "visiting"),
        ("prefer", "prefers", "preferred", "preferring"),
        ("travel", "travels", "travelled", "travelling"),
        ("play", "plays", "played", "playing"),
        ("agree", "agrees", "agreed", "agreeing"),
    ],
)
def test_regular_verb_forms(base, third, past, ing):
    assert (forms.third_person(base), forms.past(base), forms.ing(base)) == (third, past, ing)


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        ("apple", "an"),
        ("house", "a"),
        ("honest", "an"),
        ("university", "a"),
        ("European", "a"),
        ("useful", "a"),
        ("honey", "a"),
        ("old", "an"),
        ("umbrella", "an"),
    ],
)
def test_article(following, expected):
    assert forms.article(following) == expected


@pytest.mark.parametrize(
    ("tense", "negative", "passive", "expected"),
    [
        ("present", False, False, "she writes ."),
        ("present", True, False, "she does not write ."),
        ("progressive", False, False, "she is writing ."),
        ("past", False, False, "she wrote ."),
        ("past", True, False, "she did not write ."),
        ("perfect", False, False, "she has written ."),
        ("imperfect", False, False, "she was writing ."),
        ("future", True, False, "she will not write ."),
        ("present", False, True, "she is written ."),
        ("past", True, True, "she was not written ."),
        ("perfect", False, True, "she has been written ."),
        ("future", False, True, "she will be written ."),
        ("progressive", False, True, "she is being written ."),
        ("imperfect", False, True, "she was being written ."),
    ],
)
def test_tenses(tense, negative, passive, expected):
    assert spoken(Clause(Pronoun(3, gender="feminine"), "write", tense, negative, passive)) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (Pronoun(1), "I am tired ."),
        (Pronoun(2), "you are tired ."),
        (Pronoun(1, True), "we are tired ."),
        (Noun("dog"), "the dog is tired ."),
        (Noun("dog", True), "the dogs are tired ."),
        (Joined((Name("anna"), Pronoun(1))), "Anna and I are tired ."),
        (Joined((Noun("dog", True), Noun("cat")), "or"), "the dogs or the cat is tired ."),
    ],
)
def test_agreement_with_the_subject(subject, expected):
    assert spoken(Clause(subject, "be", complement=Adjective("tired"))) == expected


@pytest.mark.parametrize(("stands_for", "expected"), [("nurse", "she"), ("king", "he"), ("house", "it")])
def test_a_pronoun_takes_the_sex_of_what_it_stands_for(stands_for, expected):
    pronoun = Pronoun(3, stands_for=stands_for)
    assert spoken(Clause(pronoun, "disappear")) == f"{expected} disappears ."


def test_adverbs_of_frequency_stand_before_the_verb_but_after_be():
    he = Pronoun(3)
    assert spoken(Clause(he, "work", adverbials=(Adverb("often"),))) == "he often works ."
    assert spoken(Clause(he, "work", "perfect", adverbials=(Adverb("often"),))) == "he has often worked ."
    assert spoken(Clause(he, "work", negative=True, adverbials=(Adverb("often"),))) == "he does not often work ."
    tired = Clause(he, "be", complement=Adjective("tired"), adverbials=(Adverb("often"),))
    assert spoken(tired) == "he is often tired ."


def test_people_own_by_genitive_and_things_by_of():
    def door(owner):
        return spoken(Clause(Noun("door", of=owner), "disappear"))

    assert door(Noun("king")) == "the king's door disappears ."
    assert door(Noun("king", True)) == "the kings' door disappears ."
    assert door(Noun("child", True)) == "the children's door disappears ."
    assert door(Name("thomas")) == "Thomas's door disappears ."
    assert door(Noun("house")) == "the door of the house disappears ."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("yes", "did the baker buy bread ?"),
        ("where", "where did the baker buy bread ?"),
    ],
)
def test_questions(question, expected):
    clause = Clause(Noun("baker"), "buy", "past", object=Noun("bread", determiner="none"))
    assert spoken(clause, question=question) == expected


def test_questions_with_be_and_about_the_subject():
    assert spoken(Clause(Pronoun(2), "be", complement=Adjective("ill")), question="yes") == "are you ill ?"
    assert spoken(Clause(None, "buy", "past", object=Noun("horse")), question="who") == "who bought the horse ?"
    assert spoken(Clause(Pronoun(2), "look_for"), question="what") == "what do you look for ?"


@pytest.mark.parametrize(
    ("concept", "role", "clause", "expected"),
    [
        ("man", "subject", Clause(None, "work"), "the man who works sleeps ."),
        ("dog", "subject", Clause(None, "bark"), "the dog that barks sleeps ."),
        ("man", "object", Clause(Pronoun(1), "know_p"), "the man whom I know sleeps ."),
        ("man", "whose", Clause(Noun("sister"), "work"), "the man whose sister works sleeps ."),
    ],
)
def test_relative_clauses(concept, role, clause, expected):
    assert spoken(Clause(Noun(concept, relative=Relative(role, clause)), "sleep")) == expected


def test_order_of_a_long_clause():
    clause = Clause(
        Noun("farmer", adjectives=(Adjective("old"),)),
        "give",
        "past",
        object=Noun("apple", True, "some"),
        recipient=Pronoun(3, gender="feminine"),
        adverbials=(
            Adverb("yesterday", front=True),
            Phrase("in", Noun("kitchen")),
            Subordinate("because", Clause(Pronoun(3), "love", "imperfect", object=Pronoun(3))),
        ),
    )
    assert spoken(clause, Clause(Pronoun(3), "leave_t", "past", object=Noun("house"))) == (
        "yesterday , the old farmer gave some apples to her in the kitchen because he loved him and he left the house ."
    )


def test_plain_text():
    assert english.plain("yesterday , he came .") == "yesterday, he came."
    assert english.plain("where is he ?") == "where is he?"
