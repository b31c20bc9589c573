"""Words of a raw line: what counts as one, and which word a piece belongs to.

A word is what `text.split()` gives. In scripts that are written without spaces (Chinese characters, kana,
Thai, Lao, Khmer, Burmese) that would be a whole sentence, so there every piece of the tokenizer is a word of
its own; unless somebody has cut the line into words already, as gold links want it: `is_spaced` tells. A line of
nothing but white space is one word.

White space belongs to the word after it (at the end of a line, to the word before), so that every piece
belongs to exactly one word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

Span = tuple[int, int]  # first character and the one after the last, counted in the raw line

# What Python's str.split() cuts at; `\s` of regular expressions differs from it, so it is spelled out.
WHITESPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" \
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # fmt: skip

# Blocks of scripts that are written without spaces between words: those whose words are a few letters long,
SHORT = (
    (0x3005, 0x3007),  # repetition mark of Chinese characters
    (0x3040, 0x30FF),  # hiragana, katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Chinese characters
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width katakana
    (0x20000, 0x323AF),
)
# and those that spell words out, with marks above and below.
LONG = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
)
UNSPACED = LONG + SHORT
# The most letters that the words of a line have on average where spaces part them. Words have 1.6 to 2.3 in Chinese
# and Japanese, 4 to 7 in the others; what stands between the few spaces of a raw sentence has many more.
LONGEST_SHORT, LONGEST_LONG = 3, 8


def _class(blocks: Sequence[Span]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in blocks)


_short, _long = re.compile(f"[{_class(SHORT)}]"), re.compile(f"[{_class(LONG)}]")
_unspaced = re.compile(f"[{_class(UNSPACED)}]")
_written_on = re.compile(
    _unspaced.pattern + "[\u3002\u3001\uff0c\uff0e\uff01\uff1f\uff61\uff64]"
)  # full stop, comma ...
_word = re.compile(rf"[^{WHITESPACE}]+")


def split_words(line: str) -> list[Span]:
    """Where the words of `line.split()` stand."""
    return [found.span() for found in _word.finditer(line)]


def characters(line: str) -> list[Span]:
    """Where the characters of a line stand: the pieces of a line for whoever has no tokenizer."""
    return [(place, place + 1) for place in range(len(line))]


def has_unspaced(line: str) -> bool:
    """Does a line hold letters of a script that is written without spaces between words?"""
    return _unspaced.search(line) is not None


def is_spaced(line: str) -> bool:
    """Do spaces part the words of a line?

    Where a script has no spaces of its own they do if somebody cut the line: a space stands between two words of the
    script, no full stop or comma is written onto one, and they are as short as words are. `私 は 東京 へ 行く 。` is
    cut, `私は東京へ行く。` and `私は Python が好き` are not.
    """
    if not has_unspaced(line):
        return True
    words = line.split()
    between = any(has_unspaced(one) and has_unspaced(other) for one, other in pairwise(words))
    return (
        between
        and not _written_on.search(line)
        and _mean(_short, words) <= LONGEST_SHORT
        and _mean(_long, words) <= LONGEST_LONG
    )


def are_spaced(lines: Iterable[str]) -> bool:
    """Do spaces part the words of most lines, of those that could be written without?"""
    told = [is_spaced(line) for line in lines if has_unspaced(line)]
    return 2 * sum(told) >= len(told)


def words_of(line: str, pieces: Sequence[Span], spaced: bool | None = None) -> list[Span]:
    """Where the words of a line stand, given the spans of its pieces; `spaced` where `is_spaced` is not to decide."""
    words = split_words(line)
    if not words:
        return [(0, len(line))] if line else []
    if is_spaced(line) if spaced is None else spaced:
        return words
    starts = [_first_letter(line, piece) for piece in pieces]
    cuts = {cut for cut in starts if 0 < cut < len(line) and _unspaced.search(line, cut - 1, cut + 1)}
    return [part for word in words for part in _cut(word, cuts)]


def owners(line: str, pieces: Sequence[Span], words: Sequence[Span]) -> list[int]:
    """The word that each piece belongs to; it never goes backwards."""
    starts = [start for start, _ in words]
    ends = [end for _, end in words]
    last = len(words) - 1
    found: list[int] = []
    for piece in pieces:
        start, end = piece
        if start == end and found and start > 0:  # the rest of a character whose first byte came before
            found.append(found[-1])
            continue
        place = _first_letter(line, piece)
        inside = bisect_right(starts, place) - 1
        owner = inside if inside >= 0 and place < ends[inside] else inside + 1
        found.append(min(owner, last))
    return found


def _first_letter(line: str, piece: Span) -> int:
    """The first character of a piece that is no white space; the piece's end where there is none."""
    start, end = piece
    while start < end and line[start] in WHITESPACE:
        start += 1
    return start


def _mean(letters: re.Pattern[str], words: Sequence[str]) -> float:
    """How many such letters a word has on average, of those that have any."""
    counts = [count for word in words if (count := len(letters.findall(word)))]
    return sum(counts) / len(counts) if counts else 0.0


def _cut(word: Span, cuts: set[int]) -> list[Span]:
    start, end = word
    places = [start, *sorted(cut for cut in cuts if start < cut < end), end]
    return list(pairwise(places))
