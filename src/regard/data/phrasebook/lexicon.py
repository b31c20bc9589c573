"""Reads the lexicon: one TSV file a word class, a header line, one concept a line.

`lexicon/nouns.tsv`, `verbs.tsv` ... list the concepts and say where they make sense. The folder of a
language (`lexicon/french/`) says how each of them is spoken. A form may have several words:
`jus/1 de pomme/2` says that `jus` expresses part 1 (the head) and `pomme` part 2 of the concept, while `de`
only belongs to them; in English the same concept is `apple/2 juice/1`. A form of one word without a mark
expresses part 1.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from regard.data.phrasebook.meaning import Node, Tag, Word
from regard.errors import BrokenData

FOLDER = Path(__file__).parent / "lexicon"
MARKED = re.compile(r"(.+)/(\d(?:\+\d)*)")

Row = dict[str, str]
Form = tuple[tuple[str, tuple[int, ...]], ...]  # the words of a form, each with the parts it expresses


@cache
def table(name: str) -> dict[str, Row]:
    """All rows of `lexicon/<name>.tsv` by concept. The first column is the concept; empty fields are ''."""
    path = FOLDER / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise BrokenData(
                f"{path}:{number}: expected {len(header)} fields ({', '.join(header)}), found {len(fields)}.",
                hint="Separate fields by tabs; leave an empty field empty.",
            )
        if fields[0] in rows:
            raise BrokenData(
                f"{path}:{number}: the concept '{fields[0]}' is there twice.",
                hint="Remove one line, or give the second concept another id.",
            )
        rows[fields[0]] = dict(zip(header, fields, strict=True))
    return rows


@cache
def classes(name: str) -> dict[str, tuple[str, ...]]:
    """For each semantic class of a list, its concepts in file order. A concept is also a class of its own."""
    members: dict[str, list[str]] = {}
    for concept, row in table(name).items():
        for kind in [*row["classes"].split(), concept]:
            members.setdefault(kind, []).append(concept)
    return {kind: tuple(concepts) for kind, concepts in members.items()}


@cache
def form(text: str) -> Form:
    """`jus/1 de pomme/2` as (("jus", (1,)), ("de", ()), ("pomme", (2,)))."""
    words = text.split(" ")
    if len(words) == 1 and not MARKED.fullmatch(text):
        return ((text, (1,)),)
    parts: list[tuple[str, tuple[int, ...]]] = []
    for word in words:
        found = MARKED.fullmatch(word)
        parts.append((found[1], tuple(int(n) for n in found[2].split("+"))) if found else (word, ()))
    return tuple(parts)


def spell(words: Form, node: Node, role: str) -> list[Word]:
    """The words of a form, tagged as saying this role of the node; unmarked ones only belong to it."""
    head = ((node, role),)
    return [Word(text, tags(node, role, parts), head) for text, parts in words]


def tags(node: Node, role: str, parts: tuple[int, ...]) -> tuple[Tag, ...]:
    """Part 1 is the role itself (noun), the others carry their number (noun2, noun3)."""
    return tuple((node, role if part == 1 else f"{role}{part}") for part in parts)
