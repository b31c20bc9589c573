"""Names of languages as people write them: `de`, `deu`, `ger`, `German` and `de-AT` are all German."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_PAIR = re.compile(r"([A-Za-z]{2,3}(?:_[A-Za-z]{2,4})?)-([A-Za-z]{2,3}(?:_[A-Za-z]{2,4})?)")


@cache
def _known() -> dict[str, str]:
    """Every code and English name that CLDR knows -> the code it is usually written with."""
    from babel import Locale
    from babel.core import get_global

    names = Locale("en").languages
    known = {name.lower(): code for code, name in names.items()}
    known.update((code, code) for code in names)
    known.update((alias.lower(), code) for alias, code in get_global("language_aliases").items())
    return known


def code_of(name: str) -> str | None:
    """The usual code of a language (`deu`, `de-AT`, `German (Austria)` -> `de`), or nothing where we do not know it."""
    plain = name.lower()
    return _known().get(plain) or _known().get(re.split(r"\s*[-_(]", plain)[0])


def is_language(name: str) -> bool:
    """Whether this is the name or the code of a language."""
    return code_of(name) is not None


def pick(asked: str, there: Iterable[str]) -> str | None:
    """Which of the names that are there is meant: the same one, or the only one of the same language."""
    names = list(there)
    if asked in names:
        return asked
    code = code_of(asked)
    same = [name for name in names if code is not None and code_of(name) == code]
    return same[0] if len(same) == 1 else None


def read_pair(text: str) -> tuple[str, str] | None:
    """The two languages of a piece of a file name such as `de-en`, or nothing."""
    match = _PAIR.fullmatch(text)
    if match is None or not (is_language(match[1]) and is_language(match[2])):
        return None
    return match[1], match[2]
