"""The corpora that Regard makes itself: one table, and one function that draws pairs from any of them.

    dates        human dates to ISO 8601                        human-iso
    phrasebook   a grammar's sentences with gold word links     en-fr, fr-en, en-de, de-en
    copy, reverse, sort, lookup   toy tasks with gold links     source-target
    needle, reviews, reviews-long   texts with a label          text-label
    tagged       sentences with a tag for every word            text-tags
    shapes       small images with a label                      image-label, image-nothing
    glyphs       drawn characters of invented alphabets         image-class, image-label, image-nothing
    glyphs-alphabet   the same characters in every split        image-label, image-nothing
    mirror       images whose halves match                      image-label, nothing-image, label-image
    scenes       images of several shapes with a caption        image-text, image-nothing
    cue-discs    images of discs with masks of one of them     image-mask
    formulas, formulas-short   images of formulas with LaTeX    image-text
    agreement, agreement-far,
    agreement-mixed, repeats   plain text with something to remember   nothing-text
    stories      a few lines each, words that fit            text-nothing, nothing-text

Every corpus is decided by its name, split, size and seed. A source line never stands in two splits, whatever
the seeds (see `splits`), and never twice in one. Asking for a larger size gives the same pairs first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol, runtime_checkable

from regard.data.pair import Pair
from regard.data.splits import check_split, digest, split_of
from regard.errors import UnknownName, UsageError

Direction = tuple[str, str]  # (source, target) language names


@runtime_checkable
class Maker(Protocol):
    """What draws the pairs of one built-in corpus; images are written to `folder`, or else to the cache."""

    def __call__(
        self, *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
    ) -> Iterator[Pair]: ...


@dataclass(frozen=True)
class Builtin:
    """One built-in corpus: what it is, its languages, and how to draw from it."""

    name: str
    about: str
    languages: tuple[Direction, ...]  # the first is taken when nothing is asked for
    has_gold: bool
    examples: Maker
    sizes: dict[str, int] = field(default_factory=lambda: {"train": 20_000, "val": 1_000, "test": 1_000})

    def direction(self, source: str | None = None, target: str | None = None) -> Direction:
        """The first of the corpus's directions that fits what was asked for."""
        for pair in self.languages:
            if source in (None, pair[0]) and target in (None, pair[1]):
                return pair
        known = [f"{one}-{other}" for one, other in self.languages]
        raise UnknownName(f"direction of {self.name}", f"{source or 'any'}-{target or 'any'}", known)


def examples(
    name: str,
    *,
    split: str,
    size: int | None = None,
    seed: int = 0,
    source: str | None = None,
    target: str | None = None,
    folder: Path | None = None,
) -> Iterator[Pair]:
    """Draw the pairs of a built-in corpus: `size` of them, or its default size for that split.

    `folder` is where images are written, if not to the cache.
    """
    if name not in BUILTIN:
        raise UnknownName("built-in corpus", name, BUILTIN)
    corpus = BUILTIN[name]
    check_split(split)
    size = corpus.sizes[split] if size is None else size
    if size < 0:
        raise UsageError(f"the size of a corpus is a number of pairs, 0 or more; found {size}.")
    source, target = corpus.direction(source, target)
    return corpus.examples(source=source, target=target, split=split, size=size, seed=seed, folder=folder)


def _dates(*, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None) -> Iterator[Pair]:
    from regard.data import dates

    return dates.generate(split=split, size=size, seed=seed)


