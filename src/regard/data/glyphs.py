"""Glyphs: characters of invented alphabets, each drawn by twenty hands, 28 x 28 pixels of grey.

Of `glyphs` no split has a class of another: its test asks about characters that nobody has seen, of alphabets that
nobody has seen. Of `glyphs-alphabet`, one alphabet, every split has the same classes, by other hands. Each image is
decided by seed, split and number, and lies as a PNG file in the cache, drawn when it is first asked for. A class is
called by its alphabet and its number in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from regard.data import glyphs_drawers, glyphs_strokes
from regard.data.drawn import Image, image_folder, save_image
from regard.data.glyphs_drawers import draw_drawer, draw_image
from regard.data.glyphs_strokes import Character, draw_alphabet, draw_characters
from regard.data.pair import Pair
from regard.data.splits import SPLITS, check_split

DRAWERS = 20  # of each character of `glyphs`
CHARACTERS = 20  # of an alphabet
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SYLLABLES = len(_CONSONANTS) * len(_VOWELS)
_STEP = 104_729  # a prime: names of alphabets that follow one another are not alike
_HAND, _DRAWING = 1, 2  # what is drawn, beside alphabets


def generate(
    *, split: str, size: int, seed: int = 0, folder: Path | None = None, shared: bool = False
) -> Iterator[Pair]:
    """Draw `size` images; each source is the path of its file, under `folder` (else the cache).

    `shared`: every split has the same classes.
    """
    check_split(split)
    return (_example(split, seed, number, shared, folder) for number in range(size))


def _example(split: str, seed: int, number: int, shared: bool, folder: Path | None) -> Pair:
    name = "glyphs-alphabet" if shared else "glyphs"
    home = image_folder(name, folder, __file__, glyphs_drawers.__file__, glyphs_strokes.__file__)
    alphabet, character, hand = _place(split, number, shared)
    label = f"{name_of(alphabet)}-{character + 1:02}"
    path = home / f"seed-{seed}" / split / label / f"{hand:04}.png"
    if not path.is_file():
        save_image(draw(split, seed, number, shared=shared)[0], path)
    return Pair(str(path), label)


def draw(split: str, seed: int, number: int, *, shared: bool = False) -> tuple[Image, str]:
    """One image and its label."""
    alphabet, character, hand = _place(split, number, shared)
    strokes = characters_of(seed, alphabet)[character]
    key = (abs(seed), int(seed < 0), SPLITS.index(split), alphabet, hand)
    drawer = draw_drawer(np.random.default_rng((*key, _HAND)))
    image = draw_image(strokes, drawer, np.random.default_rng((*key, _DRAWING, character)))
    return image, f"{name_of(alphabet)}-{character + 1:02}"


def _place(split: str, number: int, shared: bool) -> tuple[int, int, int]:
    """The alphabet, the character in it and the hand of an image."""
    if shared:
        return 0, number % CHARACTERS, number // CHARACTERS
    character, hand = divmod(number, DRAWERS)
    alphabet, character = divmod(character, CHARACTERS)
    return alphabet * len(SPLITS) + SPLITS.index(split), character, hand


@lru_cache(maxsize=64)
def characters_of(seed: int, alphabet: int) -> tuple[Character, ...]:
    """The characters of an alphabet."""
    random = np.random.default_rng((abs(seed), int(seed < 0), alphabet))
    return tuple(draw_characters(draw_alphabet(random), CHARACTERS, random))


def name_of(alphabet: int) -> str:
    """What an alphabet is called; no two are called the same."""
    number = alphabet * _STEP % _SYLLABLES**3
    syllables = []
    for _ in range(3):
        number, syllable = divmod(number, _SYLLABLES)
        syllables.append(_CONSONANTS[syllable % len(_CONSONANTS)] + _VOWELS[syllable // len(_CONSONANTS)])
    return "".join(syllables).capitalize()
