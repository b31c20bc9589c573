"""What can be the matter with the content of a corpus: one small function for each kind of warning.

Each looks at what was gathered of a split (`survey`) and yields a case: the finding, and the places of the
pairs that show it. Their texts are filled in afterwards, all in one more pass over the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from regard.data.profile import known_share, looks_like
from regard.data.report import SHOWN, Finding, error, shorten, warning
from regard.data.rows import Row
from regard.data.survey import ODD, SideSurvey, Survey

_LONG, _TIMES_MEDIAN = 500, 10  # characters beyond which a line may be too long, and times the median
_RATIO, _SHORT = 3.0, 30  # how far lengths may part from the usual ratio; in short lines they may anyway
_UNKNOWN_WORDS = 0.25  # share of the running words of a held-out split that train never saw
_UNKNOWN_CHARACTERS = 0.001
_SWAPPED, _FITTING = 1.5, 0.2  # how much better two sides fit train crosswise than straight, and how well

Places = Iterable[int] | npt.NDArray[np.int64]


@dataclass(frozen=True)
class Case:
    """A finding, and the places in its split of the pairs that show it."""

    finding: Finding
    split: str = ""
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class Languages:
    """The two languages of a corpus."""

    source: str
    target: str


def warnings(way: Languages, surveys: Mapping[str, Survey]) -> Iterator[Case]:
    """Every warning about the content of a corpus."""
    train = surveys.get("train")
    for survey in surveys.values():
        yield from _empty_lines(survey)
        yield from odd_characters(survey)
        yield from _too_long(survey)
        yield from _uneven(survey)
        yield from duplicates(survey)
        if train is not None and survey is not train:
            yield from overlap(train, survey)
            yield from unknown(way.source, train.source, survey.source, survey.split)
            yield from unknown(way.target, train.target, survey.target, survey.split)
            yield from _swapped_split(way, train, survey)
        yield from _wrong_languages(way, survey)


def _empty_lines(survey: Survey) -> Iterator[Case]:
    found = survey.empty
    if found.count == survey.pairs:
        yield Case(error("empty-lines", "every pair has an empty side.", survey.split))
    elif found.count:
        advice = "Nothing can be learnt from them: take both lines out."
        message = f"{of_all(found.count, survey)} have an empty side."
        yield case("empty-lines", message, survey, found.places, advice)


def odd_characters(survey: Survey) -> Iterator[Case]:
    """Control characters and marks of lost ones."""
    found = survey.odd
    if found.count:
        advice = "They often come from a wrong conversion: compare these lines with the original."
        message = f"{of_all(found.count, survey)} hold control characters or the mark of a lost character."
        yield case("odd-characters", message, survey, found.places, advice)


def _too_long(survey: Survey) -> Iterator[Case]:
    longest = np.maximum(_lengths(survey.source), _lengths(survey.target))
    limit = max(_LONG, _TIMES_MEDIAN * float(np.median(longest)))
    found = np.flatnonzero(longest > limit)
    if len(found):
        order = found[np.argsort(-longest[found], kind="stable")]
        message = f"{of_all(len(found), survey)} are longer than {limit:,.0f} characters (up to {longest.max():,})."
        advice = "They cost memory and time, and training leaves out the longest. Were lines joined by mistake?"
        yield case("too-long", message, survey, order, advice)


def _uneven(survey: Survey) -> Iterator[Case]:
    """Pairs of which one side is far longer than usual for the other."""
    source, target = _lengths(survey.source), _lengths(survey.target)
    ratio = np.log((target + 1) / (source + 1))
    off = np.abs(ratio - np.median(ratio))
    long_enough = (np.maximum(source, target) >= _SHORT) & (source > 0) & (target > 0)
    found = np.flatnonzero((off > np.log(_RATIO)) & long_enough)
    if len(found):
        order = found[np.argsort(-off[found], kind="stable")]
        usual = f"{np.exp(np.median(ratio)):.2f} target characters to one of the source"
        part = f"part more than {_RATIO:.0f}-fold from the usual ratio of lengths ({usual})."
        advice = "Perhaps they do not translate one another: look at them."
        yield case("uneven-lengths", f"{of_all(len(found), survey)} {part}", survey, order, advice)


def duplicates(survey: Survey) -> Iterator[Case]:
    """Pairs that were there before."""
    hashes = survey.pair_hashes
    _, first = np.unique(hashes, return_index=True)
    again = np.setdiff1d(np.arange(len(hashes)), first)
    if len(again):
        message = f"{of_all(len(again), survey)} were there before, word for word."
        advice = "They count double in training and in scores; drop them if that is not meant."
        yield case("duplicates", message, survey, again, advice)


def overlap(train: Survey, survey: Survey) -> Iterator[Case]:
    """Held-out sources that training sees too."""
    pairs = np.flatnonzero(np.isin(survey.pair_hashes, train.pair_hashes))
    sources = np.flatnonzero(np.isin(survey.source_hashes, train.source_hashes))
    if len(sources):
        lines = of_all(len(sources), survey, "source lines")
        message = f"{lines} also stand in train, {len(pairs):,} of them with the same target."
        advice = "Scores on lines that were learnt say little: take them out of train."
        yield case("overlap", message, survey, pairs if len(pairs) else sources, advice)


def unknown(language: str, known: SideSurvey, side: SideSurvey, split: str) -> Iterator[Case]:
    """Words and characters of a held-out split that training will never see."""
    words = side.counted()
    share = 1 - known_share(words, known.words)
    if share > _UNKNOWN_WORDS and words.total() > 2 * len(side.lengths):  # a lone word a line is spelled, not known
        unseen = [word for word, _ in words.most_common() if word not in known.words]
        message = f"{share:.0%} of the {language} words never stand in train."
        advice = "A model can hardly know them: is train from another field, or too small?"
        yield Case(warning("unknown-words", message, split, examples=[", ".join(unseen[:8])], advice=advice))
    letters, seen = side.characters(), known.characters()
    strange = {letter: count for letter, count in letters.items() if letter not in seen}
    share = sum(strange.values()) / max(letters.total(), 1)
    if share > _UNKNOWN_CHARACTERS:
        shown = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in sorted(strange)[:8])
        message = f"{share:.1%} of the {language} characters never stand in train: {shown}"
        yield Case(warning("unknown-characters", message, split))


def _swapped_split(way: Languages, train: Survey, survey: Survey) -> Iterator[Case]:
    """Whether the two sides of a split fit those of train better crosswise; works for any languages."""
    source, target = survey.source.counted(), survey.target.counted()
    straight = known_share(source, train.source.words) + known_share(target, train.target.words)
    crossed = known_share(source, train.target.words) + known_share(target, train.source.words)
    if crossed > _SWAPPED * straight and crossed > _FITTING:
        shares = f"{crossed / 2:.0%} of its words stand in train the other way round, {straight / 2:.0%} as it is"
        yield Case(
            error(
                "swapped-languages",
                f"the two sides seem to be swapped: {shares}.",
                survey.split,
                advice=f"Exchange the names of its {way.source} and {way.target} files.",
            ),
            survey.split,
            tuple(range(min(SHOWN, survey.pairs))),
        )


def _wrong_languages(way: Languages, survey: Survey) -> Iterator[Case]:
    """Whether the text is in another language than its name says, told by little words."""
    source = looks_like(_lowered(survey.source.sample), way.source)
    target = looks_like(_lowered(survey.target.sample), way.target)
    shown = tuple(range(min(SHOWN, survey.pairs)))
    if source and target:
        likeness = f"the source reads like '{source}', the target like '{target}'"
        advice = "Exchange the names of the two files (or columns), or --from and --to."
        message = f"expected {way.source} -> {way.target}; {likeness}."
        yield Case(error("swapped-languages", message, survey.split, advice=advice), survey.split, shown)
    elif source or target:
        expected, found = (way.source, source) if source else (way.target, target)
        message = f"expected {expected}; the text reads like '{found}'."
        yield case("wrong-language", message, survey, shown, "Look whether this is the right file.")


def show(row: Row) -> str:
    """A pair as an example: where it stands, how long it is, and its texts."""
    lengths = f"{len(row.source)} and {len(row.target)} characters"
    return f"line {row.line} ({lengths}): {_around_odd(row.source)} | {_around_odd(row.target)}"


def _around_odd(text: str) -> str:
    """The start of a text, or what stands around its first control character."""
    odd = ODD.search(text)
    return shorten(text if odd is None or odd.start() < 50 else f"…{text[odd.start() - 30 :]}")


def case(code: str, message: str, survey: Survey, places: Places, advice: str) -> Case:
    """A warning with the places of the first few pairs that show it."""
    shown = tuple(int(place) for place in islice(places, SHOWN))
    return Case(warning(code, message, survey.split, advice=advice), survey.split, shown)


def _lowered(words: Counter[str]) -> Counter[str]:
    lowered: Counter[str] = Counter()
    for word, count in words.items():
        lowered[word.lower()] += count
    return lowered


def _lengths(side: SideSurvey) -> npt.NDArray[np.int32]:
    return np.frombuffer(side.lengths, dtype=np.int32)


def of_all(count: int, survey: Survey, what: str = "pairs") -> str:
    """How many of a split's pairs, in words."""
    share = count / survey.pairs
    return f"{count:,} of {survey.pairs:,} {what} ({f'{share:.1%}' if share >= 0.001 else 'under 0.1%'})"
