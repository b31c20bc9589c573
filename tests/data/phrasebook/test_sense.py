"""What the generator may say: clauses that belong together, people who are told apart, cows that eat no ham."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from random import Random

import pytest

from regard.data.phrasebook.background import names_in
from regard.data.phrasebook.circumstances import groups_said
from regard.data.phrasebook.fitting import suits
from regard.data.phrasebook.generate import Author
from regard.data.phrasebook.lexicon import table
from regard.data.phrasebook.meaning import Adjective, Adverb, Clause, Date, Name, Noun, Pronoun, Sentence, Subordinate
from regard.data.phrasebook.vocabulary import GROUP, KINDS, PREDICATES, VERBS


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    author = Author(Random("sense"))
    return [author.sentence(3 + place % 40) for place in range(900)]


def nodes(tree: object) -> Iterator[object]:
    """The tree and all that is in it."""
    if isinstance(tree, tuple):
        for item in tree:
            yield from nodes(item)
    elif is_dataclass(tree):
        yield tree
        for field in fields(tree):
            yield from nodes(getattr(tree, field.name))


def clauses(sentences: list[Sentence]) -> Iterator[Clause]:
    return (node for sentence in sentences for node in nodes(sentence) if isinstance(node, Clause))


def beside(sentences: list[Sentence]) -> Iterator[tuple[Clause, Subordinate]]:
    """Every main clause with the clause beside it."""
    for clause in clauses(sentences):
        for item in clause.adverbials:
            if isinstance(item, Subordinate):
                yield clause, item


def test_whom_it_is_typical_of_can_do_it():
    for verb in VERBS.values():
        assert set(verb.typical) <= verb.subjects, verb.concept


def test_reasons_are_made_of_known_words_that_fit_somebody_or_something():
    for row in table("reasons").values():
        for word in row["verbs"].split():
            verb = VERBS[word]
            able = verb.objects if row["about"] == "object" else verb.subject_list
            if row["about"] == "event":
                able = verb.objects
            assert any(row["adjective"] in PREDICATES[noun] for noun in able), (row["concept"], word)


def test_whatever_is_described_has_an_adjective():
    for noun, kinds in KINDS.items():
        if not kinds & {"rare", "bare", "unique", "span", "topic"}:
            assert PREDICATES[noun], noun


def test_a_reason_or_condition_is_about_somebody_or_something_in_the_main_clause(sentences):
    found = [aside.clause for _, aside in beside(sentences) if aside.conjunction in ("because", "since", "if")]
    assert len(found) > 50
    for clause in found:
        assert isinstance(clause.subject, Pronoun) or isinstance(clause.object, Pronoun), clause


def test_two_people_of_one_sentence_do_not_share_a_name(sentences):
    found = list(beside(sentences))
    assert len(found) > 100
    for main, aside in found:
        if isinstance(aside.clause.subject, Name | Noun):
            own = Clause(main.subject, main.verb, object=main.object, recipient=main.recipient)
            assert aside.clause.subject.concept not in names_in(own)


def test_nobody_acts_while_nothing_happens(sentences):
    conjunctions = {aside.conjunction: main for main, aside in beside(sentences)}
    assert {"because", "since", "if", "when", "while"} == set(conjunctions)
    for main, aside in beside(sentences):
        assert not (aside.conjunction == "while" and VERBS[main.verb].stative)
        assert not any(isinstance(item, Adverb) and item.concept == "rarely" for item in main.adverbials)


def test_only_what_people_remember_has_a_year(sentences):
    dated = {
        clause.verb
        for clause in clauses(sentences)
        for item in clause.adverbials
        if isinstance(item, Date) and item.year
    }
    assert dated
    assert all(VERBS[verb].dated for verb in dated)


@pytest.mark.parametrize(
    ("food", "eater", "expected"),
    [
        ("ham", "cow", False),
        ("apple", "horse", True),
        ("wine", "child", False),
        ("wine", "baker", True),
        ("milk", "child", True),
        ("baker", "baker", False),
    ],
)
def test_who_may_have_what(food, eater, expected):
    assert suits(food, Noun(eater)) is expected
    assert suits(food, Pronoun(3, stands_for=eater)) is expected


def test_what_comes_into_being_is_not_old(sentences):
    made = [clause.object for clause in clauses(sentences) if clause.verb in ("build", "sew", "write", "plant")]
    assert len(made) > 10
    for noun in made:
        words = {word.concept for word in noun.adjectives} if isinstance(noun, Noun) else set()
        assert not words & {"old", "ancient", "broken"}


def test_but_sets_somebody_else_or_a_denial_against_the_first(sentences):
    found = [
        (one, other)
        for sentence in sentences
        for joint, one, other in zip(sentence.conjunctions, sentence.clauses, sentence.clauses[1:], strict=False)
        if joint == "but"
    ]
    assert len(found) > 20
    for one, other in found:
        assert not isinstance(other.subject, Pronoun) or one.negative != other.negative


def test_nothing_is_said_to_be_two_of_a_group(sentences):
    found = [
        clause
        for clause in clauses(sentences)
        if isinstance(clause.subject, Noun) and isinstance(clause.complement, Adjective)
    ]
    assert len(found) > 50
    for clause in found:
        assert GROUP[clause.complement.concept] not in groups_said(clause.subject)


def test_nobody_steals_what_is_his_own(sentences):
    stolen = [clause.object for clause in clauses(sentences) if clause.verb == "steal"]
    assert stolen
    assert not any(isinstance(noun, Noun) and noun.determiner == "possessive" for noun in stolen)
