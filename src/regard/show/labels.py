"""Words as labels: in one line, and no longer than there is room for."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size


def cut(word: str, width: int) -> str:
    """A word in at most `width` cells, in one line; nothing at all is shown by a sign."""
    word = " ".join(word.split()) or "␠"
    return word if cell_len(word) <= width else set_cell_size(word, width - 1) + "…"
