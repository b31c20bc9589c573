"""Words as labels: in one line, no longer than there is room for, and without anything that a terminal obeys."""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len, set_cell_size

# What a terminal would obey instead of showing it: control characters (as their pictures, where Unicode has one) and
# those that turn the direction of what follows.
_OBEYED = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_OBEYED |= dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
ISOLATE, RELEASE = "\u2068", "\u2069"  # between them, text runs in its own direction and changes nothing around it


def readable(text: str) -> str:
    """Text in one line that a terminal only shows."""
    return " ".join(text.split()).translate(_OBEYED)


def cut(word: str, width: int) -> str:
    """A word in at most `width` cells, in one line; nothing at all is shown by a sign."""
    word = readable(word) or "␠"
    return word if cell_len(word) <= width else set_cell_size(word, width - 1) + "…"


def runs_left(text: str) -> bool:
    """Has the text letters that are written from right to left?"""
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)


def isolate(text: str) -> str:
    """Text whose direction does not reach what stands around it; as it is where it runs from left to right."""
    return f"{ISOLATE}{text}{RELEASE}" if runs_left(text) else text