def _toy(
    task: str, *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import toys

    return toys.generate(task, split=split, size=size, seed=seed)


def _phrasebook(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import phrasebook

    if source == "en":
        return phrasebook.generate(target, size=size, seed=seed, split=split)
    # The grammar parts its splits by the English line, and two English lines may share a translation. So the
    # other way round the foreign line decides: one pool, parted by the hash of that line.
    pool = phrasebook.generate(source, size=100 * size + 10_000, seed=seed, split="train")
    return islice(_distinct(swap(pair) for pair in pool if split_of(pair.target) == split), size)


def _needle(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import needle

    return needle.generate(split=split, size=size, seed=seed)


def _reviews(
    asides: int | None,
    *,
    source: str,
    target: str,
    split: str,
    size: int,
    seed: int,
    folder: Path | None = None,
) -> Iterator[Pair]:
    from regard.data import reviews

    drawn = reviews.generate(split=split, size=size, seed=seed, asides=asides)
    return drawn if target == "label" else (Pair(each.source, "") for each in drawn)  # their text alone


def _tagged(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import tagged

    return tagged.generate(split=split, size=size, seed=seed)


def _shapes(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import shapes

    return shapes.generate(split=split, size=size, seed=seed, folder=folder)


def _glyphs(
    shared: bool,
    *,
    source: str,
    target: str,
    split: str,
    size: int,
    seed: int,
    folder: Path | None = None,
) -> Iterator[Pair]:
    from regard.data import glyphs

    return glyphs.generate(split=split, size=size, seed=seed, folder=folder, shared=shared)


def _mirror(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import mirror

    return mirror.generate(split=split, size=size, seed=seed, reads=source, folder=folder)


def _agreement(
    most: int,
    another: float | None = None,
    *,
    source: str,
    target: str,
    split: str,
    size: int,
    seed: int,
    folder: Path | None = None,
) -> Iterator[Pair]:
    from regard.data import agreement

    return agreement.generate(split=split, size=size, seed=seed, most=most, another=another)


def _stories(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import stories

    return stories.generate(split=split, size=size, seed=seed, read=source == "text")


def _repeats(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import repeats

    return repeats.generate(split=split, size=size, seed=seed)


def _scenes(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import scenes

    drawn = scenes.generate(split=split, size=size, seed=seed, folder=folder)
    return drawn if target == "text" else (Pair(each.source, "") for each in drawn)  # the images alone


def _formulas(
    short: bool,
    *,
    source: str,
    target: str,
    split: str,
    size: int,
    seed: int,
    folder: Path | None = None,
) -> Iterator[Pair]:
    from regard.data import formulas

    style = formulas.SHORT if short else None
    return formulas.generate(split=split, size=size, seed=seed, folder=folder, style=style)


def _cue_discs(
    *, source: str, target: str, split: str, size: int, seed: int, folder: Path | None = None
) -> Iterator[Pair]:
    from regard.data import cue_discs

    return cue_discs.generate(split=split, size=size, seed=seed, folder=folder)


def swap(pair: Pair) -> Pair:
    """The same pair the other way round, links included."""
    sure = tuple(sorted((target, source) for source, target in pair.sure))
    possible = tuple(sorted((target, source) for source, target in pair.possible))
    return Pair(pair.target, pair.source, sure, possible)


def _distinct(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Leave out the pairs whose source was there before."""
    seen: set[int] = set()
    for pair in pairs:
        key = digest(pair.source)
        if key not in seen:
            seen.add(key)
            yield pair


_TOY_LANGUAGES = (("source", "target"),)
_LABEL, _TAGS, _IMAGES = (("text", "label"),), (("text", "tags"),), (("image", "label"),)
_MADE = (("nothing", "image"), ("label", "image"))  # images that are to be made
_EPISODES = (("image", "class"),)  # no split has a class of another
_PLAIN = (("nothing", "text"),)
_CAPTIONS = (("image", "text"),)
_ALONE = (("image", "nothing"),)  # images that are made again
_READ = (("text", "nothing"),)  # text of which a model finds what is hidden
_LABELLED = {"train": 10_000, "val": 1_000, "test": 1_000}
_FIVE_ASIDES = 5  # sentences about other things around each review of the long version
_FIVE_PHRASES, _FIFTEEN_PHRASES = 5, 15  # at most between a subject and its verb
_ANOTHER = 0.6  # the chance that one more phrase follows

BUILTIN: dict[str, Builtin] = {
    corpus.name: corpus
    for corpus in (
        Builtin("dates", "human dates to ISO 8601", (("human", "iso"),), False, _dates),
        Builtin(
            "phrasebook",
            "everyday sentences of a grammar, with gold word links",
            (("en", "fr"), ("en", "de"), ("fr", "en"), ("de", "en")),
            True,
            _phrasebook,
        ),
        Builtin("copy", "repeat the line", _TOY_LANGUAGES, True, partial(_toy, "copy")),
        Builtin("reverse", "say the line backwards", _TOY_LANGUAGES, True, partial(_toy, "reverse")),
        Builtin("sort", "put the words in order", _TOY_LANGUAGES, True, partial(_toy, "sort")),
        Builtin("lookup", "the class in the slot asked for", _TOY_LANGUAGES, True, partial(_toy, "lookup")),
        Builtin("needle", "three telling words among forty", _LABEL, True, _needle, _LABELLED),
        Builtin(
            "reviews",
            "judgements of films, restaurants, books",
            _LABEL + _READ,
            True,
            partial(_reviews, None),
            _LABELLED,
        ),
        Builtin(
            "reviews-long",
            "reviews among five sentences about other things",
            _LABEL,
            True,
            partial(_reviews, _FIVE_ASIDES),
            _LABELLED,
        ),
        Builtin("tagged", "sentences of words with several uses", _TAGS, False, _tagged, _LABELLED),
        Builtin(
            "shapes",
            "small images: circle, cross, square, triangle",
            _IMAGES + _ALONE,
            False,
            _shapes,
            {"train": 4_000, "val": 500, "test": 500},
        ),
        Builtin(
            "glyphs",
            "characters of invented alphabets, by twenty hands each; every split has its own",
            _EPISODES + _IMAGES + _ALONE,
            False,
            partial(_glyphs, False),
            {"train": 8_000, "val": 1_200, "test": 2_000},
        ),
        Builtin(
            "glyphs-alphabet",
            "twenty such characters, the same in every split, by other hands",
            _IMAGES + _ALONE,
            False,
            partial(_glyphs, True),
            {"train": 4_000, "val": 500, "test": 1_000},
        ),
        Builtin(
            "mirror",
            "small images whose left and right halves match",
            _IMAGES + _MADE,
            False,
            _mirror,
            {"train": 10_000, "val": 500, "test": 1_000},
        ),
        Builtin(
            "agreement",
            "verbs that agree with a subject far before them",
            _PLAIN,
            False,
            partial(_agreement, _FIVE_PHRASES),
        ),
        Builtin(
            "agreement-far",
            "the same, with up to fifteen nouns between",
            _PLAIN,
            False,
            partial(_agreement, _FIFTEEN_PHRASES),
        ),
        Builtin(
            "agreement-mixed",
            "the same, with few nouns between more often than many",
            _PLAIN,
            False,
            partial(_agreement, _FIFTEEN_PHRASES, _ANOTHER),
        ),
        Builtin("stories", "somebody fetches something and uses it", _READ + _PLAIN, False, _stories),
        Builtin("repeats", "twenty words, and the same words again", _PLAIN, False, _repeats),
        Builtin(
            "scenes",
            "images of coloured shapes, with captions and where each is",
            _CAPTIONS + _ALONE,
            True,
            _scenes,
            {"train": 10_000, "val": 500, "test": 1_000},
        ),
        Builtin(
            "cue-discs",
            "discs that look alike; a distant mark says which is meant",
            (("image", "mask"),),
            False,
            _cue_discs,
            {"train": 2_000, "val": 200, "test": 500},
        ),
        Builtin(
            "formulas",
            "images of formulas of 3 to 36 tokens, with LaTeX",
            _CAPTIONS,
            False,
            partial(_formulas, False),
            {"train": 20_000, "val": 500, "test": 1_000},
        ),
        Builtin(
            "formulas-short",
            "the same of 3 to 12 tokens",
            _CAPTIONS,
            False,
            partial(_formulas, True),
            {"train": 10_000, "val": 500, "test": 1_000},
        ),
    )
}
