"""Gold links between the words of two languages that speak the same sentence."""

from __future__ import annotations

from collections.abc import Sequence

from regard.data.pair import Link
from regard.data.phrasebook.meaning import Tag, Word


def links(source: Sequence[Word], target: Sequence[Word]) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """The sure and the possible links, each sorted.

    Words that say the same thing are a sure link. A word left without one gets possible links to the words of
    the other side that say what it belongs with.
    """
    where_source, where_target = places(source), places(target)
    sure = {(at, to) for at, word in enumerate(source) for tag in word.sure for to in where_target.get(tag, ())}
    possible: set[Link] = set()
    linked = {at for at, _ in sure}
    for at, word in enumerate(source):
        if at not in linked:
            possible.update((at, to) for to in anchors(word, where_target))
    linked = {to for _, to in sure}
    for to, word in enumerate(target):
        if to not in linked:
            possible.update((at, to) for at in anchors(word, where_source))
    return tuple(sorted(sure)), tuple(sorted(possible))


def places(words: Sequence[Word]) -> dict[Tag, list[int]]:
    """Where each tag is spoken."""
    found: dict[Tag, list[int]] = {}
    for place, word in enumerate(words):
        for tag in word.sure:
            found.setdefault(tag, []).append(place)
    return found


def anchors(word: Word, where: dict[Tag, list[int]]) -> list[int]:
    """The places of the first thing the word belongs with that is spoken there."""
    for tag in word.near:
        if tag in where:
            return where[tag]
    return []
