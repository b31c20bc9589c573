"""Formulas against the right ones: by their tokens, and by what they look like.

Both are brought to one form first (`regard.data.latex`), so that nobody is judged by spaces and the order of scripts.
Two formulas that are written differently may look the same: both are drawn, by mathtext, and the images compared. What
cannot be drawn is wrong, whatever its tokens.

`image_near` is the exact match of Deng et al. (2017, section 5) without white space: columns without ink do not count,
and images that differ in fewer than five columns side by side are the same, since a renderer may set a sign some pixels
off. They are drawn large enough for the slimmest sign to be wider than that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np
from jaxtyping import UInt8

from regard.data.latex import normal_tokens, normalise
from regard.data.mathtext import draw_formula
from regard.evaluate.counts import Counted, Reference, count_bleu, matched, percent, signed

DOTS = 300.0  # an inch, for comparing
NEAR = 5  # columns side by side that differ before two images do
_DARK = 128  # a pixel below is ink


def count_token_bleu(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """BLEU over tokens."""
    answers = matched(outputs, references)
    wanted = [tuple(map(normalise, given)) for given in answers]
    counted = count_bleu(list(map(normalise, outputs)), wanted, tokenize="none")
    return Counted("token BLEU", counted.rows, counted.formula, counted.sign)


def count_edits(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """What needs no edit: the tokens of the longer formula, less the edits that make one of the other; and all."""
    rows = []
    for output, given in zip(outputs, matched(outputs, references), strict=True):
        found = normal_tokens(output)
        pairs = [_edits(found, normal_tokens(each)) for each in given]
        rows.append(max(pairs, key=lambda pair: pair[0] / max(1, pair[1])))
    return Counted("edit accuracy", np.array(rows, np.int64), percent, lambda seed: signed(seed, "tok:latex"))


def count_token_match(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Are the tokens those of the right formula?"""
    return _counted("token match", outputs, references, lambda one, other: normalise(one) == normalise(other))


def count_image_match(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Does the formula look like the right one, to the pixel?"""
    return _counted("image match", outputs, references, look_equal)


def count_image_near(outputs: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Does it, white space and a few columns aside?"""
    return _counted("near image match", outputs, references, look_near)


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens must be put in, left out or replaced to make one of the other (Levenshtein)."""
    before = list(range(len(other) + 1))
    for place, token in enumerate(one, start=1):
        row = [place]
        for column, against in enumerate(other, start=1):
            row.append(min(row[-1] + 1, before[column] + 1, before[column - 1] + (token != against)))
        before = row
    return before[-1]


def look_equal(one: str, other: str) -> bool:
    """Do two formulas look the same? Nothing looks like one that cannot be drawn."""
    first, second = _drawn(normalise(one)), _drawn(normalise(other))
    return first is not None and second is not None and np.array_equal(first, second)


def look_near(one: str, other: str) -> bool:
    """Do two formulas look the same, white space and fewer than five columns side by side aside?"""
    first, second = _drawn(normalise(one)), _drawn(normalise(other))
    if first is None or second is None:
        return False
    if np.array_equal(first, second):
        return True
    height = max(len(first), len(second))
    ours, theirs = (_columns(image, height) for image in (first, second))
    steps = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    return all(
        sign == "equal" or max(ending - start, last - begin) < NEAR for sign, start, ending, begin, last in steps
    )


def _columns(image: UInt8[np.ndarray, "h w"], height: int) -> list[bytes]:
    """The columns that have ink, from left to right, all of one height."""
    ink = np.pad(image < _DARK, ((0, height - len(image)), (0, 0)))
    return [column.tobytes() for column in ink.T if column.any()]


@lru_cache(maxsize=4096)
def _drawn(formula: str) -> UInt8[np.ndarray, "h w"] | None:
    return draw_formula(formula, dots=DOTS)


def _edits(found: Sequence[str], wanted: Sequence[str]) -> tuple[int, int]:
    longer = max(len(found), len(wanted))
    return longer - edit_distance(found, wanted), longer


def _counted(
    name: str, outputs: Sequence[str], references: Sequence[Reference], alike: Callable[[str, str], bool]
) -> Counted:
    """Is the output like one of its references; and a one."""
    answers = matched(outputs, references)
    right = [any(alike(output, each) for each in given) for output, given in zip(outputs, answers, strict=True)]
    rows = np.array([(each, 1) for each in right], dtype=np.int64)
    return Counted(name, rows, percent, lambda seed: signed(seed, "tok:latex"))
