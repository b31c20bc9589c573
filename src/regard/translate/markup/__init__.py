"""HTML translated: its text as lines, and its markup put back around their translations by the words' alignment.

    document = read_document(html)
    document.texts                      # what is to be translated, a line for each run of text between blocks
    document.written(translations)      # the same document in the other language

A sentence that inline tags run through is one line, and is translated whole; each tag then stands around the words
that were written for those it stood around. `<script>`, `<style>`, `<pre>`, `<code>` and what says `translate="no"`
stay as they are.

tokens  a document cut into text, tags and what is kept, in one pass, so that their sum is the document
lines   the lines to translate, each with the tree of its inline tags
place   where the tags of a line go in its translation
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.translate.linked import Linked
from regard.translate.markup.lines import Line, lines_of
from regard.translate.markup.place import written

__all__ = ["Document", "read_document", "translate_document"]


@dataclass(frozen=True)
class Document:
    """What is kept, and the lines that are translated, in their order."""

    parts: tuple[str | Line, ...]

    @property
    def lines(self) -> list[Line]:
        """What is translated."""
        return [part for part in self.parts if isinstance(part, Line)]

    @property
    def texts(self) -> list[str]:
        """The text of each line."""
        return [line.text for line in self.lines]

    def written(self, found: Sequence[Linked]) -> str:
        """The document with a translation in the place of each line."""
        given = iter(found)
        return "".join(part if isinstance(part, str) else written(part, next(given)) for part in self.parts)


def read_document(html: str) -> Document:
    """The lines of a document, and what is around them."""
    return Document(tuple(lines_of(html)))


def translate_document(html: str, translate: Callable[[list[str]], Sequence[Linked]]) -> str:
    """A document translated by a function that translates lines."""
    document = read_document(html)
    return document.written(translate(document.texts))
