"""Invented alphabets: characters made of strokes, strokes of motifs, by a grammar that a seed decides.

After the generative model of handwritten characters of Lake et al. (2015): an alphabet has a small library of motifs
(lines, arcs, hooks, waves, loops, corners) that its characters share; a stroke is one motif or some that follow one
another without lifting the pen; a stroke begins anywhere, where another began or ended, or on the way along it.

A stroke is its points, N x 2, right and down, in units of a character that reaches from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]  # N x 2
Character = tuple[Points, ...]  # its strokes, in the order they are drawn

POINTS = 9  # of a motif
_LINE = np.linspace(0, 1, POINTS)
_KINDS = ("line", "arc", "half", "hook", "wave", "loop", "corner")
_SHARES = np.array((4.0, 3.0, 2.0, 1.5, 1.0, 1.0, 2.0))
_LIBRARY = (6, 10)  # motifs of an alphabet, at least and below
_COARSE = 12  # cells of a side, of the picture by which characters are compared
_ALIKE = 0.72  # from which on two characters of an alphabet are too much the same
_PATIENCE = 60  # draws of a character before the least alike is taken
_LEAST, _MOST = 2.6, 7.5  # length of the strokes of a character, together
_NARROWEST = 0.45  # the shorter side of a character, of the longer


@dataclass(frozen=True)
class Alphabet:
    """What the characters of an alphabet share: motifs, how many strokes, and how strokes hang together."""

    library: tuple[Points, ...]
    strokes: npt.NDArray[np.float64]  # the chance of 1, 2, 3, 4 strokes
    follows: float  # the chance that another motif follows in the same stroke
    relations: npt.NDArray[np.float64]  # of a stroke: begins anywhere, at a start, at an end, along
    mirrors: float  # the chance that a stroke is a mirrored copy of the one before
    dots: float  # the chance of a dot


def draw_alphabet(random: np.random.Generator) -> Alphabet:
    """An alphabet's style."""
    angles = random.uniform(-0.3, 0.3) + np.arange(8) * np.pi / 4
    kinds = random.dirichlet(_SHARES)  # some alphabets are round, some are made of lines
    count = int(random.integers(*_LIBRARY))
    library = tuple(_motif(str(random.choice(_KINDS, p=kinds)), random, angles) for _ in range(count))
    return Alphabet(
        library,
        random.dirichlet((2.0, 6.0, 5.0, 2.0)),
        float(random.uniform(0.15, 0.6)),
        random.dirichlet((2.0, 1.5, 2.5, 3.0)),
        float(random.uniform(0.0, 0.25)),
        float(random.choice((0.0, 0.1, 0.25))),
    )


def draw_characters(alphabet: Alphabet, count: int, random: np.random.Generator) -> list[Character]:
    """So many characters that can be told apart."""
    found: list[Character] = []
    seen: list[npt.NDArray[np.float64]] = []
    for _ in range(count):
        character, picture = _unlike(alphabet, seen, random)
        found.append(character)
        seen.append(picture)
    return found


def _unlike(
    alphabet: Alphabet, seen: Sequence[npt.NDArray[np.float64]], random: np.random.Generator
) -> tuple[Character, npt.NDArray[np.float64]]:
    """A character of a fair length that is not too much like those that are there, and its picture; or the best yet."""
    best = _judged(alphabet, seen, random)
    for _ in range(_PATIENCE):
        if best[0] < (False, _ALIKE):
            break
        best = min(best, _judged(alphabet, seen, random), key=lambda each: each[0])
    return best[1:]


def _judged(
    alphabet: Alphabet, seen: Sequence[npt.NDArray[np.float64]], random: np.random.Generator
) -> tuple[tuple[bool, float], Character, npt.NDArray[np.float64]]:
    """A character after its faults: whether it is too short or too long, and how much like another it is."""
    character = _character(alphabet, random)
    picture = _coarse(character)
    alike = max((float((picture * each).sum()) for each in seen), default=0.0)
    return (not _LEAST < length_of(character) < _MOST, alike), character, picture


def length_of(character: Sequence[Points]) -> float:
    """How long its strokes are, together."""
    return float(sum(np.linalg.norm(np.diff(stroke, axis=0), axis=1).sum() for stroke in character))


def _motif(kind: str, random: np.random.Generator, angles: npt.NDArray[np.float64]) -> Points:
    """A motif that starts at the origin, turned to one of the alphabet's angles."""
    size, bend = random.uniform(0.6, 1.4), random.uniform(0.25, 0.6) * random.choice((-1, 1))
    along, aside = _shape(kind, float(bend))
    turn = float(random.choice(angles))
    flat = np.stack((along, aside), 1) * size
    return flat @ np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))))


