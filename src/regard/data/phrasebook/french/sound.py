"""What French joins when words meet: elision (l'eau, qu'il) and contraction (du, aux).

Both are passes over the finished sentence, so that no other rule needs to think of them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from regard.data.phrasebook.lexicon import table
from regard.data.phrasebook.meaning import Word

ELIDED = {
    "le": "l'",
    "la": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "ce": "c'",
    "puisque": "puisqu'",
}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
ASPIRATE = frozenset(table("french/aspirate"))


def vowel_sound(word: str) -> bool:
    """Whether a word begins with a vowel or a mute h: eau, homme, État, œuf; not héros, huit, onze."""
    if word in ASPIRATE:
        return False
    first = unicodedata.normalize("NFD", word[0].lower())[0]
    return first in "aeiouhœ"


def elide(words: list[Word]) -> list[Word]:
    """le ami -> l' ami, que il -> qu' il, si il -> s' il."""
    joined = list(words)
    for place, (word, following) in enumerate(pairwise(words)):
        if word.text in ELIDED and vowel_sound(following.text):
            joined[place] = word._replace(text=ELIDED[word.text])
        elif word.text == "si" and following.text in ("il", "ils"):
            joined[place] = word._replace(text="s'")
    return joined


def contract(words: list[Word]) -> list[Word]:
    """de le -> du, à les -> aux: with the article only, never with the pronoun (essayer de le voir)."""
    joined: list[Word] = []
    for word in words:
        before = joined[-1] if joined else None
        if before is not None and (before.text, word.text) in CONTRACTED and is_article(word):
            text = CONTRACTED[before.text, word.text]
            joined[-1] = Word(text, before.sure + word.sure, before.near + word.near)
        else:
            joined.append(word)
    return joined


def is_article(word: Word) -> bool:
    """Whether the word is a determiner."""
    return any(role == "determiner" for _, role in word.sure)


def plain(text: str) -> str:
    """Ordinary typography: nothing after an apostrophe, no space before a comma or a full stop."""
    return re.sub(r"(?<=') | (?=[,.])", "", text)
