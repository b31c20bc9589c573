"""Pairs of sentences with gold word links, made by a grammar of our own.

A meaning is drawn at random, each language speaks it, and words that say the same thing are linked.
The README beside this file tells how it works and how a speaker extends it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from random import Random

from regard.data.pair import Pair
from regard.data.phrasebook import english
from regard.data.phrasebook.generate import Author
from regard.data.phrasebook.link import links
from regard.data.phrasebook.meaning import Sentence, Word
from regard.errors import UnknownName, UsageError

__all__ = ["LANGUAGES", "SPLITS", "generate", "pair", "plain"]

LANGUAGES = {"en": "english", "fr": "french", "de": "german"}
SPLITS = {"train": range(0, 90), "val": range(90, 95), "test": range(95, 100)}  # shares in a hundred
TRIES = 20_000  # sentences drawn in a row without a new one before we give up


def generate(
    target: str, *, size: int, seed: int = 0, split: str = "train", shortest: int = 3, longest: int = 60
) -> Iterator[Pair]:
    """`size` pairs from English to `target` ("fr" or "de") with gold links, the same for the same seed.

    No English sentence comes twice, and none is in two splits, whatever the seed. `shortest` and `longest`
    bound the number of English words, the final mark counted.
    """
    if target not in LANGUAGES or target == "en":
        raise UnknownName("phrasebook language", target, set(LANGUAGES) - {"en"})
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if size < 0 or not 3 <= shortest <= longest <= 60:
        raise UsageError(
            f"expected size >= 0 and 3 <= shortest <= longest <= 60; found size {size}, "
            f"shortest {shortest}, longest {longest}."
        )
    rng = Random(f"phrasebook {seed} {split}")
    return draw(realiser(target), size, rng, SPLITS[split], (shortest, longest))


def draw(
    speak: Callable[[Sentence], list[Word]], size: int, rng: Random, share: range, bounds: tuple[int, int]
) -> Iterator[Pair]:
    """The sentences of one split, as they come."""
    author = Author(rng)
    shortest, longest = bounds
    seen: set[int] = set()
    tries = 0
    while len(seen) < size:
        tries += 1
        if tries > TRIES:
            raise UsageError(
                f"found only {len(seen)} distinct sentences of {shortest} to {longest} words.",
                hint="Ask for fewer, or allow longer ones.",
            )
        wanted = shortest + round((longest - shortest) * rng.betavariate(1.4, 5.0))
        sentence = author.sentence(wanted)
        words = english.realise(sentence)
        text = " ".join([word.text for word in words])
        key = zlib.crc32(text.encode())
        if key % 100 not in share or key in seen or not shortest <= len(words) <= longest:
            continue
        seen.add(key)
        tries = 0
        yield example(words, text, speak(sentence))


def pair(sentence: Sentence, target: str) -> Pair:
    """One meaning in English and in `target`, with its gold links."""
    words = english.realise(sentence)
    return example(words, " ".join(word.text for word in words), realiser(target)(sentence))


def example(source: list[Word], text: str, target: list[Word]) -> Pair:
    """The pair of two spoken sentences."""
    sure, possible = links(source, target)
    return Pair(text, " ".join([word.text for word in target]), sure, possible)


def plain(text: str, language: str) -> str:
    """The ordinary typography of a generated sentence: `l' eau .` becomes `l'eau.`"""
    if language not in LANGUAGES:
        raise UnknownName("phrasebook language", language, LANGUAGES)
    said: str = import_module(f"{__name__}.{LANGUAGES[language]}").plain(text)
    return said


def realiser(language: str) -> Callable[[Sentence], list[Word]]:
    """The function that speaks a language. Languages are loaded when asked for."""
    speak: Callable[[Sentence], list[Word]] = import_module(f"{__name__}.{LANGUAGES[language]}").realise
    return speak
