"""Which corpora are plain text: one side of a row holds a line of it, the other nothing."""

from __future__ import annotations

from regard.data.rows import Row

NOTHING = "nothing"
LINES, DOCUMENTS = "lines", "documents"  # what a file may be said to hold, in the place of a language


def is_plain(source: str, target: str) -> bool:
    """Whether these sides of a corpus are text and nothing: no languages, no labels."""
    return {source, target} == {NOTHING, "text"}


def text_of(row: Row) -> str:
    """The text of a row, whichever side it stands on."""
    return row.target or row.source
