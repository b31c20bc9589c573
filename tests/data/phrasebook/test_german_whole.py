"""German as a whole: every concept has its word, and whatever is drawn comes out well formed."""

from itertools import pairwise

import pytest

from regard.data.phrasebook import generate, german
from regard.data.phrasebook.lexicon import form, table

MARKS = (",", ".", "?")
CONTRACTED = {("in", "das"), ("zu", "dem"), ("zu", "der"), ("von", "dem"), ("an", "das")}  # ins, zum, zur ...


@pytest.mark.parametrize(
    "name", ["nouns", "verbs", "adjectives", "adverbs", "prepositions", "conjunctions", "countries", "months"]
)
def test_every_concept_has_a_german_row(name):
    assert table(f"german/{name}").keys() == table(name).keys()


def test_nouns_have_capitals_and_say_the_parts_of_the_english_compound():
    for concept, row in table("german/nouns").items():
        words = form(row["singular"])
        assert words[-1][0][0].isupper(), concept
        spoken = {part for _, parts in words for part in parts}
        wanted = {part for _, parts in form(table("english/nouns")[concept]["singular"]) for part in parts}
        assert spoken == wanted, concept


def test_random_pairs_are_well_formed():
    for made in generate("de", size=400, seed=7):
        words = made.target.split(" ")
        every = {*made.sure, *made.possible}
        assert {target for _, target in every} == set(range(len(words))), made.target
        assert {source for source, _ in every} == set(range(len(made.source.split()))), made.source
        assert words[-1] in ".?"
        assert all(one not in MARKS or other not in MARKS for one, other in pairwise(words)), made.target
        assert not CONTRACTED & {*pairwise(words)}, made.target


def test_plain_gives_ordinary_typography():
    spaced = "er kam am 3. Mai an , weil er sie liebt ."
    assert german.plain(spaced) == "er kam am 3. Mai an, weil er sie liebt."
