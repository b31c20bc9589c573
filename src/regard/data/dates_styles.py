"""The ways of writing a date: those of CLDR in some forty languages, and those that people type.

A style writes any date that fits it, and the order of its numbers is never in doubt (see `dates`).
A family is a set of styles: `iso`, `numeric`, `english`, or a language such as `de` or `en_GB`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from itertools import product
from typing import Any

from babel import Locale
from babel.dates import DateTimePattern, parse_pattern

LANGUAGES = (
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en_AU", "en_CA", "en_GB", "en_US", "en_ZA", "es", "et",
    "fi", "fr", "he", "hi", "hu", "id", "is", "it", "ja", "ko", "lt", "lv", "nb", "nl", "pl", "pt", "ro",
    "ru", "sk", "sl", "sv", "sw", "tr", "uk", "vi", "zh", "zh_Hant",
)  # fmt: skip
# Left out: Croatian and Irish, whose months share names with other months elsewhere (listopada is October in
# Croatian and November in Polish); Thai and Persian, which count years by another calendar.

_WIDTHS = ("full", "long", "medium", "short")
_SKELETONS = ("yMd", "yMEd", "yMMdd", "yMMMd", "yMMMEd", "yMMMMd", "yMMMMEd", "GyMMMd")
_NATIVE_DIGITS = {"ar": 0x660, "hi": 0x966, "bn": 0x9E6}
_FIELD = re.compile(r"'[^']*'|([GyMLdEc])\1*")
PIVOT = 69  # two-digit years from here on are of the twentieth century, those below of the twenty-first


@dataclass(frozen=True)
class Style:
    """One way of writing a date."""

    family: str
    write: Callable[[date], str]
    has_short_year: bool = False
    is_month_first: bool = False  # in numbers: fit for days that cannot be months

    def fits(self, day: date) -> bool:
        """Whether this date, so written, can be read in one way only."""
        if self.has_short_year and not 1900 + PIVOT <= day.year < 2000 + PIVOT:
            return False
        return not self.is_month_first or day.day > 12


@lru_cache
def families() -> dict[str, tuple[Style, ...]]:
    """Every style, by family."""
    iso = Style("iso", date.isoformat)
    ours = {"iso": (iso,), "numeric": tuple(_numeric()), "english": tuple(_english())}
    return {**ours, **{language: tuple(_language(language)) for language in LANGUAGES}}


def _language(language: str) -> Iterator[Style]:
    """The styles of CLDR for one language, as they are and in small letters."""
    locale = Locale.parse(language)
    patterns = [locale.date_formats[width] for width in _WIDTHS]
    patterns += [locale.datetime_skeletons[name] for name in _SKELETONS if name in locale.datetime_skeletons]
    for pattern in sorted({str(pattern) for pattern in patterns}):
        found = _readable(pattern)
        if found is None:
            continue
        write = partial(_by_pattern, parse_pattern(pattern), locale)
        yield Style(language, write, *found)
        yield Style(language, partial(_in_small_letters, write), *found)
        if language in _NATIVE_DIGITS:
            yield Style(language, partial(_in_digits, write, _NATIVE_DIGITS[language]), *found)


def _readable(pattern: str) -> tuple[bool, bool] | None:
    """Whether a pattern has a short year and puts a number of the month first; nothing if it is no good."""
    fields = [found[0] for found in _FIELD.finditer(pattern) if found[1]]
    order = "".join(field[0].replace("L", "M") for field in fields if field[0] in "yMLd")
    is_number = any(field in ("M", "MM", "L", "LL") for field in fields)
    has_short_year = "yy" in fields
    if sorted(order) != ["M", "d", "y"] or (has_short_year and order[-1] != "y"):
        return None
    if is_number and order not in ("yMd", "dMy", "Mdy"):
        return None
    return has_short_year, is_number and order == "Mdy"


def _by_pattern(pattern: DateTimePattern, locale: Locale, day: date) -> str:
    """What CLDR writes, with the plain spaces people type and without marks of direction."""
    text: str = pattern.apply(day, locale)
    return text.replace("\u202f", " ").replace("\xa0", " ").replace("\u200f", "")


def _in_small_letters(write: Callable[[date], str], day: date) -> str:
    return write(day).lower()


def _in_digits(write: Callable[[date], str], zero: int, day: date) -> str:
    return write(day).translate({ord("0") + digit: chr(zero + digit) for digit in range(10)})


# What people type. Fields: d 3, dd 03, th 3rd; m 8, mm 08, month August, mon Aug, sept as mon, but Sept;
# y 1992, yy 92; weekday Monday, wkd Mon.
_WEEKDAYS = ("", "{weekday}, ", "{weekday} ", "{wkd}, ", "{wkd} ", "{wkd}. ")
_MONTHS = ("{month}", "{mon}", "{mon}.", "{sept}")
_ANY_YEAR = ("{y}", "{yy}", "'{yy}")
_DAY_FIRST = (
    "{d} {M} {Y}", "{d} {M}, {Y}", "{dd} {M} {Y}", "{th} {M} {Y}", "{th} {M}, {Y}", "{th} of {M} {Y}",
    "{th} of {M}, {Y}", "the {th} of {M} {Y}", "the {th} of {M}, {Y}", "the {th} {M} {Y}", "{d}-{M}-{Y}",
    "{dd}-{M}-{Y}", "{d}.{M}.{Y}", "{d}/{M}/{Y}",
)  # fmt: skip
_MONTH_FIRST = (
    "{M} {d}, {Y}", "{M} {d} {Y}", "{M} {dd}, {Y}", "{M} {dd} {Y}", "{M} {th}, {Y}", "{M} {th} {Y}",
    "{M} the {th}, {Y}", "{M} the {th} {Y}", "{M}-{d}-{Y}", "{M}-{dd}-{Y}", "{M}/{d}/{Y}",
)  # fmt: skip
_YEAR_FIRST = ("{y} {M} {d}", "{y} {M} {th}", "{y}, {M} {d}", "{y}-{M}-{dd}", "{y}/{M}/{dd}")
_CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper)


def _english() -> Iterator[Style]:
    shapes = [(shape, year) for shape in _DAY_FIRST + _MONTH_FIRST for year in _ANY_YEAR]
    shapes += [(shape, "{y}") for shape in _YEAR_FIRST]
    for weekday, (shape, year), month, case in product(_WEEKDAYS, shapes, _MONTHS, _CASES):
        template = weekday + shape.replace("{M}", month).replace("{Y}", year)
        yield Style("english", partial(_by_template, template, case), has_short_year="yy" in year)


def _numeric() -> Iterator[Style]:
    for weekday, mark, year in product(("", "{weekday} ", "{wkd} "), "/-. ", ("{y}", "{yy}")):
        for day, month in (("{d}", "{m}"), ("{dd}", "{mm}")):
            short = year == "{yy}"
            yield _typed(weekday + mark.join((day, month, year)), short)
            yield _typed(weekday + mark.join((month, day, year)), short, is_month_first=True)
            if not short:
                yield _typed(weekday + mark.join((year, month, day)))
    yield _typed("{y}{mm}{dd}")


def _typed(template: str, has_short_year: bool = False, is_month_first: bool = False) -> Style:
    return Style("numeric", partial(_by_template, template, str), has_short_year, is_month_first)


def _by_template(template: str, case: Callable[[str], str], day: date) -> str:
    return case(template.format_map(_fields(day)))


@lru_cache(1_000)
def _fields(day: date) -> dict[str, Any]:
    month, weekday = _ENGLISH_MONTHS[day.month - 1], _ENGLISH_WEEKDAYS[day.weekday()]
    return {
        "d": day.day, "dd": f"{day.day:02}", "th": f"{day.day}{_ordinal(day.day)}",
        "m": day.month, "mm": f"{day.month:02}", "month": month, "mon": month[:3],
        "sept": "Sept" if day.month == 9 else month[:3],
        "y": day.year, "yy": f"{day.year % 100:02}", "weekday": weekday, "wkd": weekday[:3],
    }  # fmt: skip


def _ordinal(day: int) -> str:
    return {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(day, "th")


_ENGLISH_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_ENGLISH_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
