"""Where the tags of a line go in its translation.

A tag goes around the target words that were written for the words it stood around: the stretch of them that has most
of its own and fewest of others. What has no words goes where it parts the translation as it parted the line. Tags stay
within the tags that they were in, each exactly once.

Letters: T words of the target, S words of the source.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from regard.translate.linked import Linked, Span
from regard.translate.markup.lines import SPACE, Atom, Element, Line

UNLINKED = -0.01  # a word that is linked to none is taken along where it stands between two that are wanted


@dataclass(frozen=True)
class Placed:
    """A tag or something without text, and the target words that it stands around: [first, last)."""

    item: Element | Atom
    first: int
    last: int


def written(line: Line, found: Linked) -> str:
    """The translation of a line with its markup."""
    writer = _Writer(line, found)
    writer.write(line.inside, (0, len(found.source)), (0, len(found.target)), (0, len(found.text)))
    return line.before + "".join(writer.parts) + line.after


class _Writer:
    """Writes one line."""

    def __init__(self, line: Line, found: Linked) -> None:
        self.line, self.found = line, found
        self.starts = [start for start, _ in found.source]
        self.ends = [end for _, end in found.source]
        self.parts: list[str] = []
        self.cursor = 0  # of the translation, so far are its characters written

    def write(self, inside: Sequence[Element | Atom], own: Span, words: Span, place: Span) -> None:
        """What is inside of a tag that has `own` source words, and goes around these target words and characters."""
        for placed in self._placed(inside, own, words):
            if isinstance(placed.item, Atom):
                self._write_atom(placed.item, placed.first, words, place)
                continue
            start, end = self._characters(placed.item, placed, words, place)
            self._write_text(start)
            self.parts.append(placed.item.open)
            self.write(placed.item.inside, self._words(placed.item), (placed.first, placed.last), (start, end))
            self.parts.append(placed.item.close)
        self._write_text(place[1])

    def _placed(self, inside: Sequence[Element | Atom], own: Span, words: Span) -> list[Placed]:
        """In the order in which they are written."""
        free = [True] * (words[1] - words[0])
        around: list[Placed] = []
        points = list[tuple[int, Element | Atom]]()
        for order, item in enumerate(inside):
            stretch = self._stretch(item, own, words, free) if isinstance(item, Element) else None
            if stretch is None:
                points.append((order, item))
                continue
            free[stretch[0] - words[0] : stretch[1] - words[0]] = [False] * (stretch[1] - stretch[0])
            around.append(Placed(item, *stretch))
        taken = [(each.first, each.last) for each in around]
        for _, item in points:
            at = self._point(item, own, words, taken)
            around.append(Placed(item, at, at))
        return sorted(around, key=lambda each: (each.first, each.last))  # stable: those of one place in their order

    def _stretch(self, item: Element, own: Span, words: Span, free: Sequence[bool]) -> Span | None:
        """The target words of a tag: of all stretches that are free, that with most words of its own."""
        first, last = self._words(item)
        if (first, last) == own and all(free) and free:
            return words
        best, found, total, begun = 0.0, None, 0.0, words[0]
        for t in range(*words):
            link = self.found.best[t]
            if not free[t - words[0]]:
                total, begun = 0.0, t + 1
                continue
            total += 1.0 if first <= link < last else UNLINKED if link < 0 else -1.0
            if total >= best and total > 0:
                best, found = total, (begun, t + 1)
            if total < 0:
                total, begun = 0.0, t + 1
        return found or self._likeliest(first, last, words, free)

    def _likeliest(self, first: int, last: int, words: Span, free: Sequence[bool]) -> Span | None:
        """No word is linked to those of the tag: the free one that looked there most."""
        looked = self.found.weights[words[0] : words[1], first:last].sum(-1) * free
        if not looked.size or not looked.max() > 0:
            return None
        at = words[0] + int(looked.argmax())
        return at, at + 1

    def _point(self, item: Element | Atom, own: Span, words: Span, taken: Sequence[Span]) -> int:
        """Before which target word something goes that has none: where it parts fewest words from their links."""
        at = item.at if isinstance(item, Atom) else item.start
        before = bisect_left([(start + end) / 2 for start, end in self.found.source], at) if self.found.source else 0
        crossed = sum(0 <= self.found.best[t] < before for t in range(*words))
        costs = [crossed]
        for t in range(*words):
            link = self.found.best[t]
            crossed += 0 if link < 0 else 1 if link >= before else -1
            costs.append(crossed)
        inside = {place for first, last in taken for place in range(first + 1, last)}
        allowed = [place for place in range(words[0], words[1] + 1) if place not in inside]
        least = min(costs[place - words[0]] for place in allowed)
        same = [place for place in allowed if costs[place - words[0]] == least]
        leans = before <= own[0] or (before < own[1] and isinstance(item, Atom) and not item.left)
        return same[0] if leans else same[-1]

    def _words(self, item: Element) -> Span:
        """The source words that a tag has the greater part of; of none, those that it has some of."""
        first, last = bisect_right(self.ends, item.start), bisect_left(self.starts, item.end)
        found = self.found.source
        mostly = [
            s
            for s in {first, last - 1}
            if first <= s < last
            and 2 * (min(item.end, found[s][1]) - max(item.start, found[s][0])) < found[s][1] - found[s][0]
        ]
        inner = first + (first in mostly), last - (last - 1 in mostly)
        return inner if inner[0] < inner[1] else (first, max(first, last))

    def _characters(self, item: Element, placed: Placed, words: Span, place: Span) -> Span:
        """Where a tag opens and closes in the translation: punctuation stays outside, if it was outside."""
        if placed.first == placed.last:
            at = min(max(self._after(placed.first, words, place), self.cursor), place[1])
            return at, at
        start, end = self.found.target[placed.first][0], self.found.target[placed.last - 1][1]
        text, line = self.found.text, self.line.text
        if _is_mark(line[item.start - 1 : item.start]):
            while start < end - 1 and _is_mark(text[start]):
                start += 1
        if _is_mark(line[item.end : item.end + 1]):
            while end > start + 1 and _is_mark(text[end - 1]):
                end -= 1
        start = min(max(start, place[0], self.cursor), place[1])
        return start, max(start, min(end, place[1]))

    def _after(self, word: int, words: Span, place: Span) -> int:
        """The character after the word before this one."""
        return self.found.target[word - 1][1] if word > words[0] else place[0]

    def _write_atom(self, atom: Atom, word: int, words: Span, place: Span) -> None:
        self._write_text(min(self._after(word, words, place), place[1]))
        if atom.left and self.parts and self.parts[-1][-1:] not in SPACE:
            self.parts.append(" ")
        self.parts.append(atom.raw)
        if self.cursor >= place[1]:
            return
        space, after = self._next()
        if not space and (atom.right or (atom.left and not _is_mark(after))):
            self.parts.append(" ")
        elif space and atom.left and not atom.right and _is_mark(after):
            self.cursor += 1  # as there, the mark follows at once

    def _next(self) -> tuple[bool, str]:
        """Whether space comes next in the translation, and the first character that is none."""
        rest = self.found.text[self.cursor : self.cursor + 2]
        return (True, rest[1:]) if rest[:1] == " " else (False, rest[:1])

    def _write_text(self, end: int) -> None:
        if end > self.cursor:
            self.parts.append(escape(self.found.text[self.cursor : end], quote=False).replace("\xa0", "&nbsp;"))
            self.cursor = end


def _is_mark(character: str) -> bool:
    """Is it punctuation, and neither a letter, a digit nor space?"""
    return bool(character) and not character.isalnum() and not character.isspace()
