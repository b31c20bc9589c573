"""Dates as people write them, to ISO 8601: `Friday, 3rd of May '92` to `1992-05-03`.

Years 1900 to 2099 of the Gregorian calendar, in the languages of CLDR (see `dates_styles`), as people type
them in English, in numbers, and in ISO itself. **The source decides the target**; where a reading could be in
doubt these rules hold:

- Numbers are day, month, year: `3/8/1992` is the third of August, whether with `/`, `-`, `.` or spaces.
- Month, day, year in numbers is written only where the day is above 12, so that it shows: `8/25/1992`.
- A number of four digits in the first place is the year, and month and day follow: `1992/8/3`, `19920803`.
- A year of two digits stands last, and 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068.

A calendar day belongs to one split, in whatever way it is written. No line comes twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, timedelta
from functools import lru_cache
from random import Random

from regard.data.dates_styles import Style, families
from regard.data.pair import Pair
from regard.data.splits import check_split, draw_distinct, split_of
from regard.errors import UnknownName

FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
_WEIGHTS = {"english": 40, "numeric": 15, "iso": 1}  # a language has weight 1


def generate(*, split: str, size: int, seed: int = 0, only: Collection[str] | None = None) -> Iterator[Pair]:
    """Draw `size` distinct pairs, of all families of styles or only of some."""
    check_split(split)
    known = families()
    chosen = list(known) if only is None else list(only)
    for name in chosen:
        if name not in known:
            raise UnknownName("family of dates", name, known)
    random = Random(f"dates {split} {seed}")
    days = _days(split)
    weights = [_WEIGHTS.get(name, 1) for name in chosen]

    def draw() -> Pair | None:
        (family,) = random.choices(chosen, weights)
        style, day = random.choice(known[family]), random.choice(days)
        return write(style, day)

    return draw_distinct(draw, size)


def write(style: Style, day: date) -> Pair | None:
    """The pair of a day written in a style; nothing where it could be misread."""
    return Pair(style.write(day), day.isoformat()) if style.fits(day) else None


@lru_cache
def _days(split: str) -> list[date]:
    """The days of a split."""
    days = (FIRST + timedelta(number) for number in range((LAST - FIRST).days + 1))
    return [day for day in days if split_of(day.isoformat()) == split]
