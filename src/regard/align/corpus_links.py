"""The links that a statistical aligner finds for the pairs of a corpus, kept in the cache.

Kept links make a resumed training see the very links it began with, and spare the next one the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from regard.align.reference import PART, reference_links
from regard.align.wordforms import word_forms
from regard.data.corpus import Corpus, column
from regard.data.files import cache_folder, scratch_folder, settle
from regard.data.pair import Pair
from regard.data.splits import digest
from regard.data.tokenizer import Tokenizer

SIDES = ("source", "target")
SAMPLE = 20_000  # training pairs that the links of held-out ones are learnt from
VERSION = 2  # changes whenever the same pairs would have other words, or other links


def held_out_links(corpus: Corpus, pair: tuple[Tokenizer, Tokenizer], count: int) -> tuple[list[str], int]:
    """Links of the first `count` validation pairs, as lines; and how many pairs they are learnt from."""
    sample = min(SAMPLE, len(corpus.split("train")))
    held = min(count, len(corpus.split("val")))
    kept = _kept(corpus, pair, f"held out {held} {sample}")
    if kept.is_file():
        return kept.read_text(encoding="utf-8").split("\n")[:-1], sample + held
    parts = (("val", held), ("train", sample))
    sides = (_words(corpus, parts, tokenizer, side) for tokenizer, side in zip(pair, SIDES, strict=True))
    found = reference_links(*sides, wanted=range(held))
    return _keep(kept, [Pair("", "", links).gold() for links in found]), sample + held


def _words(corpus: Corpus, parts: Iterable[tuple[str, int]], tokenizer: Tokenizer, side: str) -> Iterator[list[str]]:
    """One side of the first pairs of some splits, in words."""
    for split, size in parts:
        yield from word_forms(tokenizer, islice(column(corpus.split(split), side), size))


def training_links(corpus: Corpus, pair: tuple[Tokenizer, Tokenizer]) -> list[str]:
    """Links of every training pair, as lines, in order."""
    kept = _kept(corpus, pair, "train")
    if kept.is_file():
        return kept.read_text(encoding="utf-8").split("\n")[:-1]
    split, found = corpus.split("train"), []
    for first in range(0, len(split), PART):
        part = split.select(range(first, min(first + PART, len(split))))
        sides = (word_forms(tokenizer, column(part, side)) for tokenizer, side in zip(pair, SIDES, strict=True))
        found += [Pair("", "", links).gold() for links in reference_links(*sides)]
    return _keep(kept, found)


def _kept(corpus: Corpus, pair: tuple[Tokenizer, Tokenizer], what: str) -> Path:
    """The file for the links of this content, cut by these tokenizers."""
    tokenizers = " ".join(each.backend.to_str() for each in pair)
    key = digest(f"{VERSION} {corpus.key} {corpus.source} {corpus.target} {what} {tokenizers}")
    return cache_folder() / "links" / f"{key:016x}" / "links.txt"


def _keep(path: Path, lines: list[str]) -> list[str]:
    with scratch_folder(path.parent) as scratch:
        (scratch / path.name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        settle(scratch, path.parent)
    return lines
