"""Running text: lines that belong together, cut into pieces line by line as a corpus has them, and put together again.

A row of a corpus that ends with a line feed goes on in the next. A tokenizer sees one row at a time, and may put a
space before it; so whoever joins the pieces of several rows must cut text at its line feeds too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from regard.data.tokenizer import Pieces, Tokenizer
from regard.data.words import Span


def lines_of(text: str) -> list[str]:
    """The lines of a text, each with its line feed; the last has one only if the text ends with it."""
    found = [f"{line}\n" for line in text.split("\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]


def encode_running(tokenizer: Tokenizer, text: str) -> Pieces:
    """A text of any number of lines, cut into pieces."""
    return _joined(tokenizer.encode_batch(lines_of(text) if tokenizer.by_line else [text]))


def read_running(tokenizer: Tokenizer, ids: Sequence[int]) -> Pieces:
    """The text of any ids, such as a model's output, with the place of each of them in it."""
    return _joined(map(tokenizer.read, _by_line(tokenizer, ids) if tokenizer.by_line else [ids]))


def _by_line(tokenizer: Tokenizer, ids: Sequence[int]) -> list[list[int]]:
    """Ids that end with a line feed, again and again, and the rest."""
    found: list[list[int]] = [[]]
    for each in ids:
        found[-1].append(each)
        if tokenizer.decode([each]).endswith("\n"):
            found.append([])
    return found if found[-1] else found[:-1]


def _joined(lines: Iterable[Pieces]) -> Pieces:
    text, ids, spans = "", list[int](), list[Span]()
    for line in lines:
        ids += line.ids
        spans += [(start + len(text), end + len(text)) for start, end in line.spans]
        text += line.text
    return Pieces(text, tuple(ids), tuple(spans))
