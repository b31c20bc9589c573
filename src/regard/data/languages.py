"""Names of languages as people write them: `de`, `deu`, `ger`, `German` and `de-AT` are all German.

A model folder keeps in `languages.json` those it reads and writes, where its corpus named them; what is asked of the
model is held against it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from regard.errors import ModelError, UsageError

ANONYMOUS = ("source", "target")  # what texts are called that have no language
FILE = "languages.json"

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


def languages_text(source: str, target: str) -> str:
    """What a model folder keeps of its languages."""
    return json.dumps({"source": source, "target": target}, ensure_ascii=False) + "\n"


def read_languages(folder: Path) -> tuple[str, str] | None:
    """The languages that the model of a folder reads and writes; None where it does not say."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return str(told["source"]), str(told["target"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f'{path}: expected {{"source": "de", "target": "en"}}; {error!r}.',
            hint="Delete the file: the model then takes any language.",
        ) from error


def asked_of(folder: Path, source: str | None, target: str | None) -> tuple[str | None, str | None]:
    """The languages to open a corpus with for the model of a folder: those asked for, else the model's own.

    Refused where the model has others: it would translate, and badly.
    """
    known = read_languages(folder)
    if known is None:
        return source, target
    if _contrary(source, *known) or _contrary(target, *reversed(known)):
        asked = " ".join(f"{option} {name}" for option, name in (("--from", source), ("--to", target)) if name)
        raise UsageError(
            f"{folder} reads {known[0]} and writes {known[1]}; found {asked}.",
            hint=f"Write --from {known[0]} --to {known[1]}, or leave both out; add --any-language if it is meant.",
        )
    return source or known[0], target or known[1]


def _contrary(asked: str | None, own: str, other: str) -> bool:
    """Is this the language of the other side, or some third one? A name that is no language's is let through."""
    if asked is None or asked == own:
        return False
    codes = code_of(asked), code_of(own)
    return asked == other or (None not in codes and codes[0] != codes[1])
