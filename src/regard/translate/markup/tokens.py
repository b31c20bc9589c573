"""A document cut into text, tags and what is kept. One pass, whatever it holds: no step looks back.

The standard library's parser needs time that grows with the square of some broken documents, and does not tell where
its tags ended; a server must not take either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "open", "close", "void", "kept"]


def names_of(text: str) -> frozenset[str]:
    """The names of tags that a text lists."""
    return frozenset(text.split())


VOID = names_of("area base br col embed frame hr img input link meta param source track wbr")
RAW = names_of("script style textarea xmp iframe noembed noframes")  # nothing inside them is a tag
KEPT = names_of("pre code svg math")
_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_BETWEEN = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"=?[^\s/>=]*")
_EQUALS = re.compile(r"\s*=\s*")
_VALUE = re.compile(r"[^\s>]*")
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")


@dataclass(frozen=True)
class Token:
    """A part of a document as it stands there. `name` is that of a tag, or of the element that is kept."""

    kind: Kind
    raw: str
    name: str = ""
    untouched: bool = False  # a tag that says that what is inside is not to be translated


def tokens_of(html: str) -> Iterator[Token]:
    """All of a document; an element that is kept is one token."""
    kept: list[Token] = []
    name, depth = "", 0
    for token in _scan(html):
        if depth:
            kept.append(token)
            if token.name == name:
                depth += (token.kind == "open") - (token.kind == "close")
        elif token.kind == "open" and (token.untouched or token.name in KEPT):
            kept, name, depth = [token], token.name, 1
        else:
            yield token
        if kept and not depth:
            yield Token("kept", "".join(each.raw for each in kept), name)
            kept = []
    if kept:  # never closed
        yield Token("kept", "".join(each.raw for each in kept), name)


def _scan(html: str) -> Iterator[Token]:
    at = 0
    while at < len(html):
        found = _TAG.search(html, at)
        start = found.start() if found else len(html)
        if start > at:
            yield Token("text", html[at:start])
        if start == len(html):
            return
        token = _tag(html, start)
        yield token
        at = start + len(token.raw)


def _tag(html: str, start: int) -> Token:
    """The tag or comment that begins here; one that does not end reaches to the end of the document."""
    if html.startswith("<!--", start):
        return Token("kept", html[start : _after(html, "-->", start + 2)])
    closes = html.startswith("</", start)
    named = _NAME.match(html, start + 1 + closes)
    if named is None:  # a declaration, an instruction, or a bogus comment
        return Token("kept", html[start : _after(html, ">", start)])
    name = named[0].lower()
    end, untouched = _end_of_tag(html, named.end())
    raw = html[start:end]
    if not raw.endswith(">") or end < 0:
        return Token("kept", html[start:])
    if closes:
        return Token("close", raw, name)
    if name in RAW:
        last = re.compile(f"</{name}(?=[\\s/>])[^>]*>?", re.IGNORECASE).search(html, end)
        return Token("kept", html[start : last.end() if last else len(html)], name)
    if name in VOID or raw.endswith("/>"):
        return Token("void", raw, name)
    return Token("open", raw, name, untouched)


def _end_of_tag(html: str, at: int) -> tuple[int, bool]:
    """Where a tag ends whose name ended here, and whether an attribute says not to translate; -1: it does not end."""
    untouched = False
    while True:
        at = _matched(_BETWEEN, html, at)
        if at >= len(html):
            return -1, untouched
        if html[at] == ">":
            return at + 1, untouched
        begun, at = at, _matched(_ATTRIBUTE, html, at)
        name, value = html[begun : min(at, begun + 20)].lower(), ""
        equals = _EQUALS.match(html, at)
        if equals is not None:
            at = equals.end()
            if html[at : at + 1] in ("'", '"') and at < len(html):
                last = html.find(html[at], at + 1)
                if last < 0:
                    return -1, untouched
                value, at = html[at + 1 : last], last + 1
            else:
                begun, at = at, _matched(_VALUE, html, at)
                value = html[begun:at]
        untouched |= name == "translate" and value.strip().lower() == "no"
        untouched |= name == "class" and "notranslate" in value.split()


def _matched(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _after(html: str, mark: str, at: int) -> int:
    found = html.find(mark, at)
    return found + len(mark) if found >= 0 else len(html)
