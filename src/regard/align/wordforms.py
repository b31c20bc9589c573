"""Lines as the words that a statistical aligner counts.

Words are those of an alignment: what stands between spaces, or pieces where a script has none. They are counted
without case and without the punctuation around them, so that "Hund," and "hund" are one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from regard.data.tokenizer import Tokenizer

_edges = re.compile(r"^\W+|\W+$")


def word_forms(tokenizer: Tokenizer, lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of each line, as they are counted."""
    for line in lines:
        yield [form(line[start:end]) for start, end in tokenizer.words(line)]


def form(word: str) -> str:
    """A word as it is counted."""
    return _edges.sub("", word.casefold()) or word
