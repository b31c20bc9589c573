r"""Formulas: images of LaTeX that a grammar writes, drawn by mathtext a little differently each time.

    \sum _ { i = 1 } ^ { n } x _ { i } ^ { 2 }

There are sums, products, integrals and limits, fractions, roots, scripts, Greek letters, hats, functions, parentheses
and matrices of two rows. Letters that look alike in two sizes or two alphabets (s and S, o and 0, v and \nu) are left
out, so that an image has one right formula. Formulas are written in their one form (see `latex`), and are of 3 to 36
tokens, and have a line for themselves, on which fractions are large; short ones stand in a line of text, where they are
small. The split of a formula is decided by the formula. An image is decided by its formula and the seed: its scale,
the margins, the shades of ink and ground and some noise. It lies as a PNG file in the cache, drawn when it is first
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from jaxtyping import UInt8

from regard.data import latex, mathtext
from regard.data.drawn import image_folder, save_image
from regard.data.mathtext import DOTS, draw_formula
from regard.data.pair import Pair
from regard.data.splits import check_split, digest, draw_distinct, split_of
from regard.errors import BrokenData

LETTERS = tuple("abcdefghijkmnpqrstuvwxyz")
CAPITALS = tuple("ABDEFGHLMNQRT")
DIGITS = tuple("0123456789")
_GREEK = "alpha beta gamma delta theta lambda mu pi rho sigma phi psi omega Gamma Delta Phi Omega"
GREEK = tuple(rf"\{name}" for name in _GREEK.split())
OPERATORS = ("+", "-", r"\times", r"\cdot", r"\pm")
RELATIONS = ("=", "<", ">", r"\leq", r"\geq", r"\neq", r"\in", r"\rightarrow", r"\approx")
FUNCTIONS = (r"\sin", r"\cos", r"\log", r"\exp", r"\tan")
HATS = (r"\hat", r"\bar", r"\tilde", r"\vec")
MATRICES = ("pmatrix", "bmatrix")
_SCALES = (0.9, 1.2)  # of the letters
_MARGINS = (2, 12)  # pixels on each side
_NOISE = 6.0  # the largest deviation of a pixel's grey
Tokens = list[str]


@dataclass(frozen=True)
class Style:
    """How many tokens a formula has, at least and at most, and whether its fractions are as large as on a line alone.

    A script in a small fraction is three pixels high, which is hardly read.
    """

    least: int = 3
    most: int = 36
    display: bool = True

    def __str__(self) -> str:
        return f"{self.least}-{self.most}" + "-display" * self.display


SHORT = Style(3, 12, display=False)


def generate(
    *, split: str, size: int, seed: int = 0, folder: Path | None = None, style: Style | None = None
) -> Iterator[Pair]:
    """Draw `size` different formulas; each source is the path of its image, under `folder` (else the cache)."""
    check_split(split)
    asked = style or Style()
    home = image_folder("formulas", folder, __file__, latex.__file__, mathtext.__file__)
    home = home / f"seed-{seed}" / str(asked) / split
    random = Random(f"formulas Lengths(least={asked.least}, most={asked.most}) {split} {seed}")
    formulas = draw_distinct(partial(_draw, random, asked, split), size)
    drawn = partial(_example, seed=seed, display=asked.display)
    return (drawn(each.target, home / f"{number:06}.png") for number, each in enumerate(formulas))


def _draw(random: Random, asked: Style, split: str) -> Pair | None:
    """A formula as both sides of a pair; the image comes once it is known to be new."""
    text = " ".join(write_formula(random, random.randint(asked.least, asked.most)))
    count = len(text.split())
    if split_of(text) != split or not asked.least <= count <= asked.most:
        return None
    return Pair(text, text)


def _example(formula: str, path: Path, *, seed: int, display: bool) -> Pair:
    if not path.is_file():
        save_image(draw_image(formula, seed, display=display), path)
    return Pair(str(path), formula)


def draw_image(
    formula: str, seed: int | None = None, *, dots: float = DOTS, display: bool = False
) -> UInt8[np.ndarray, "h w"]:
    """The image of a formula, at `dots` an inch; with a seed, jittered as the corpus is."""
    random = np.random.default_rng((digest(formula), abs(seed or 0), (seed or 0) < 0))
    scale = 1.0 if seed is None else float(random.uniform(*_SCALES))
    ink = draw_formula(formula, dots=dots * scale, display=display)
    if ink is None:
        raise BrokenData(f"mathtext cannot draw the formula {formula}.", hint="It knows a part of LaTeX alone.")
    if seed is None:
        return np.pad(ink, _MARGINS[0], constant_values=255)
    top, bottom, left, right = (int(each) for each in random.integers(*_MARGINS, 4))
    dark, light = random.uniform(0, 60), random.uniform(225, 255)
    image = dark + (light - dark) * np.pad(ink, ((top, bottom), (left, right)), constant_values=255) / 255.0
    image += random.normal(0, random.uniform(0, _NOISE), image.shape)
    return image.clip(0, 255).astype(np.uint8)


def write_formula(random: Random, length: int) -> Tokens:
    """The tokens of a formula that has about so many."""
    found = _expression(random, length, 0)
    if len(found) + 2 <= length and random.random() < 0.5:
        found += [random.choice(RELATIONS), *_expression(random, length - len(found) - 1, 0)]
    return found


def _expression(random: Random, budget: int, depth: int) -> Tokens:
    """Terms with operators between them, at least one, as far as the budget goes."""
    found = _term(random, budget, depth)
    while len(found) + 2 <= budget and random.random() < 0.85:
        sign = RELATIONS if depth == 0 and random.random() < 0.3 else OPERATORS
        found += [random.choice(sign), *_term(random, budget - len(found) - 1, depth)]
    return found


def _term(random: Random, budget: int, depth: int) -> Tokens:
    """One of the kinds of terms that the budget allows."""
    kinds = [kind for kind in _KINDS if kind.least <= budget and depth <= kind.deepest]
    (kind,) = random.choices(kinds, [each.share for each in kinds])
    return kind.write(random, budget, depth)


def _atom(random: Random, budget: int = 1, depth: int = 0) -> Tokens:
    (group,) = random.choices((LETTERS, DIGITS, GREEK, CAPITALS), (5, 3, 3, 1))
    return [random.choice(group)]


def _variable(random: Random) -> str:
    return random.choice((*LETTERS, *LETTERS, *GREEK, *CAPITALS))


def _argument(random: Random, budget: int, depth: int) -> Tokens:
    """What stands between braces."""
    return ["{", *_expression(random, max(1, budget), depth), "}"]


def _below(random: Random, budget: int, depth: int) -> Tokens:
    return [_variable(random), "_", "{", *_small(random, budget - 4), "}"]


def _above(random: Random, budget: int, depth: int) -> Tokens:
    return [_variable(random), "^", "{", *_small(random, budget - 4), "}"]


def _both(random: Random, budget: int, depth: int) -> Tokens:
    return [_variable(random), "_", "{", *_small(random, 1), "}", "^", "{", *_small(random, budget - 8), "}"]


def _small(random: Random, budget: int) -> Tokens:
    """A script: an atom, or an atom and another."""
    if budget < 3 or random.random() < 0.7:
        return _atom(random)
    return [_variable(random), random.choice("+-"), *_atom(random)]


def _fraction(random: Random, budget: int, depth: int) -> Tokens:
    most = min(budget - 5, 12)
    above = _argument(random, random.randint(1, max(1, most - 1)), depth + 1)
    return [r"\frac", *above, *_argument(random, most - len(above) + 2, depth + 1)]


def _root(random: Random, budget: int, depth: int) -> Tokens:
    degree = ["[", random.choice("345"), "]"] if budget >= 7 and random.random() < 0.25 else []
    return [r"\sqrt", *degree, *_argument(random, min(budget - 3 - len(degree), 9), depth + 1)]


def _large(random: Random, budget: int, depth: int) -> Tokens:
    """A sum, a product or an integral with its limits, and what it is of."""
    sign = random.choice((r"\sum", r"\sum", r"\prod", r"\int"))
    if sign == r"\int":
        limits = ["_", "{", *_atom(random), "}", "^", "{", *_atom(random), "}"]
    else:
        start = [random.choice("ijkmn"), "=", random.choice("01")]
        limits = ["_", "{", *start, "}", "^", "{", random.choice((*"nmN", r"\infty")), "}"]
    return [sign, *limits, *_term(random, budget - 1 - len(limits), depth)]


def _limit(random: Random, budget: int, depth: int) -> Tokens:
    towards = [random.choice(LETTERS), r"\rightarrow", random.choice(("0", r"\infty"))]
    return [r"\lim", "_", "{", *towards, "}", *_term(random, budget - 7, depth)]


def _hat(random: Random, budget: int, depth: int) -> Tokens:
    return [random.choice(HATS), "{", _variable(random), "}"]


def _function(random: Random, budget: int, depth: int) -> Tokens:
    return [random.choice(FUNCTIONS), *_atom(random)]


def _parentheses(random: Random, budget: int, depth: int) -> Tokens:
    head = [random.choice("fgh")] if budget >= 4 and random.random() < 0.4 else []
    return [*head, "(", *_expression(random, min(budget - 2 - len(head), 9), depth), ")"]


def _prime(random: Random, budget: int, depth: int) -> Tokens:
    return [_variable(random), "^", "{", r"\prime", "}"]


def _matrix(random: Random, budget: int, depth: int) -> Tokens:
    kind, columns = random.choice(MATRICES), 2 if budget >= 9 else 1
    rows = [" & ".join(_atom(random)[0] for _ in range(columns)).split() for _ in range(2)]
    return [rf"\begin{{{kind}}}", *rows[0], r"\\", *rows[1], rf"\end{{{kind}}}"]


@dataclass(frozen=True)
class _Kind:
    """One kind of term: the tokens that it needs at least, how often it is taken, and how deep in others it may stand.

    What makes letters smaller stands in nothing that does: all stay large enough to be read.
    """

    write: Callable[[Random, int, int], Tokens]
    least: int
    share: int
    deepest: int = 9


_KINDS = (
    _Kind(_atom, 1, 10),
    _Kind(_function, 2, 2),
    _Kind(_parentheses, 3, 3),
    _Kind(_hat, 4, 2),
    _Kind(_below, 5, 6),
    _Kind(_above, 5, 6),
    _Kind(_prime, 5, 1),
    _Kind(_root, 4, 5, 1),
    _Kind(_matrix, 5, 2, 0),
    _Kind(_fraction, 7, 8, 0),
    _Kind(_limit, 8, 2, 0),
    _Kind(_both, 9, 4),
    _Kind(_large, 14, 6, 0),
)
