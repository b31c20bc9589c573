"""LaTeX tokens and their one form: a table by hand, and what must hold of any line."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.formulas import write_formula
from regard.data.latex import compact, normal_tokens, normalise, split_tokens
from regard.data.mathtext import draw_formula
from regard.data.sides.latex import Latex
from regard.data.tokenizer import UNKNOWN

LINES = st.text(alphabet=r"ab12\{}_^'$%& []frcsqt", max_size=23)


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        (r"\frac{a}{b}", [r"\frac", "{", "a", "}", "{", "b", "}"]),
        (r"x_{12}", ["x", "_", "{", "1", "2", "}"]),
        (r"\alpha x\{y\}", [r"\alpha", "x", r"\{", "y", r"\}"]),
        ("a % a remark\nb", ["a", "b"]),
        (r"5\% \\% the rest", ["5", r"\%", r"\\"]),
        (r"\begin {matrix} a&b\end{ matrix }", [r"\begin{matrix}", "a", "&", "b", r"\end{matrix}"]),
        (r"a\ b\,c", ["a", "~", "b", r"\,", "c"]),
        ("", []),
    ],
)
def test_tokens(written, tokens):
    assert split_tokens(written) == tokens


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("x^2_i", "x _ { i } ^ { 2 }"),
        ("x_i^2", "x _ { i } ^ { 2 }"),
        ("x_{i}^{2}", "x _ { i } ^ { 2 }"),
        (r"x^\alpha", r"x ^ { \alpha }"),
        (r"x^\frac12", r"x ^ { \frac { 1 } { 2 } }"),
        (r"\frac12", r"\frac { 1 } { 2 }"),
        (r"\dfrac a {b c}", r"\frac { a } { b c }"),
        (r"\sqrt x", r"\sqrt { x }"),
        (r"\sqrt[3]x", r"\sqrt [ 3 ] { x }"),
        (r"\sqrt[n+1]{x}", r"\sqrt [ n + 1 ] { x }"),
        (r"\hat\alpha_1", r"\hat { \alpha } _ { 1 }"),
        ("f'", r"f ^ { \prime }"),
        ("f''_1", r"f _ { 1 } ^ { \prime \prime }"),
        ("f'^2", r"f ^ { \prime 2 }"),
        ("{{a}}", "{ a }"),
        ("x^{{{a b}}}", "x ^ { a b }"),
        ("x^{{a}{b}}", "x ^ { { a } { b } }"),
        ("$$ a $$", "a"),
        (r"\[ a \]", "a"),
        (r"a \le b \ne c \to d", r"a \leq b \neq c \rightarrow d"),
        (r"\sum_{i=1}^n x_i", r"\sum _ { i = 1 } ^ { n } x _ { i }"),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"),
        ("", ""),
    ],
)
def test_one_form(written, normal):
    assert normalise(written) == normal
    assert normalise(normal) == normal
    assert normalise(compact(normal.split())) == normal


@pytest.mark.parametrize(
    "broken", ["a }", "{ a", r"\frac { a }", "x ^", r"\sqrt [ 3 { x }", "x _ 1 _ 2", "x ^ 2 ^ 3", "^ }", "^ '"]
)
def test_what_is_no_formula_keeps_its_tokens(broken):
    assert normalise(broken.replace(" ", "")) == broken


@given(LINES)
def test_any_line_has_one_form(line):
    normal = normalise(line)
    assert normalise(normal) == normal
    assert normal_tokens(line) == normal.split(" ") if normal else not normal_tokens(line)


def test_one_form_looks_as_the_other_did():
    random = Random(3)
    formulas = [" ".join(write_formula(random, length)) for length in (3, 7, 11, 17, 23)]
    for formula in formulas:
        assert normalise(formula) == formula, "the grammar writes the one form"
        short = compact(formula.split())
        assert len(short) < len(formula)
        assert np.array_equal(draw_formula(short), draw_formula(formula))
    assert np.array_equal(draw_formula("x^2_i"), draw_formula("x_{i}^{2}"))


def test_compact_keeps_commands_from_letters():
    assert compact([r"\alpha", "x", r"\beta", "2", "{", "y"]) == r"\alpha x\beta2{y"


@pytest.fixture(scope="module")
def side():
    found = Latex("target")
    found.fit([r"x^2_i + \frac12", r"\sqrt{x} < y", "a b", r"\begin{matrix} a & b \end{matrix}"] * 3)
    return found


def test_a_side_cuts_and_writes_the_one_form(side):
    (ids,) = side.encode([r"x_i^2<\frac12"])
    assert side.tokenizer.decode(ids) == r"x _ { i } ^ { 2 } < \frac { 1 } { 2 }"
    assert len(ids) == 17
    assert side.tokenizer.read(ids).pieces[0] == "x"
    assert side.encode(["x ^ {2} _ {i}"]) == side.encode(["x_i^2"])


def test_tokens_that_were_never_seen_are_unknown(side):
    assert side.encode([r"\omega"]) == [[UNKNOWN]]
    assert side.predictions(side.encode(["x + y"])[0]) == 4


def test_many_kinds_of_tokens_are_still_tokens():
    """A vocabulary that is not closed is not cut at its backslashes."""
    side = Latex("target")
    names = [f"\\{one}{two}" for one in "abcdefghij" for two in "klmnopqrst"] * 2
    side.fit([" ".join(names)])
    assert side.spec().size == 104
    assert len(side.encode([r"\ak\bl"])[0]) == 2


def test_longest_and_vocabulary():
    side = Latex("target", longest=3, vocabulary=6)
    side.fit(["a a a b b c"])
    assert side.spec().size == 6
    (fits, long) = side.encode(["a b a", "a b a b"])
    assert side.fits(fits) and not side.fits(long)
