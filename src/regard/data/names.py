"""What the name of a file says: which split it holds, in which language or languages, in which format.

train.de  train.en.gz     one side of a split, a sentence a line
test_2016_flickr.de       every test file is a split of its own, called by its stem
test.en-fr.gold           gold links, in the direction its name says
en-it.dev.tsv.gz          a table of pairs; .csv, .jsonl and .tmx likewise
corpus.de corpus.en       no split in the name: validation and test are cut off from it
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import plain_name
from regard.data.languages import is_language, read_pair

TABLES = ("tsv", "csv", "jsonl", "tmx")
LINKS = ("gold", "links", "align")
_SPLITS = dict.fromkeys(("train", "training"), "train") | dict.fromkeys(("val", "dev", "valid", "validation"), "val")
_TEST = re.compile(r"(news)?test|gold$")
_WORD = re.compile(r"[\w.-]+")  # a split becomes the name of a file
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,7}([-_][A-Za-z0-9]{1,8})?")
# Endings of files that often lie beside a corpus and are no side of it.
NOT_TEXT = re.compile(
    "txt|md|rst|json|ya?ml|toml|xml|html|log|meta|np[yz]|pt|bin|model|vocab|pdf|zip|tar|tgz|bz2|xz|zst|"
    "arrow|parquet|py|sh|cfg|ini|bak|tmp|part|lock"
)


@dataclass(frozen=True)
class Name:
    """A file whose name we understand."""

    path: Path
    kind: str  # 'lines', 'links', or one of TABLES
    stem: str  # without language, pair and endings
    split: str | None
    language: str | None = None  # of a file of lines
    pair: tuple[str, str] | None = None  # (source, target) where the name says so


def split_named(text: str) -> str | None:
    """The split that a cell such as `dev` or `test_2016` names, or nothing."""
    plain = text.strip().lower()
    if plain in _SPLITS:
        return _SPLITS[plain]
    return text.strip() if _TEST.match(plain) and _WORD.fullmatch(plain) else None


def split_of_stem(stem: str) -> str | None:
    """The split that a file's stem names, or nothing."""
    for word in re.split(r"[._-]", stem.lower()):
        if word in _SPLITS:
            return _SPLITS[word]
        if _TEST.match(word):
            return stem
    return None


def read_name(path: Path, asked: tuple[str, ...] = ()) -> Name | None:
    """What a file's name says, or nothing where it says that the file is no part of a corpus.

    `asked` are the languages the user named: they may be called anything.
    """
    *rest, ending = plain_name(path).split(".")
    if not rest or not rest[0]:
        return None
    if ending.lower() in LINKS:
        return _links_name(path, rest)
    pair = next((found for piece in rest if (found := read_pair(piece))), None)
    stem = ".".join(piece for piece in rest if read_pair(piece) is None)
    split = split_of_stem(stem)
    if ending.lower() in TABLES:
        return Name(path, ending.lower(), stem, split, pair=pair)
    if ending in asked or (_may_be_language(ending) and (split or is_language(ending))):
        return Name(path, "lines", stem, split, language=ending)
    return None


def _links_name(path: Path, pieces: list[str]) -> Name:
    """`test.en-fr.gold` holds the links of `test` from en to fr; the languages may be called anything."""
    source, dash, target = pieces[-1].partition("-")
    pair = (source, target) if dash and len(pieces) > 1 else None
    stem = ".".join(pieces[:-1] if pair else pieces)
    return Name(path, "links", stem, split_of_stem(stem), pair=pair)


def _may_be_language(ending: str) -> bool:
    return not NOT_TEXT.fullmatch(ending.lower()) and _LANGUAGE.fullmatch(ending) is not None


def by_split(split: str) -> tuple[int, str]:
    """Sorts splits: train, val, then the tests by name."""
    return ({"train": 0, "val": 1}.get(split, 2), split)
