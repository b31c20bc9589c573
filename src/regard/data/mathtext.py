r"""Formulas drawn without TeX, by matplotlib's mathtext: ink on white, as numbers.

Mathtext knows a part of LaTeX. What it lacks and we need is rewritten for it: matrices become columns side by side
(`\substack`), `\stackrel` is `\overset`, and the like. What it still cannot draw is not drawn.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import UInt8

from regard.data.latex import compact, normal_tokens

SIZE = 12.0  # points of a letter
DOTS = 100.0  # dots an inch, of which a point is a seventy-second
_FENCES = {"matrix": ("", ""), "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|")}
_BEGIN, _END = (
    {rf"\{word}{{{name}}}": name for name in _FENCES} for word in ("begin", "end")
)  # tokens, and the matrix that each begins or ends
_SMALLER = ("_", "^", r"\frac", r"\frac/")  # what stands in these is smaller than in a displayed formula
_INSTEAD = {r"\stackrel": r"\overset", r"\mathbb": r"\mathbb", r"\lvert": "|", r"\rvert": "|"}


def draw_formula(
    formula: str, *, size: float = SIZE, dots: float = DOTS, display: bool = False
) -> UInt8[np.ndarray, "h w"] | None:
    """A formula in grey, black on white, cut to its ink; None where it cannot be drawn, or nothing is seen of it.

    With `display` its fractions are as large as in a formula that has a line for itself.
    """
    drawn = _ink(drawable(formula, display), size, dots)
    if drawn is None:
        return None
    rows, columns = (np.flatnonzero(drawn.any(axis)) for axis in (1, 0))
    if not len(rows):
        return None
    return 255 - drawn[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def drawable(formula: str, display: bool = False) -> str:
    """The formula as mathtext is given it."""
    tokens = [_INSTEAD.get(token, token) for token in normal_tokens(formula)]
    tokens = _displayed(tokens) if display else tokens
    while (inner := _innermost(tokens)) is not None:
        first, last = inner
        tokens[first : last + 1] = _columns(tokens[first + 1 : last], _BEGIN[tokens[first]])
    return compact(tokens)  # it takes a script after a space for one of nothing


def _displayed(tokens: list[str]) -> list[str]:
    """With large fractions wherever none stands in another or in a script."""
    found: list[str] = []
    groups: list[str] = []  # what each group that is open belongs to
    belongs = ""
    for token in tokens:
        small = any(each in _SMALLER for each in groups)
        found.append(r"\dfrac" if token == r"\frac" and not small else token)
        if token == "{":
            groups.append(belongs)
        ended = groups.pop() if token == "}" and groups else ""
        belongs = r"\frac/" if ended == r"\frac" else token  # whose second argument follows
    return found


def _innermost(tokens: list[str]) -> tuple[int, int] | None:
    """Where the first matrix without another inside begins and ends."""
    opened: int | None = None
    for place, token in enumerate(tokens):
        if token in _BEGIN:
            opened = place
        elif token in _END and opened is not None:
            return (opened, place) if _BEGIN[tokens[opened]] == _END[token] else None
    return None


def _columns(tokens: list[str], kind: str) -> list[str]:
    """A matrix as columns side by side, between its fences; cells that a row lacks are empty."""
    table = [_parted(row, "&") for row in _parted(tokens, r"\\")]
    if table and table[-1] == [[]]:
        table.pop()  # a line break at the end begins no row
    wide = max(map(len, table), default=0)
    found: list[str] = []
    for column in range(wide):
        cells = [row[column] if column < len(row) and row[column] else ["~"] for row in table]
        stacked = [token for cell in cells for token in (*cell, r"\\")][:-1]
        found += [*([r"\;"] if column else []), r"\substack", "{", *stacked, "}"]
    left, right = _FENCES[kind]
    return [r"\left", left, *found, r"\right", right] if left else found


def _parted(tokens: list[str], sign: str) -> list[list[str]]:
    """What stands between such signs that are in no braces."""
    found: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token == "{") - (token == "}")
        if token == sign and not depth:
            found.append([])
        else:
            found[-1].append(token)
    return found


@lru_cache(maxsize=4096)
def _ink(formula: str, size: float, dots: float) -> UInt8[np.ndarray, "h w"] | None:
    """How dark each pixel is; None where mathtext does not know how."""
    if not formula or "$" in formula:
        return None
    parser, letters = _parser(size)
    try:
        drawn = parser.parse(f"${formula}$", dpi=dots, prop=letters)
    except (ValueError, RuntimeError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return None  # a parser of half a language may stumble in any way over the other half
    return np.array(drawn.image, dtype=np.uint8)


@lru_cache(maxsize=16)
def _parser(size: float) -> tuple[Any, Any]:
    """Made when it is first needed: matplotlib looks for fonts, which takes its time."""
    import logging

    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    logging.getLogger("matplotlib.mathtext").setLevel(logging.ERROR)  # it warns of every letter that a font lacks
    return MathTextParser("agg"), FontProperties(size=size, math_fontfamily="cm")