def _shape(kind: str, bend: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A motif lying to the right of the origin: how far along, and how far aside."""
    t, side = _LINE, np.sign(bend)
    if kind == "line":
        return t, 0 * t
    if kind == "arc":
        return t, bend * 4 * t * (1 - t)
    if kind == "half":  # a half circle
        return (1 - np.cos(np.pi * t)) / 2, side * np.sin(np.pi * t) / 2
    if kind == "hook":  # a line that turns back at its end
        back = np.clip(t - 0.6, 0, None) / 0.4
        return np.minimum(t, 0.6) / 0.6 + 0.2 * np.sin(np.pi * back), side * 0.2 * (1 - np.cos(np.pi * back))
    if kind == "wave":
        return t, bend * np.sin(2 * np.pi * t)
    if kind == "loop":  # nearly a circle, which leaves to where it goes on
        return 0.35 * np.sin(2 * np.pi * t) + 0.4 * t, side * 0.35 * (1 - np.cos(2 * np.pi * t))
    return np.minimum(2 * t, 1.0), bend * 1.6 * np.clip(2 * t - 1, 0, None)  # a corner


def _character(alphabet: Alphabet, random: np.random.Generator) -> Character:
    strokes: list[Points] = []
    for number in range(int(random.choice(4, p=alphabet.strokes)) + 1):
        if strokes and random.random() < alphabet.mirrors:
            strokes.append(strokes[-1] * (-1, 1) + (2 * strokes[-1][-1, 0], 0))
            continue
        stroke = _stroke(alphabet, random)
        strokes.append(stroke + (_start(strokes, alphabet, random) if number else 0))
    if random.random() < alphabet.dots:
        strokes.append(_dot(strokes, random))
    return _fitted(strokes)


def _stroke(alphabet: Alphabet, random: np.random.Generator) -> Points:
    """One motif, or up to three without lifting the pen."""
    stroke = alphabet.library[random.integers(len(alphabet.library))]
    for _ in range(2):
        if random.random() >= alphabet.follows:
            break
        motif = alphabet.library[random.integers(len(alphabet.library))]
        stroke = np.concatenate((stroke, stroke[-1] + motif[1:]))
    return stroke


def _start(strokes: Sequence[Points], alphabet: Alphabet, random: np.random.Generator) -> Points:
    """Where the next stroke begins."""
    other = strokes[int(random.integers(len(strokes)))]
    how = random.choice(4, p=alphabet.relations)
    if how == 0:
        everything = np.concatenate(strokes)
        return np.asarray(random.uniform(everything.min(0), everything.max(0)))
    if how < 3:
        return other[0] if how == 1 else other[-1]
    return np.asarray(other[random.integers(2, max(3, len(other) - 2))])


def _dot(strokes: Sequence[Points], random: np.random.Generator) -> Points:
    """A short mark beside what is there."""
    everything = np.concatenate(strokes)
    low, high = everything.min(0), everything.max(0)
    place = np.array((random.uniform(low[0], high[0]), random.choice((low[1] - 0.35, high[1] + 0.35))))
    return place + np.linspace(-0.06, 0.06, 3)[:, None] * np.array((1.0, 0.4))


def _fitted(strokes: Sequence[Points]) -> Character:
    """In the middle, the longer side from -1 to 1; what is too narrow is made wider, unless it is a line."""
    everything = np.concatenate(strokes)
    low, high = everything.min(0), everything.max(0)
    half = np.maximum((high - low) / 2, 1e-6)
    scale = 1 / max(half)
    narrow = half * scale
    stretch = np.where(narrow < _NARROWEST, np.minimum(_NARROWEST / narrow, 2.5), 1.0)
    return tuple((stroke - (low + high) / 2) * scale * stretch for stroke in strokes)


def _coarse(character: Character) -> npt.NDArray[np.float64]:
    """Where its ink is, blurred, as numbers of length one: the product of two such says how much alike they are."""
    cells = np.zeros((_COARSE, _COARSE))
    for stroke in character:
        for one, other in pairwise(stroke):
            places = one + np.linspace(0, 1, 4)[:, None] * (other - one)
            columns, rows = np.clip(((places + 1) / 2 * _COARSE).astype(int), 0, _COARSE - 1).T
            cells[rows, columns] = 1.0
    wide = np.pad(cells, 1)
    near = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    blurred = cells + 0.5 * near
    return np.asarray(blurred / np.linalg.norm(blurred))
