"""Texts as people hand them over: one, or many; anything else is refused by its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from regard.errors import UsageError


def texts_of(name: str, given: Any) -> list[str]:
    """One text or many as a list; `name` is what the caller calls them."""
    if isinstance(given, str):
        return [_text(name, given)]
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise UsageError(f"{name}: expected a text or a list of texts; found {_told(given)}.", hint=_advice(given))
    return [_text(f"{name}[{place}]", each) for place, each in enumerate(given)]


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise UsageError(f"{name}: expected a text; found {_told(given)}.", hint=_advice(given))
    try:
        given.isascii() or given.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{name}: expected text that UTF-8 can hold; found {given[error.start]!r} at place {error.start + 1}.",
            hint="Half a character came of a wrong decoding: read the file as UTF-8.",
        ) from error
    return given


def _told(given: Any) -> str:
    return "None" if given is None else f"{type(given).__name__} {given!r:.40}"


def _advice(given: Any) -> str | None:
    if isinstance(given, bytes):
        return 'Decode them first: line.decode("utf-8").'
    return 'Write "" for a line without text.' if given is None else None
