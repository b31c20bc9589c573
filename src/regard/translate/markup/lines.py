"""The lines of a document: runs of text between blocks, each with the tree of its inline tags.

A tag whose partner is not in the same run, or crosses another, parts the run as a block does: all such tags stay where
they are, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from typing import cast

from regard.translate.markup.tokens import Token, names_of, tokens_of

BLOCKS = names_of(
    """
    address article aside base blockquote body br caption center col colgroup dd details dialog dir div dl dt
    fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li
    link main menu meta nav noscript ol optgroup option p param picture pre search section select source summary
    table tbody td template tfoot th thead title tr track ul video audio canvas object
    """
)
DEEPEST = 50  # inline tags within one another; those inside them part the line
MOST = 1000  # tags and comments within a line; where there are more, all of them part it
SPACE = " \t\n\r\f"
_WORDS = re.compile(r"\w")
_SPACES = re.compile(f"[{SPACE}]+")


@dataclass(frozen=True)
class Atom:
    """Something without text of its own, at a place in the line: `left` and `right` say whether space is beside it."""

    raw: str
    at: int
    left: bool
    right: bool


@dataclass(frozen=True)
class Element:
    """A tag around some characters of the line, and what is inside."""

    open: str
    close: str
    start: int
    end: int
    inside: tuple[Element | Atom, ...]


@dataclass(frozen=True)
class Line:
    """One line to translate; `before` and `after` is the white space around it."""

    text: str
    inside: tuple[Element | Atom, ...] = ()
    before: str = ""
    after: str = ""


@dataclass
class _Open:
    """An element that is being read: `raw` has all of it, in case that there is no text in it."""

    token: Token
    start: int
    words: int
    left: bool
    inside: list[Element | Atom] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)


def lines_of(html: str) -> Iterator[str | Line]:
    """All of a document: what stays, and lines."""
    run: list[Token] = []
    for token in tokens_of(html):
        if token.kind != "text" and token.name in BLOCKS:
            yield from _parted(run)
            yield token.raw
            run = []
        else:
            run.append(token)
    yield from _parted(run)


def _parted(run: Sequence[Token]) -> Iterator[str | Line]:
    """A run of text and inline tags, parted where a tag has no partner."""
    loose, begun = _loose(run), 0
    for place in (*loose, len(run)):
        yield from _line(run[begun:place])
        if place < len(run):
            yield run[place].raw
        begun = place + 1


def _loose(run: Sequence[Token]) -> list[int]:
    """The places of all tags without a partner, and of pairs that have one of these inside."""
    opened, pairs = list[int](), list[tuple[int, int]]()
    names: dict[str, int] = {}  # how many of a name are open
    loose: set[int] = set()
    for place, token in enumerate(run):
        if token.kind == "open":
            opened.append(place)
            names[token.name] = names.get(token.name, 0) + 1
        elif token.kind == "close" and not names.get(token.name):
            loose.add(place)
        elif token.kind == "close":
            while run[opened[-1]].name != token.name:
                names[run[opened[-1]].name] -= 1
                loose.add(opened.pop())
            names[token.name] -= 1
            pairs.append((opened.pop(), place))
            if len(opened) >= DEEPEST:
                loose.update(pairs[-1])
    loose.update(opened)
    tags = [place for place, token in enumerate(run) if token.kind != "text"]
    if len(tags) > MOST:
        return tags
    before = [0]
    for place in range(len(run)):
        before.append(before[-1] + (place in loose))
    for first, last in pairs:
        if before[last] > before[first]:
            loose.update((first, last))
    return sorted(loose)


def _line(run: Sequence[Token]) -> Iterator[str | Line]:
    """One line, if there are words in it; what is before and after all of its words and tags stays there."""
    if not any(token.kind == "text" and _WORDS.search(unescape(token.raw)) for token in run):
        yield "".join(token.raw for token in run)
        return
    counts = [token.kind in ("open", "close") or (token.kind == "text" and bool(token.raw.strip())) for token in run]
    first, last = counts.index(True), len(run) - counts[::-1].index(True)
    yield "".join(token.raw for token in run[:first])
    yield _Reader().read(run[first:last])
    yield "".join(token.raw for token in run[last:])


class _Reader:
    """Reads the tokens of one line."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.length = self.words = 0  # characters so far, and those that are no space
        self.space = True  # is there a space at the end, or nothing yet?
        self.whole = _Open(Token("open", ""), 0, 0, True)
        self.stack = [self.whole]
        self.waiting: list[tuple[list[Element | Atom], int]] = []  # atoms of which the next character is not known yet

    def read(self, run: Sequence[Token]) -> Line:
        """The line of some tokens, whose tags are all in pairs."""
        first, last = (unescape(token.raw) if token.kind == "text" else "" for token in (run[0], run[-1]))
        before, after = first[: len(first) - len(first.lstrip(SPACE))], last[len(last.rstrip(SPACE)) :]
        for token in run:
            for each in self.stack[1:]:
                each.raw.append(token.raw)
            if token.kind == "text":
                self._say(unescape(token.raw))
            elif token.kind == "open":
                self.stack.append(
                    _Open(token, self.length, self.words, self.space and self.length > 0, [], [token.raw])
                )
            elif token.kind == "close":
                self._close(token)
            else:
                self._add(Atom(token.raw, self.length, self.space and self.length > 0, False))
        return Line("".join(self.text).rstrip(" "), tuple(self.whole.inside), before, after)

    def _say(self, text: str) -> None:
        for inside, number in self.waiting if text[:1] and text[0] in SPACE else ():
            inside[number] = replace(cast("Atom", inside[number]), right=True)
        self.waiting = []
        text = _SPACES.sub(" ", text)
        if self.space and text.startswith(" "):
            text = text[1:]
        self.words += len(text) - text.count(" ")
        self.length += len(text)
        self.text.append(text)
        self.space = text.endswith(" ") if text else self.space

    def _close(self, token: Token) -> None:
        done = self.stack.pop()
        if self.words == done.words:  # nothing in it is to be translated: it goes as one
            self._add(Atom("".join(done.raw), done.start, done.left, False))
        else:
            inside = self.stack[-1].inside
            inside.append(Element(done.token.raw, token.raw, done.start, self.length, tuple(done.inside)))

    def _add(self, atom: Atom) -> None:
        inside = self.stack[-1].inside
        inside.append(atom)
        self.waiting.append((inside, len(inside) - 1))
