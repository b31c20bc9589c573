"""Dates: one reading each, the stated rules, many languages, and splits that share no day."""

import re
from collections import Counter
from datetime import date

import pytest

from regard.data.dates import FIRST, LAST, generate
from regard.data.dates_styles import LANGUAGES, families
from regard.errors import UnknownName, UsageError

SAMPLE = list(generate(split="train", size=10_000, seed=1))


def test_a_source_has_one_target():
    """Every style but the typed English ones on all days that could be months, and a large sample of all."""
    targets: dict[str, str] = {pair.source: pair.target for pair in SAMPLE}
    styles = [style for name, family in families().items() for style in family if name != "english"]
    for day in (date(2012, month, day) for month in range(1, 13) for day in (*range(1, 13), 20, 28)):
        target = day.isoformat()
        for source in (style.write(day) for style in styles if style.fits(day)):
            assert targets.setdefault(source, target) == target, source


def test_english_styles_have_one_reading():
    """The years are such that a short one could be a day."""
    targets: dict[str, str] = {}
    for day in (date(year, month, 2 * month) for year in (1992, 2012, 2024) for month in range(1, 13)):
        target = day.isoformat()
        for source in {style.write(day).lower() for style in families()["english"] if style.fits(day)}:
            assert targets.setdefault(source, target) == target, source


def read_numbers(text: str) -> str:
    """The rules of the module's docstring, read the other way."""
    numbers = re.findall(r"\d+", text)
    if len(numbers) == 1:
        return date(int(text[:4]), int(text[4:6]), int(text[6:])).isoformat()
    if len(numbers[0]) == 4:
        year, month, day = map(int, numbers)
    else:
        day, month, year = map(int, numbers)
        if month > 12:
            day, month = month, day
    if year < 100:
        year += 1900 if year >= 69 else 2000
    return date(year, month, day).isoformat()


def test_numbers_follow_the_stated_rules():
    pairs = list(generate(split="test", size=5_000, only=["numeric", "iso"]))
    assert [read_numbers(pair.source) for pair in pairs] == [pair.target for pair in pairs]
    assert any(re.match(r"[1-9]/(1[3-9]|[23]\d)/", pair.source) for pair in pairs)  # month first is there


@pytest.mark.parametrize(
    "text",
    [
        "Sunday, 3 May 1992", "Sunday 3rd May 1992", "the 3rd of may 1992", "May 3, 1992", "3.may.1992",
        "MAY THE 3RD, 1992", "3-May-1992", "3/May/92", "3 May '92", "sun. may 3rd 92", "1992 May 3",
        "SUN, MAY 03 1992",
    ],
)  # fmt: skip
def test_people_type_them_so(text: str):
    day = date(1992, 5, 3)
    assert text in {style.write(day) for style in families()["english"] if style.fits(day)}


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("de", "Sonntag, 3. Mai 1992"), ("fr", "dimanche 3 mai 1992"), ("ru", "3 мая 1992 \u0433."),
        ("ja", "1992年5月3日"), ("el", "3 Μαΐου 1992"), ("hi", "३ मई १९९२"), ("ar", "٣ مايو ١٩٩٢"),
        ("hu", "1992. május 3."), ("he", "3.5.1992"),
        ("numeric", "3/5/92"), ("numeric", "03-05-1992"), ("numeric", "19920503"), ("iso", "1992-05-03"),
    ],
)  # fmt: skip
def test_languages_write_them_so(family: str, text: str):
    day = date(1992, 5, 3)
    assert text in {style.write(day) for style in families()[family] if style.fits(day)}


def test_ordinals():
    written = {day: {s.write(date(1992, 1, day)) for s in families()["english"]} for day in range(1, 32)}
    right = "1st 2nd 3rd 4th 10th 11th 12th 13th 14th 20th 21st 22nd 23rd 24th 29th 30th 31st"
    assert all(f"the {day} of January 1992" in written[int(day[:-2])] for day in right.split())


def test_what_could_be_misread_is_not_written():
    def written(day: date) -> set[str]:
        return {style.write(day) for style in families()["numeric"] if style.fits(day)}

    assert "5/3/1992" not in written(date(1992, 5, 3)) and "5/13/1992" in written(date(1992, 5, 13))
    assert "3/5/69" in written(date(1969, 5, 3)) and "3/5/68" in written(date(2068, 5, 3))
    early, late = written(date(1968, 5, 3)), written(date(2069, 5, 3))
    assert not any(re.search(r"\D6[89]$", text) for text in early | late)


def test_at_least_twenty_languages_and_the_whole_range():
    assert len({language.split("_")[0] for language in LANGUAGES}) >= 20
    years = {int(pair.target[:4]) for pair in SAMPLE}
    assert years == set(range(FIRST.year, LAST.year + 1))
    assert {pair.target[5:7] for pair in SAMPLE} == {f"{month:02}" for month in range(1, 13)}


def test_targets_are_dates_and_lines_are_single():
    for pair in SAMPLE:
        assert date.fromisoformat(pair.target).isoformat() == pair.target
        assert pair.source == pair.source.strip() and "\n" not in pair.source
    assert max(Counter(pair.source for pair in SAMPLE).values()) == 1


def test_no_day_is_in_two_splits():
    days = {
        split: {pair.target for seed in (0, 1) for pair in generate(split=split, size=1_500, seed=seed)}
        for split in ("train", "val", "test")
    }
    assert not days["train"] & days["val"] and not days["train"] & days["test"]
    assert not days["val"] & days["test"]


def test_the_seed_decides_and_more_goes_on():
    first = list(generate(split="val", size=50, seed=3))
    assert list(generate(split="val", size=90, seed=3))[:50] == first
    assert list(generate(split="val", size=50, seed=4)) != first


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match="no family of dates is called 'germn'"):
        generate(split="train", size=1, only=["germn"])
    with pytest.raises(UnknownName, match="no split is called 'dev'"):
        generate(split="dev", size=1)
    with pytest.raises(UsageError, match="10000 different lines were asked for; there are only about 36"):
        list(generate(split="test", size=10_000, only=["iso"]))
