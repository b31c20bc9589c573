"""The corpus of formulas: written and drawn the same every time, all of them drawable, none in two splits."""

from itertools import islice
from random import Random

import numpy as np
import pytest
from PIL import Image

from regard.data import builtin, formulas
from regard.data.formulas import Style, draw_image, generate, write_formula
from regard.data.latex import normalise
from regard.data.mathtext import draw_formula
from regard.data.splits import split_of
from regard.errors import BrokenData

SIZE = 11


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    return tmp_path_factory.mktemp("formulas")


@pytest.fixture(scope="module")
def pairs(drawn):
    return list(generate(split="test", size=SIZE, seed=5, folder=drawn))


def test_pairs_are_images_and_formulas(pairs):
    assert len({pair.target for pair in pairs}) == SIZE
    for pair in pairs:
        with Image.open(pair.source) as image:
            assert image.mode == "L"
            assert np.array_equal(np.array(image), draw_image(pair.target, 5, display=True))
        assert split_of(pair.target) == "test"
        assert normalise(pair.target) == pair.target
        assert 3 <= len(pair.target.split()) <= 36


def test_a_corpus_is_decided_by_seed_and_split(pairs, drawn):
    assert list(generate(split="test", size=SIZE - 4, seed=5, folder=drawn)) == pairs[:-4]
    other = {pair.target for pair in generate(split="test", size=3, seed=7, folder=drawn)}
    assert not other & {pair.target for pair in pairs}
    assert next(generate(split="val", size=1, seed=5, folder=drawn)).target != pairs[0].target


def test_lengths_are_kept(drawn):
    found = list(generate(split="train", size=5, folder=drawn, style=Style(5, 7)))
    assert {len(pair.target.split()) for pair in found} <= {5, 6, 7}


def test_fractions_are_large_where_a_formula_has_a_line_for_itself(drawn):
    one, other = (
        list(generate(split="val", size=30, folder=drawn, style=Style(9, 12, large))) for large in (True, False)
    )
    assert [pair.target for pair in one] == [pair.target for pair in other], "the same formulas, drawn otherwise"
    for large, small in zip(one, other, strict=True):
        with Image.open(large.source) as ours, Image.open(small.source) as theirs:
            assert (ours.size == theirs.size) == (r"\frac" not in large.target)
            assert ours.height >= theirs.height


def test_every_formula_of_the_grammar_can_be_drawn():
    random, seen = Random(0), set()
    for length in range(3, 37):
        tokens = write_formula(random, length)
        seen |= set(tokens)
        assert len(tokens) <= length + 1
        assert draw_formula(" ".join(tokens)) is not None
    for signs in (formulas.GREEK, formulas.OPERATORS, formulas.RELATIONS, formulas.HATS, formulas.FUNCTIONS):
        assert set(signs) & seen


def test_every_kind_of_term_is_written():
    random = Random(1)
    seen = {token for _ in range(500) for token in write_formula(random, 36)}
    assert {r"\frac", r"\sqrt", r"\sum", r"\prod", r"\int", r"\lim", "_", "^", r"\prime", r"\infty"} <= seen
    assert {r"\begin{pmatrix}", r"\begin{bmatrix}", "[", "("} <= seen
    every = (formulas.LETTERS, formulas.CAPITALS, formulas.DIGITS, formulas.GREEK)
    assert {sign for signs in every for sign in signs} <= seen
    assert len(seen) < 120


def test_letters_that_look_alike_are_left_out():
    assert not set("oOlCKPSVWXZ") & {*formulas.LETTERS, *formulas.CAPITALS}


def test_an_image_is_jittered_by_its_seed():
    one, other = draw_image("x + y", 1), draw_image("x + y", 2)
    assert one.shape != other.shape or not np.array_equal(one, other)
    assert np.array_equal(one, draw_image("x + y", 1))
    assert draw_image("x + y", -1).shape != one.shape
    plain = draw_image("x + y")
    assert np.array_equal(plain[2:-2, 2:-2], draw_formula("x + y")) and plain.max() == 255
    assert draw_image("x + y", dots=200.0).shape[1] > 1.5 * plain.shape[1]


def test_what_cannot_be_drawn_is_told():
    with pytest.raises(BrokenData, match="mathtext cannot draw"):
        draw_image(r"\nosuch", 0)


def test_both_corpora_are_built_in(drawn):
    for name, most in (("formulas", 36), ("formulas-short", 12)):
        found = list(islice(builtin.examples(name, split="val", size=3, folder=drawn), 3))
        assert all(3 <= len(pair.target.split()) <= most for pair in found)
        assert builtin.BUILTIN[name].direction() == ("image", "text")
