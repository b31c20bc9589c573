"""Drawers: hands that draw the strokes of a character each in their own way, and never twice the same.

A drawer has a slant, proportions, a nib, a tremor and a carelessness; a drawing adds to them. Ink is 255 on a ground
of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from regard.data.glyphs_strokes import Character, Points

SIZE = 28  # pixels of a side
_REACH = 10.0  # pixels from the middle to the edge of a character, before anybody draws it
_EDGE = 1.5  # pixels that stay free at the border
_WAVES = 3  # of a tremor, along a stroke
_PIXELS = np.indices((SIZE, SIZE), dtype=np.float32).reshape(2, -1)


@dataclass(frozen=True)
class Drawer:
    """A hand. Angles in radians, lengths in units of a character (`nib` in pixels)."""

    slant: float  # how far to the right a unit upwards leads
    turn: float  # how far the paper is turned
    width: float  # the proportions of what is drawn
    height: float
    nib: float  # half the width of a line
    flat: float  # how much thinner a line is along the nib
    angle: float  # of the nib
    tremor: float  # how far from its course a line goes
    careless: float  # how far from its place a stroke is put
    rounds: int  # how often corners are rounded


def draw_drawer(random: np.random.Generator) -> Drawer:
    """Anybody."""
    return Drawer(
        slant=float(random.normal(0, 0.22)),
        turn=float(random.normal(0, 0.08)),
        width=float(np.exp(random.normal(0, 0.16))),
        height=float(np.exp(random.normal(0, 0.1))),
        nib=float(random.uniform(0.75, 1.35)),
        flat=float(random.uniform(0, 0.45)),
        angle=float(random.uniform(0, np.pi)),
        tremor=float(random.uniform(0.015, 0.065)),
        careless=float(random.uniform(0.04, 0.12)),
        rounds=int(random.integers(0, 4)),
    )


def draw_image(character: Character, drawer: Drawer, random: np.random.Generator) -> npt.NDArray[np.uint8]:
    """One drawing of a character: rows by columns of grey."""
    strokes = [_by_hand(_rounded(stroke, drawer.rounds), drawer, random) for stroke in character]
    return _ink(_on_paper(strokes, drawer, random), drawer)


def _rounded(stroke: Points, times: int) -> Points:
    """Corners cut; the ends stay."""
    for _ in range(times):
        if len(stroke) > 2:
            inner = (stroke[:-2] + 2 * stroke[1:-1] + stroke[2:]) / 4
            stroke = np.concatenate((stroke[:1], inner, stroke[-1:]))
    return stroke


def _by_hand(stroke: Points, drawer: Drawer, random: np.random.Generator) -> Points:
    """A stroke put a little aside, larger or smaller and turned a little, and drawn with a tremor."""
    middle = stroke.mean(0)
    turn, scale = random.normal(0, 1.2 * drawer.careless), np.exp(random.normal(0, 1.2 * drawer.careless))
    turned = (stroke - middle) @ _rotation(turn) * scale
    place = np.linspace(0, 1, len(stroke))[:, None]
    phases, sizes = random.uniform(0, 2 * np.pi, (2, _WAVES)), random.normal(0, drawer.tremor, (2, _WAVES))
    waves = [
        (sizes[axis] * np.sin(np.pi * np.arange(1, _WAVES + 1) * place + phases[axis])).sum(1) for axis in range(2)
    ]
    return np.asarray(middle + random.normal(0, drawer.careless, 2) + turned + np.stack(waves, 1))


def _on_paper(strokes: Sequence[Points], drawer: Drawer, random: np.random.Generator) -> list[Points]:
    """Slanted, turned, in the drawer's proportions and somewhere near the middle, in pixels; nothing is cut off."""
    slant, turn = drawer.slant + random.normal(0, 0.05), drawer.turn + random.normal(0, 0.04)
    lean = np.array(((1.0, 0.0), (-slant, 1.0)))  # down is positive, so up leans to the right
    size = np.array((drawer.width, drawer.height)) * np.exp(random.normal(0, 0.05, 2)) * random.uniform(0.8, 1.0)
    leant = [stroke @ lean * size @ _rotation(turn) * _REACH for stroke in strokes]
    everything = np.concatenate(leant)
    low, high = everything.min(0), everything.max(0)
    room = SIZE - 1 - 2 * (_EDGE + drawer.nib)
    shrink = min(1.0, room / max(high - low))
    free = np.maximum((room - (high - low) * shrink) / 2, 0)
    shift = np.clip(random.normal(0, 1.3, 2), -free, free)
    return [(stroke - (low + high) / 2) * shrink + (SIZE - 1) / 2 + shift for stroke in leant]


def _ink(strokes: Sequence[Points], drawer: Drawer) -> npt.NDArray[np.uint8]:
    """Every pixel by its distance from the nearest stroke, with soft edges."""
    starts = np.concatenate([stroke[:-1] for stroke in strokes]).astype(np.float32)
    ways = np.concatenate([np.diff(stroke, axis=0) for stroke in strokes]).astype(np.float32)
    down, right = (_PIXELS[axis][:, None] - starts[:, 1 - axis] for axis in (0, 1))  # of a pixel from each start
    place = np.clip((right * ways[:, 0] + down * ways[:, 1]) / np.maximum((ways**2).sum(1), 1e-9), 0, 1)
    distance = np.hypot(right - place * ways[:, 0], down - place * ways[:, 1])
    across = np.abs(np.sin(np.arctan2(ways[:, 1], ways[:, 0]) - drawer.angle))  # a flat nib is thin along itself
    half = drawer.nib * (1 - drawer.flat * (1 - across))
    ink = np.clip(half + 0.5 - distance, 0, 1).max(1)
    return (255 * ink).round().astype(np.uint8).reshape(SIZE, SIZE)


def _rotation(turn: float) -> npt.NDArray[np.float64]:
    return np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))))
