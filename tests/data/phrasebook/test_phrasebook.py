"""The phrasebook as a whole: its lexicon, its promises about size, splits and seeds, and its gold links."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from regard.data import phrasebook
from regard.data.pair import Pair
from regard.data.phrasebook import LANGUAGES, SPLITS, english, generate, lexicon, pair, plain
from regard.data.phrasebook.generate import Author
from regard.data.phrasebook.lexicon import form, table
from regard.data.phrasebook.link import links
from regard.data.phrasebook.meaning import Clause, Noun, Phrase, Pronoun, Sentence, Word
from regard.data.phrasebook.vocabulary import COUNTED, FRAMES, KINDS, members
from regard.errors import BrokenData, UnknownName, UsageError

LISTS = ("nouns", "adjectives", "verbs", "adverbs", "prepositions", "countries", "months", "conjunctions")


def source_texts(count: int, **asked) -> list[str]:
    return [example.source for example in generate("fr", size=count, **asked)]


# -- the lexicon -----------------------------------------------------------------------------------------------


def test_it_is_as_large_as_promised():
    assert len(table("nouns")) >= 300
    assert len(table("adjectives")) >= 120
    assert len(table("verbs")) >= 150


@pytest.mark.parametrize("language", ["english", "french"])
@pytest.mark.parametrize("name", LISTS)
def test_every_concept_is_spoken_in_every_language(language, name):
    assert set(table(f"{language}/{name}")) == set(table(name))


@pytest.mark.parametrize(("name", "column"), [("nouns", "singular"), ("adverbs", "words"), ("countries", "words")])
def test_every_language_speaks_the_same_parts_of_a_concept(name, column):
    def parts(language: str, concept: str) -> set[int]:
        return {part for _, said in form(table(f"{language}/{name}")[concept][column]) for part in said}

    for concept in table(name):
        assert parts("english", concept) == parts("french", concept), concept


def test_every_class_that_is_named_has_members():
    for name, columns in (
        ("verbs", ("subjects", "objects")),
        ("adjectives", ("classes", "except")),
        ("prepositions", ("classes",)),
        ("completions", ("heads", "classes")),
    ):
        for row in table(name).values():
            for column in columns:
                assert not row[column] or members(row[column]), (name, row)


def test_a_broken_lexicon_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(lexicon, "FOLDER", tmp_path)
    (tmp_path / "short.tsv").write_text("concept\tword\none\n", encoding="utf-8")
    with pytest.raises(BrokenData, match=r"short\.tsv:2: expected 2 fields \(concept, word\), found 1"):
        table("short")
    (tmp_path / "twice.tsv").write_text("concept\tword\none\ta\none\tb\n", encoding="utf-8")
    with pytest.raises(BrokenData, match=r"twice\.tsv:3: the concept 'one' is there twice"):
        table("twice")


def test_forms_with_marks():
    assert form("maison") == (("maison", (1,)),)
    assert form("jus/1 de pomme/2") == (("jus", (1,)), ("de", ()), ("pomme", (2,)))
    assert form("Apfelsaft/1+2") == (("Apfelsaft", (1, 2)),)


# -- links -----------------------------------------------------------------------------------------------------


def test_links_by_hand():
    one, two = Noun("dog"), Noun("cat")
    source = [Word("a", ((one, "x"),)), Word("b", (), ((two, "gone"), (two, "y")))]
    target = [Word("B", ((two, "y"),), ((one, "x"),)), Word("A", ((one, "x"),))]
    assert links(source, target) == (((0, 1),), ((0, 0), (1, 0)))


def test_gold_links_of_random_sentences_follow_the_rules():
    for example in generate("fr", size=500, seed=5):
        check_links(example)


def check_links(example: Pair) -> None:
    source, target = example.source.split(), example.target.split()
    linked = set(example.sure) | set(example.possible)
    assert not set(example.sure) & set(example.possible), example
    assert {at for at, _ in linked} == set(range(len(source))), example
    assert {to for _, to in linked} == set(range(len(target))), example
    sure = {(source[at], target[to]) for at, to in example.sure}
    for word, other in (("Paris", "Paris"), ("August", "août"), ("because", "parce"), ("bread", "pain")):
        if word in source:
            assert (word, other) in sure, example
    for word in set(source) & set(target):
        if word.isdigit():
            assert (word, word) in sure, example


# -- generation ------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_pairs():
    assert list(generate("fr", size=200, seed=4)) == list(generate("fr", size=200, seed=4))
    assert source_texts(200, seed=4) != source_texts(200, seed=5)


def test_the_first_pairs_do_not_depend_on_how_many_are_asked_for():
    assert source_texts(20) == source_texts(100)[:20]


def test_no_sentence_comes_twice_in_one_call():
    texts = source_texts(600, seed=1, longest=5)
    assert len(set(texts)) == len(texts) == 600


def test_splits_share_no_sentence_whatever_the_seed():
    found = {
        split: set(source_texts(size, seed=seed, split=split, longest=6))
        for seed, (split, size) in enumerate({"train": 600, "val": 40, "test": 40}.items())
    }
    assert set(found) == set(SPLITS)
    assert not found["train"] & found["val"]
    assert not found["train"] & found["test"]
    assert not found["val"] & found["test"]


@pytest.mark.parametrize(("shortest", "longest"), [(3, 5), (12, 12), (25, 30), (50, 60), (3, 60)])
def test_the_length_is_as_asked(shortest, longest):
    lengths = [len(text.split()) for text in source_texts(20, shortest=shortest, longest=longest)]
    assert shortest <= min(lengths)
    assert max(lengths) <= longest


def test_all_lengths_occur():
    lengths = {len(text.split()) for text in source_texts(700, seed=2)}
    assert set(range(3, 25)) <= lengths
    assert max(lengths) > 35


def test_it_can_say_more_than_ten_million_sentences():
    """Counts only the plainest ones: a verb, a subject and an object without adjectives, in three tenses.

    Each of the two nouns may be singular (the, a, this) or plural (the, these, several): six ways.
    """
    plain_nouns = {noun for noun in COUNTED if not KINDS[noun] & {"family", "spouse"}}
    pairs = sum(
        len(verb.subjects & plain_nouns) * len(plain_nouns.intersection(verb.objects)) for verb in FRAMES["transitive"]
    )
    assert pairs * 6 * 6 * 3 > 10_000_000


def test_drawing_rarely_repeats_itself():
    author = Author(Random("repeats"))
    texts = [" ".join(word.text for word in english.realise(author.sentence(14))) for _ in range(1000)]
    long = [text for text in texts if text.count(" ") > 6]
    assert len(set(long)) == len(long) > 600


def test_ask_for_more_than_there_are(monkeypatch):
    monkeypatch.setattr(phrasebook, "TRIES", 100)
    with pytest.raises(UsageError, match="found only"):
        list(generate("fr", size=10**6, shortest=3, longest=3))


@pytest.mark.parametrize(
    "asked",
    [{"size": -1}, {"size": 1, "shortest": 2}, {"size": 1, "longest": 61}, {"size": 1, "shortest": 9, "longest": 8}],
)
def test_impossible_wishes_are_refused(asked):
    with pytest.raises(UsageError, match="3 <= shortest <= longest <= 60"):
        generate("fr", **asked)


def test_unknown_names_are_refused_at_once():
    with pytest.raises(UnknownName, match="no phrasebook language is called 'en'; there are de, fr"):
        generate("en", size=1)
    with pytest.raises(UnknownName, match="no split is called 'dev'"):
        generate("fr", size=1, split="dev")
    with pytest.raises(UnknownName):
        plain("a", "nl")


def test_it_is_a_stream():
    assert len(list(islice(generate("fr", size=10**9), 3))) == 3


def test_counts_and_kinds_agree():
    assert "bread" not in COUNTED
    assert "house" in COUNTED
    assert KINDS["cheese"] == {"food", "mass"}
    assert set(LANGUAGES) == {"en", "fr", "de"}


def test_plain_text_by_language():
    example = pair(Sentence((Clause(Pronoun(1), "come", adverbials=(Phrase("from", Noun("school")),)),)), "fr")
    assert plain(example.source, "en") == "I come from the school."
    assert plain(example.target, "fr") == "je viens de l'école."
